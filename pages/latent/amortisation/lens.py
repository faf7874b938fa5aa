"""An encoder, and what each datum gains when its own Gaussian is optimised further; all terms are exact.

z ~ N(0, I_2), x|z ~ N(W z, σ² I_3), q = N(μ, diag v). The encoder answers every x by one linear map of
limited rank and one v; local inference starts from its answer and climbs datum by datum.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from modules.latent.bounds import gaussian_kl
from modules.latent.elbo import LinearGaussianPosterior
from modules.latent.variational import Estimator, amortisation_gaps, local_vi, mean_field

INNER = [0, 1, 2, 5, 10, 20, 50, 100]  # steps of local inference
DATA, LATENT = 3, 2
OPTIONS = ["the family's", "the encoder's"]


@dataclass(frozen=True)
class Story:
    """N data, for every count of steps; nats.

    Attributes:
        x: (N, 3). log_p, best: (N,), exact evidence and the bound of the best diagonal q.
        bounds: (F, N) after so many steps, the encoder's own answer first.
        approximation: (N,); amortisation: (F, N). inner: the counts of steps.
    """

    x: Tensor
    log_p: Tensor
    best: Tensor
    bounds: Tensor
    approximation: Tensor
    amortisation: Tensor
    inner: Sequence[int] = tuple(INNER)


def model(loadings: Sequence[float], variance: float) -> LinearGaussianPosterior:
    """W (3, 2) by rows; what is missing is 0."""
    filled = [*loadings, *[0.0] * (DATA * LATENT - len(loadings))]
    return LinearGaussianPosterior(torch.tensor(filled, dtype=torch.float64).view(DATA, LATENT), variance)


def encoder(exact: LinearGaussianPosterior, rank: int) -> Tensor:
    """The map of x to the posterior mean, (2, 3), cut to this rank."""
    whole = torch.linalg.solve(exact.precision, exact.loadings.T) / exact.variance
    u, s, v = torch.linalg.svd(whole, full_matrices=False)
    return u[:, :rank] * s[:rank] @ v[:rank]


def draw(exact: LinearGaussianPosterior, count: int, seed: int) -> Tensor:
    """x (count, 3) from the model."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(count, LATENT, generator=generator, dtype=torch.float64)
    noise = torch.randn(count, DATA, generator=generator, dtype=torch.float64)
    return z @ exact.loadings.T + math.sqrt(exact.variance) * noise


def story(
    exact: LinearGaussianPosterior, x: Tensor, rank: int, spread: float, seed: int,
    estimator: Estimator = "pathwise",
) -> Story:  # fmt: skip
    """The encoder answers N(A x, spread I); then INNER steps of Adam on every μ and log σ², by this estimator
    of the gradient."""
    mean = x @ encoder(exact, rank).T
    log_var = torch.full_like(mean, math.log(spread))
    rows = [bounds(exact, x, mean, log_var)]
    for before, steps in pairwise(INNER):
        mean, log_var, _ = local_vi(
            lambda z: exact.log_joint(x, z), mean, log_var, steps=steps - before, samples=32, lr=0.1,
            estimator=estimator, generator=torch.Generator().manual_seed(seed + steps),
        )  # fmt: skip
        rows.append(bounds(exact, x, mean, log_var))
    means = torch.linalg.solve(exact.precision, exact.loadings.T @ x.T).T / exact.variance
    best = bounds(exact, x, means, mean_field(exact.precision).log().expand_as(means))
    log_p = exact.log_prob(x)
    result = torch.stack(rows)
    gaps = amortisation_gaps(log_p, best, result)
    return Story(x, log_p, best, result, gaps["approximation"], gaps["amortisation"].clamp(min=0))


def bounds(exact: LinearGaussianPosterior, x: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """`exact.elbo` of every datum x (N, 3) with its own q = N(μ, diag σ²), both (N, 2): (N,)."""
    error = (x - mean @ exact.loadings.T).square().sum(-1) + log_var.exp() @ exact.loadings.square().sum(0)
    scale = DATA * math.log(2 * math.pi * exact.variance)
    return -0.5 * (scale + error / exact.variance) - gaussian_kl(mean, log_var).sum(-1)


def sentences(result: Story) -> list[str]:
    """A sentence for every count of steps."""
    return [
        (f"After {steps} steps on each datum" if steps else "The encoder's own answer")
        + f": the family loses {float(result.approximation.mean()):.3f}, "
        f"the answer {float(lost.mean()):.3f}."
        for steps, lost in zip(result.inner, result.amortisation, strict=True)
    ]


def equations(result: Story) -> list[str]:
    """The split in the mean over the data, LaTeX."""
    log_p, best = float(result.log_p.mean()), float(result.best.mean())
    return [
        rf"\log p-L(q)=[\log p-L(q^*)]+[L(q^*)-L(q)]={abs(log_p - best):.3f}+{abs(float(lost.mean())):.3f}"
        rf"={log_p - best + abs(float(lost.mean())):.3f}"
        for lost in result.amortisation
    ]
