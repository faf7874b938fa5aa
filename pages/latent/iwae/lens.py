"""Use of K weighted draws of a Gaussian q: the bound, the posterior they imply, and the encoder's signal.

The K draws stand for one draw from

    q_K(z) = p(x, z) E_{z_2..z_K ~ q} [1 / (1/K (w(z) + Σ_{k≥2} w(z_k)))],    w = p(x, z)/q(z)

which is q at K = 1 and nears p(z|x). The plain and the doubly reparametrised gradient of L_K have one mean;
the second has little noise, so it gives the signal of both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.polynomials import joint, polynomial
from modules.importance import log_mean_exp
from modules.latent.elbo import Grid, log_normal
from modules.latent.importance import encoder_gradients

SIZES = [1, 2, 5, 10, 20, 50, 100]  # K
MODELS = {"linear": ([0.0, 1.0], 1.5, 1.0), "two modes": ([0.0, 0.0, 1.0], 1.0, 0.3)}  # g, x, s
DRAWS, REPEATS, OTHERS = 40_000, 1500, 300
WINDOW, CELLS = 3.5, 141


@dataclass(frozen=True)
class Story:
    """For every K of SIZES.

    Attributes:
        z, posterior, q: (Z,); implied: (F, Z) densities.
        log_p, elbo: exact; bounds, errors: L_K and its standard error, (F,), nats.
        plain, doubly: signal over noise of ∂L_K/∂μ, (F,); signal, noise: mean, and the plain one's deviation.
    """

    z: Tensor
    posterior: Tensor
    q: Tensor
    implied: Tensor
    log_p: float
    elbo: float
    bounds: Tensor
    errors: Tensor
    plain: Tensor
    doubly: Tensor
    signal: Tensor
    noise: Tensor

    @property
    def gaps(self) -> Tensor:
        """log p(x) − L_K, (F,)."""
        return self.log_p - self.bounds


def implied(grid: Grid, z: Tensor, log_w: Tensor, mean: float, deviation: float) -> Tensor:
    """q_K at z (Z,) for every K, from log weights (OTHERS, max K) of draws from q."""
    log_joint = grid.log_joint[(z[:, None] - grid.z).abs().argmin(1)]
    own = (log_joint - log_normal(z, mean, deviation**2)).exp()[:, None]  # (Z, 1)
    w = log_w.exp()
    return torch.stack(
        [log_joint.exp() * (k / (own + w[:, : k - 1].sum(1))).mean(1) for k in SIZES]  # (Z, OTHERS) each
    )


def story(
    coefficients: Sequence[float], x: float, noise: float, mean: float, deviation: float, seed: int
) -> Story:
    """q = N(mean, deviation²) against x|z ~ N(g(z), noise²), z ~ N(0, 1)."""
    generator = torch.Generator().manual_seed(seed)
    result = torch.tensor(x, dtype=torch.float64)

    def log_joint(z: Tensor) -> Tensor:
        return log_normal(z, 0.0, 1.0) + log_normal(result, polynomial(z, coefficients), noise**2)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    draws = mean + deviation * normal(DRAWS)
    log_w = log_joint(draws) - log_normal(draws, mean, deviation**2)
    groups = [log_w.view(-1, k).T for k in SIZES]
    estimates = [log_mean_exp(group) for group in groups]
    grid = joint(coefficients, x, noise)
    shown = grid.z[grid.z.abs() <= WINDOW]
    z = shown[:: len(shown) // CELLS]
    signal, plain, doubly = [], [], []
    for k in SIZES:
        eps = normal(k, REPEATS)
        once, twice = (
            encoder_gradients(log_joint, mean, deviation**2, eps, doubly=both) for both in (False, True)
        )
        signal.append(twice.mean())
        plain.append(once.std())
        doubly.append(twice.std())
    means, noises = torch.stack(signal), torch.stack(plain)
    log_q = log_normal(grid.z, mean, deviation**2)
    return Story(
        z,
        grid.posterior[(z[:, None] - grid.z).abs().argmin(1)],
        log_normal(z, mean, deviation**2).exp(),
        implied(grid, z, log_w[: OTHERS * SIZES[-1]].view(OTHERS, -1), mean, deviation),
        float(grid.log_prob),
        float(grid.elbo(log_q)),
        torch.stack([e.mean() for e in estimates]),
        torch.stack([e.std() / len(e) ** 0.5 for e in estimates]),
        means.abs() / noises,
        means.abs() / torch.stack(doubly).clamp(min=1e-9),
        means,
        noises,
    )


def captions(result: Story) -> list[str]:
    """A sentence for every K."""
    return [
        f"Bound of {k} draw{'s' if k > 1 else ''}: {bound:.3f} ± {error:.3f}, "
        f"{max(0.0, result.log_p - bound):.3f} below log p(x). Gradient: {signal:.3f} ± {noise:.3f} "
        f"per step, ratio {ratio:.3f}."
        for k, bound, error, signal, noise, ratio in zip(
            SIZES,
            result.bounds.tolist(),
            result.errors.tolist(),
            result.signal.tolist(),
            result.noise.tolist(),
            result.plain.tolist(),
            strict=True,
        )
    ]


def equations(result: Story) -> list[str]:
    """The bound, LaTeX, for every K."""
    return [
        rf"L_{{{k}}}=E\,\log\frac{{1}}{{{k}}}\sum_{{k}}w_k\approx{bound:.3f}\le\log p(x)={result.log_p:.3f}"
        for k, bound in zip(SIZES, result.bounds.tolist(), strict=True)
    ]


def first_within(result: Story, gap: float) -> int | None:
    """The first K whose bound is within `gap` of log p(x)."""
    near = (result.gaps <= gap).nonzero().flatten()
    return SIZES[int(near[0])] if len(near) else None
