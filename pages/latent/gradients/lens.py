"""Draws of gradient estimators of one expectation, with the variance that each has exactly.

Four expectations: of a polynomial of z ~ N(μ, 1), by μ or σ; the ELBO of x = z + N(0, 1) at x = 1.5 under
q = N(μ, ½), by μ; of a function of a categorical z, by its last logit; and the ELBO of a digit in a net that
was trained by the score. What is exact comes by Gauss–Hermite quadrature, which has no error on polynomials,
or by enumeration; of the net nothing is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from lab import weights
from lab.experiments import ZOO
from lab.lenses.precision import double
from modules.latent.elbo import log_normal
from modules.latent.gradient_estimators import (
    categorical_moments,
    leave_one_out,
    pathwise,
    per_sample_gradients,
    running_mean,
    score,
)
from modules.latent.score_vae import ScoreVAE
from modules.latent.variational import log_q as log_gaussian

NET, PATH = "score-digits", "vae-bits-digits"  # trained by the score with a learned baseline, and by the path
DRAWS = 5000
COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
BINS = 80
OBSERVED, VARIANCE = 1.5, 0.5  # x and the variance of q in the ELBO
PARAMETERS = ("μ", "σ")


@dataclass(frozen=True)
class Estimates:
    """One estimator: a value a draw (DRAWS,), and its exact variance a draw, None where it is not known."""

    values: Tensor
    variance: float | None
    group: int = 1  # draws behind each value: values of one group are equal

    @property
    def measured(self) -> float:
        """The variance a draw."""
        return float(self.values[:: self.group].var()) * self.group


@dataclass(frozen=True)
class Race:
    """Estimators of one gradient by name, and that gradient."""

    truth: float
    by_name: dict[str, Estimates]

    def running(self) -> dict[str, Tensor]:
        """Means of the first n draws for n in COUNTS, by name, (len(COUNTS),)."""
        at = torch.tensor(COUNTS) - 1
        weights = torch.arange(1, DRAWS + 1)
        return {name: (one.values.cumsum(0) / weights)[at] for name, one in self.by_name.items()}

    def window(self) -> tuple[float, float]:
        """An axis that holds most draws of most estimators, the truth in its middle."""
        half = max(0.5, 3 * math.sqrt(max(one.measured / one.group for one in self.by_name.values())))
        return self.truth - half, self.truth + half

    def histograms(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Middles (BINS,), and shares of the first n draws, (len(COUNTS), BINS), by name; what is outside
        counts in the last bins."""
        low, high = self.window()
        width = (high - low) / BINS
        out = {}
        for name, one in self.by_name.items():
            place = ((one.values - low) / width).floor().long().clamp(0, BINS - 1)
            result = torch.nn.functional.one_hot(place, BINS).cumsum(0)[torch.tensor(COUNTS) - 1]
            out[name] = result / torch.tensor(COUNTS)[:, None]
        return low + width * (torch.arange(BINS) + 0.5), out


