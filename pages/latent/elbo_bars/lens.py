"""The bound of one observation by one Gaussian q, on a fine grid: its five forms, and what each is made of.

z ~ N(0, 1) and x|z ~ N(g(z), s²) with g a polynomial: linear g has a Gaussian posterior, g = z² one with two
modes. The posterior and log p(x) are sums over the grid, exact to many digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.lenses.polynomials import joint
from modules.latent.elbo import FORMS, log_normal

MODELS = {"linear": ([0.0, 2.0], 1.0), "two modes": ([0.0, 0.0, 1.0], 0.3)}  # g, and s at first
MEANS = [round(-3 + 0.1 * i, 1) for i in range(61)]
DEVIATIONS = [round(0.05 * i, 2) for i in range(1, 41)]
WINDOW = 3.5  # z from −WINDOW to WINDOW is drawn


@dataclass(frozen=True)
class Bound:
    """F Gaussians q against one posterior; nats.

    Attributes:
        z, prior, posterior: (Z,) what is drawn.
        q: (F, Z).
        log_p: log p(x).
        forms: A to E -> (F,).
        reconstruction, rate, energy, entropy, gap: (F,), the terms of the forms; gap = KL(q ‖ p(z|x)).
    """

    z: Tensor
    prior: Tensor
    posterior: Tensor
    q: Tensor
    log_p: float
    forms: dict[str, Tensor]
    reconstruction: Tensor
    rate: Tensor
    energy: Tensor
    entropy: Tensor
    gap: Tensor

    @property
    def elbo(self) -> Tensor:
        return self.forms["A"]

    @property
    def disagreement(self) -> float:
        """The largest difference between two forms."""
        every = torch.stack(list(self.forms.values()))
        return float((every.amax(0) - every.amin(0)).max())


def bound(
    coefficients: Sequence[float], x: float, noise: float, means: Sequence[float], deviations: Sequence[float]
) -> Bound:
    """q = N(mean, deviation²) for as many means as deviations."""
    grid = joint(coefficients, x, noise)
    log_prior = log_normal(grid.z, 0.0, 1.0)
    log_qs = [log_normal(grid.z, m, d**2) for m, d in zip(means, deviations, strict=True)]
    forms = [grid.forms(log_q, log_prior) for log_q in log_qs]
    shown = (grid.z.abs() <= WINDOW).nonzero()[::7, 0]

    def each(values: Any) -> Tensor:
        return torch.stack([grid.expectation(log_q, values(log_q)) for log_q in log_qs])

    return Bound(
        grid.z[shown], log_prior.exp()[shown], grid.posterior[shown],
        torch.stack(log_qs).exp()[:, shown], float(grid.log_prob),
        {name: torch.stack([form[name] for form in forms]) for name in FORMS},
        each(lambda _: grid.log_joint - log_prior), each(lambda log_q: log_q - log_prior),
        each(lambda _: grid.log_joint), each(lambda log_q: -log_q),
        torch.stack([grid.gap(log_q) for log_q in log_qs]),
    )  # fmt: skip


def window(result: Bound, beta: float) -> tuple[float, float]:
    """Ends of an axis of nats that holds the bars of every q whose gap is at most 3, or of the best one."""
    near = result.gap <= max(3.0, float(result.gap.min()))
    low = min(
        float(v[near].min()) for v in (result.energy, result.elbo, result.reconstruction - beta * result.rate)
    )
    high = max(0.0, result.log_p, float((result.reconstruction - beta * result.rate)[near].max()))
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def captions(result: Bound, low: float) -> list[str]:
    """A sentence for every q."""
    return [
        f"q stands {gap:.3f} nats below log p(x): that is KL(q ‖ p(z|x)), and all five forms end there"
        + ("." if elbo > low else ", below the picture.")
        for gap, elbo in zip(result.gap.tolist(), result.elbo.tolist(), strict=True)
    ]


def equations(result: Bound) -> list[str]:
    """log p(x) = ELBO + KL with its numbers, LaTeX, for every q."""
    return [
        rf"\log p(x)=\mathrm{{ELBO}}+\mathrm{{KL}}(q\,\|\,p(z|x))={elbo:.3f}+{max(0.0, gap):.3f}"
        rf"={result.log_p:.3f}"
        for elbo, gap in zip(result.elbo.tolist(), result.gap.tolist(), strict=True)
    ]
