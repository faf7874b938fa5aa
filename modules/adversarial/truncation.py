r"""Truncation: draw z within τ standard deviations, for samples of higher quality and less variety.

    each number alone    z_k ~ N(0, 1) given |z_k| ≤ τ: what lies outside is drawn anew     p = erf(τ / √2)
    whole vectors        z is rejected where any of its K numbers lies outside              p^K
    left over            Var[z_k | |z_k| ≤ τ] = 1 − 2 τ φ(τ) / p

[UDL] fig. 15.10 and problem 15.6 reject whole samples, which never ends: of 100 numbers at τ = 1 one vector
in 4 · 10^16 is kept. The paper draws number by number, as here. With τ as a bound of the length ‖z‖ it is
worse: typical lengths are √K.

Shapes: z (n, K).

References: Brock et al. 2019 (BigGAN), arXiv:1809.11096; [UDL] §15.3, fig. 15.10, problem 15.6.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.base import require


@dataclass(frozen=True)
class Draw:
    """Truncated noise, and how many draws it took.

    Attributes:
        z: (n, K); of whole vectors as many as were kept.
        num_draws: numbers, or vectors, that were drawn for it.
    """

    z: Tensor
    num_draws: int


def truncated_normal(n: int, k: int, tau: float, generator: torch.Generator | None = None) -> Draw:
    """n draws of K numbers, each redrawn until it lies within [−τ, τ].

    Raises:
        ValueError: a size is below 1, or τ not above 0.001: a number then takes thousands of draws.
    """
    require(1, n=n, k=k)
    require(1e-3, tau=tau)
    z = torch.randn(n * k, generator=generator)
    outside, num_draws = (z.abs() > tau).nonzero()[:, 0], n * k
    while len(outside):
        num_draws += len(outside)
        z[outside] = torch.randn(len(outside), generator=generator)
        outside = outside[z[outside].abs() > tau]
    return Draw(z.view(n, k), num_draws)


def rejection_sample(
    n: int, k: int, tau: float, most: int, generator: torch.Generator | None = None, batch: int = 1000
) -> Draw:
    """Up to n vectors within [−τ, τ]^K: as many as `most` draws of vectors give.

    Raises:
        ValueError: a size is below 1, or τ negative.
    """
    require(1, n=n, k=k, most=most, batch=batch)
    require(0, tau=tau)
    accepted, num_draws = torch.empty(0, k), 0
    while len(accepted) < n and num_draws < most:
        z = torch.randn(min(batch, most - num_draws), k, generator=generator)
        accepted, num_draws = torch.cat([accepted, z[(z.abs() <= tau).all(1)]]), num_draws + len(z)
    return Draw(accepted[:n], num_draws)


def log10_acceptance(tau: float, k: int = 1) -> float:
    """log₁₀ of the probability that all of k numbers lie within [−τ, τ]: −∞ at τ = 0.

    Raises:
        ValueError: τ is negative, or k below 1.
    """
    require(0, tau=tau)
    require(1, k=k)
    return k * math.log10(math.erf(tau / math.sqrt(2))) if tau else -math.inf


def acceptance(tau: float, k: int = 1) -> float:
    """Probability that all of k numbers lie within [−τ, τ]."""
    return 10.0 ** log10_acceptance(tau, k)


def truncated_sd(tau: float) -> float:
    """Standard deviation of N(0, 1) within [−τ, τ]; for small τ it tends to τ / √3."""
    if tau < 1e-3:  # 1 − 2 τ φ / p loses its digits
        return tau / math.sqrt(3)
    density = math.exp(-tau * tau / 2) / math.sqrt(2 * math.pi)
    return math.sqrt(1 - 2 * tau * density / acceptance(tau))