@cache
def nodes() -> tuple[Tensor, Tensor]:
    """ε and weights of N(0, 1) that integrate polynomials up to degree 79 exactly."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    return torch.tensor(points), torch.tensor(weights / weights.sum())


def moments(values: Tensor) -> tuple[float, float]:
    """Mean and variance of values at the nodes."""
    _, w = nodes()
    mean = float(w @ values)
    return mean, max(0.0, float(w @ values.square()) - mean**2)


def polynomial(coefficients: Sequence[float], z: Tensor) -> Tensor:
    out = torch.zeros_like(z)
    for c in reversed(coefficients):
        out = out * z + c
    return out


def noise(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- A polynomial of a Gaussian -------------------------------------------------------------------------


def of_polynomial(coefficients: Sequence[float], mean: float, by: str, others: int, seed: int) -> Race:
    """∂ E f(z) by μ or σ of N(mean, 1); `others` is K of leave-one-out, 1 takes a running mean instead."""

    def f(z: Tensor) -> Tensor:
        return polynomial(coefficients, z)

    eps, w = nodes()
    slope = [k * c for k, c in enumerate(coefficients)][1:] or [0.0]
    values, s = f(mean + eps), eps if by == "μ" else eps.square() - 1
    path = polynomial(slope, mean + eps) * (1.0 if by == "μ" else eps)
    truth, path_variance = moments(path)
    f_mean, f_variance = moments(values)
    s_variance = float(w @ s.square())
    best = float(w @ (values * s.square())) / s_variance

    def log_q(z: Tensor, parameter: Tensor) -> Tensor:
        if by == "μ":
            return log_normal(z, parameter, 1.0)
        return -0.5 * ((z - mean) / parameter).square() - parameter.log()

    drawn = noise(seed, DRAWS)
    z, parameter = mean + drawn, torch.tensor(mean if by == "μ" else 1.0, dtype=torch.float64)

    def road(copies: Tensor) -> Tensor:
        return copies + drawn if by == "μ" else mean + copies * drawn

    results = {"pathwise": Estimates(pathwise(f, road, parameter, DRAWS), path_variance)}
    for name, base in (("score", 0.0), ("score − mean", f_mean), ("score − best", best)):
        results[name] = Estimates(score(f, z, log_q, parameter, base), moments((values - base) * s)[1])
    if others == 1:
        results["score − running mean"] = Estimates(running_mean(f, z, log_q, parameter), None)
    else:
        groups = z[: DRAWS // others * others].reshape(-1, others)
        one = leave_one_out(f, groups, log_q, parameter).repeat_interleave(others)
        exact = moments((values - f_mean) * s)[1] + (f_variance * s_variance + truth**2) / (others - 1)
        results[f"leave-one-out, K = {others}"] = Estimates(
            torch.cat([one, one[: DRAWS - len(one)]]), exact, others
        )
    return Race(truth, results)


# --- The ELBO -------------------------------------------------------------------------------------------


def of_elbo(mean: float, seed: int) -> Race:
    """∂ ELBO / ∂μ with q = N(mean, ½) and x = 1.5."""
    sd, mu = math.sqrt(VARIANCE), torch.tensor(mean, dtype=torch.float64)
    x = torch.tensor(OBSERVED, dtype=torch.float64)

    def likelihood(z: Tensor) -> Tensor:
        return log_normal(x, z, 1.0)

    def joint(z: Tensor) -> Tensor:
        return log_normal(z, 0.0, 1.0) + likelihood(z)

    def log_q(z: Tensor, m: Tensor) -> Tensor:
        return log_normal(z, m, VARIANCE)

    def weight(z: Tensor) -> Tensor:
        return joint(z) - log_q(z, mu)

    drawn, (eps, w) = noise(seed, DRAWS), nodes()
    z, at = mean + sd * drawn, mean + sd * eps
    elbo = float(w @ weight(at))
    copies = mu.expand(DRAWS).clone().requires_grad_()
    moved = copies + sd * drawn
    sampled = per_sample_gradients(joint(moved) - log_q(moved, copies), copies)
    s = eps / sd

    def road(m: Tensor) -> Tensor:
        return m + sd * drawn

    known = {  # what each is at the nodes
        "score": weight(at) * s, "score − ELBO": (weight(at) - elbo) * s, "sampled log q": OBSERVED - 2 * at,
        "analytic KL": OBSERVED - at - mean, "path only": OBSERVED - 2 * at + (at - mean) / VARIANCE,
    }  # fmt: skip
    drawn_values = (
        score(weight, z, log_q, mu), score(weight, z, log_q, mu, elbo), sampled,
        pathwise(likelihood, road, mu, DRAWS) - mean,  # ∂KL/∂μ = μ
        pathwise(weight, road, mu, DRAWS),  # log q with its parameters held
    )  # fmt: skip
    estimates = {
        name: Estimates(values, moments(exact)[1])
        for (name, exact), values in zip(known.items(), drawn_values, strict=True)
    }
    return Race(OBSERVED - 2 * mean, estimates)


# --- A table --------------------------------------------------------------------------------------------


def of_table(q: Sequence[float], f: Sequence[float], seed: int) -> Race:
    """∂ E f(c) by the last logit of c ~ q; discrete, so there is no path."""
    p, values = torch.tensor(q, dtype=torch.float64), torch.tensor(f, dtype=torch.float64)
    logits, last = p.clamp(min=1e-12).log(), len(p) - 1
    rest = logits[:-1].logsumexp(0)

    def log_q(c: Tensor, logit: Tensor) -> Tensor:
        return torch.where(c == last, logit, logits[c]) - torch.logaddexp(rest, logit)

    generator = torch.Generator().manual_seed(seed)
    drawn = torch.multinomial(p, DRAWS, replacement=True, generator=generator)
    s = (torch.arange(len(p)) == last).double() - p[-1]
    second = float(p @ s.square())
    best = float(p @ (values * s.square())) / second if second > 0 else 0.0
    results = {}
    for name, base in (("score", 0.0), ("score − mean", float(p @ values)), ("score − best", best)):
        exact = float(categorical_moments(values, logits, base)[1][-1])
        results[name] = Estimates(score(lambda c: values[c], drawn, log_q, logits[-1], base), max(0.0, exact))
    return Race(float(categorical_moments(values, logits)[0][-1]), results)


# --- A trained net --------------------------------------------------------------------------------------


def of_net(model: ScoreVAE, x: Tensor, unit: int, seed: int) -> Race:
    """∂ ELBO / ∂μ_j of q(z|x), j = `unit`, of a digit x (1, 64); its truth is the mean of 20,000 paths."""
    model = double(model)
    x = x.double()
    mean, log_var = model.encode_parameters(x)
    deviation = (0.5 * log_var).exp()

    def path(drawn: Tensor) -> Tensor:
        z = (mean + deviation * drawn).requires_grad_()
        return torch.autograd.grad(model.log_likelihood(x, z).sum(), z)[0][:, 0, unit] - mean[0, unit]

    drawn = noise(seed, DRAWS, *mean.shape)
    z = mean + deviation * drawn
    f = (model.log_likelihood(x, z) + model.prior.log_prob(z) - log_gaussian(z, mean, log_var))[:, 0]
    s = drawn[:, 0, unit] / deviation[0, unit]
    pairs = ((f[::2] - f[1::2]) * (s[::2] - s[1::2]) / 2).repeat_interleave(2)
    results = {
        "pathwise": Estimates(path(drawn), None),
        "score": Estimates(f * s, None),
        "score − b(x)": Estimates((f - model.baseline(x).item()) * s, None),
        "leave-one-out, K = 2": Estimates(pairs, None, 2),
    }
    return Race(float(path(noise(seed + 1, 4 * DRAWS, *mean.shape)).mean()), results)


def trained() -> str:
    """Results of each way of training, from the cards."""
    score, path = (weights.read_card(ZOO / name) for name in (NET, PATH))
    draws = score["config"]["model"]["init_args"]["samples"]
    far, near = (card["metrics"]["test/elbo"] for card in (score, path))
    return (
        f"Trained by the score − b(x), {draws} draws a digit, {NET} has −ELBO {far:.2f} on test digits after "
        f"{score['epochs']} epochs; by the path, one draw a digit, {PATH} has {near:.2f} after "
        f"{path['epochs']}: the score learns too, for more work."
    )


# --- The sampling node ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """Draws through a graph μ, σ, ε → z → f(z) = z², each (F,): values, and what autograd brings back."""

    eps: Tensor
    z: Tensor
    f: Tensor
    by_z: Tensor
    by_mu: Tensor
    by_sigma: Tensor
    score_mu: Tensor


def node(mean: float, deviation: float, path: bool, frames: int, seed: int) -> Node:
    """With `path` z = μ + σ ε is computed from what is drawn; without it z itself is drawn, and nothing comes
    back to μ and σ."""
    eps = noise(seed, frames)
    mu = torch.full((frames,), mean, dtype=torch.float64, requires_grad=True)
    sigma = torch.full((frames,), deviation, dtype=torch.float64, requires_grad=True)
    z = mu + sigma * eps
    z = z if path else z.detach().requires_grad_()
    f = z.square()
    by_z, by_mu, by_sigma = torch.autograd.grad(f.sum(), [z, mu, sigma], allow_unused=True)
    none = torch.zeros_like(eps)
    score_mu = (f * eps / deviation).detach()
    return Node(
        eps, z.detach(), f.detach(), by_z, none if by_mu is None else by_mu,
        none if by_sigma is None else by_sigma, score_mu,
    )  # fmt: skip
