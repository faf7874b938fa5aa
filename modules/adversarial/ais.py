r"""Annealed importance sampling: the likelihood of a generator, with a little noise added to its output.

    p(x) = ∫ N(x; g(z), s² I) p(z) dz
    π_t(z) ∝ p(z) p(x|z)^β_t,   0 = β_0 < … < β_T = 1
    z_0 ~ p(z);  log w += (β_t − β_{t−1}) log p(x|z_{t−1});  z_t ~ a kernel that leaves π_t as it is
    E w = p(x):  log p(x) ≈ log mean w, on average from below

The kernel is one step of Hamiltonian Monte Carlo: leapfrog steps of momentum, then accepted with probability
min(1, e^−ΔH). Its step shrinks as π_t does, step / √(1 + β_t J²/s²), where J² is the mean square of a
singular value of g's Jacobian, measured on draws of its own: what the chains do must not set their step, or
E w ≠ p(x). With T = 1 nothing moves: plain importance sampling from the prior.

Shapes: x (B, ...) flattened to D numbers; z (C, B, K) of C chains; estimates (B,).

References: Neal 2001, arXiv:physics/9803008 (AIS); Wu et al. 2017, arXiv:1611.04273 (of GANs and decoders);
[UDL] §15 notes.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from modules.base import require
from modules.importance import log_mean_exp

Decoder = Callable[[Tensor], Tensor]


class Estimate(NamedTuple):
    """log mean w of each x, its standard error (both (B,)), and the share of accepted proposals.

    The error is that of the chains' mean, sd(w) / (mean(w) √C): honest only where many chains have a share in
    it; a few that carry all make it too small.
    """

    log_prob: Tensor
    error: Tensor
    acceptance: float


def temperatures(count: int, sharpness: float = 4.0) -> Tensor:
    """β_0 … β_T, (T + 1,) float64: a sigmoid, close at both ends, where π changes fastest."""
    require(1, count=count)
    place = torch.linspace(-sharpness, sharpness, count + 1, dtype=torch.float64).sigmoid()
    return (place - place[0]) / (place[-1] - place[0])


def log_likelihood(decode: Decoder, x: Tensor, z: Tensor, sd: float) -> Tensor:
    """log N(x; g(z), s² I): x (B, ...), z (C, B, K) -> (C, B)."""
    x_hat = decode(z.flatten(0, 1)).flatten(1).unflatten(0, z.shape[:2])  # (C, B, D)
    gap = (x.flatten(1) - x_hat).square().sum(-1)
    return -gap / (2 * sd**2) - x_hat.shape[-1] * math.log(sd * math.sqrt(2 * math.pi))


def mean_squared_singular_value(
    decode: Decoder, z: Tensor, generator: torch.Generator | None = None
) -> float:
    """Mean square of the K singular values of g's Jacobian over z (N, K): E ‖Jᵀv‖² / K, v ~ N(0, I)."""
    z = z.detach().requires_grad_()
    x_hat = decode(z).flatten(1)
    v = torch.randn(x_hat.shape, generator=generator, dtype=x_hat.dtype)
    (pulled,) = torch.autograd.grad((x_hat * v).sum(), z)
    return float(pulled.square().sum(1).mean()) / z.shape[1]


def leapfrog(
    energy: Callable[[Tensor], Tensor], z: Tensor, momentum: Tensor, step: float, steps: int
) -> tuple[Tensor, Tensor]:
    """`steps` leapfrog steps of dz = m dt, dm = −∇U dt, volume-preserving and reversible: z, momentum."""

    def gradient(z: Tensor) -> Tensor:
        z = z.detach().requires_grad_()
        return torch.autograd.grad(energy(z).sum(), z)[0]

    momentum = momentum - step / 2 * gradient(z)
    for i in range(steps):
        z = z + step * momentum
        momentum = momentum - (step if i < steps - 1 else step / 2) * gradient(z)
    return z, momentum


def hmc_step(
    energy: Callable[[Tensor], Tensor], z: Tensor, step: float, steps: int,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """One proposal per chain, accepted or rejected: z (C, B, K), and which were accepted (C, B)."""
    momentum = torch.randn(z.shape, generator=generator, dtype=z.dtype)
    proposal, after = leapfrog(energy, z, momentum, step, steps)
    gain = energy(z) - energy(proposal) + (momentum.square() - after.square()).sum(-1) / 2
    accepted = torch.rand(gain.shape, generator=generator, dtype=z.dtype).log() < gain
    return torch.where(accepted[..., None], proposal, z), accepted


class AnnealingStep(NamedTuple):
    """State of the chains: β, z (C, B, K) with π_β left as it is, log w up to β (C, B), the share of accepted
    proposals (None at the first and the last β, where nothing moves)."""

    beta: float
    z: Tensor
    log_weights: Tensor
    acceptance: float | None


def anneal(
    decode: Decoder, x: Tensor, latent_dim: int, sd: float, *, chains: int = 16, count: int = 100,
    step: float = 0.7, steps: int = 10, generator: torch.Generator | None = None,
) -> Iterator[AnnealingStep]:  # fmt: skip
    """The chains from the prior to p(z | x), one β at a time; see `log_prob`."""
    require(1, chains=chains, steps=steps, latent_dim=latent_dim)
    require(1e-12, sd=sd, step=step)
    betas = temperatures(count).tolist()
    draw = lambda *shape: torch.randn(*shape, latent_dim, generator=generator, dtype=x.dtype)  # noqa: E731
    stretch = mean_squared_singular_value(decode, draw(64), generator)
    z = draw(chains, len(x))
    weights = x.new_zeros(chains, len(x))
    yield AnnealingStep(0.0, z, weights, None)
    for before, beta in pairwise(betas):
        with torch.no_grad():
            weights = weights + (beta - before) * log_likelihood(decode, x, z, sd)
        moved = None
        if beta < 1:  # after the last weight nothing is asked of z

            def energy(z: Tensor, beta: float = beta) -> Tensor:  # −log π_t up to a constant
                return z.square().sum(-1) / 2 - beta * log_likelihood(decode, x, z, sd)

            z, accepted = hmc_step(energy, z, step / math.sqrt(1 + beta * stretch / sd**2), steps, generator)
            z, moved = z.detach(), float(accepted.double().mean())
        yield AnnealingStep(beta, z, weights, moved)


def estimate(log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """log mean w and its standard error, of log w (C, B): (B,) each."""
    chains = len(log_weights)
    share = log_weights.softmax(0) * chains  # w / mean w
    error = share.std(0) / math.sqrt(chains) if chains > 1 else torch.full_like(share[0], math.inf)
    return log_mean_exp(log_weights), error


def log_prob(
    decode: Decoder, x: Tensor, latent_dim: int, sd: float, *, chains: int = 16, count: int = 100,
    step: float = 0.7, steps: int = 10, generator: torch.Generator | None = None,
) -> Estimate:  # fmt: skip
    """log p(x) of a decoder with p(z) = N(0, I), nats.

    Args:
        decode: z (N, K) -> (N, ...), differentiable; each row by itself (a network in `eval`).
        sd: s, the blur: p(x) is of x* + s ε, and another s is another density.
        chains: C. count: T. step, steps: of the leapfrog; where few moves are accepted, the step is too long
            (0.2 for the steep generator of gan-ring, 0.7 for a linear one).

    Raises:
        ValueError: a size is out of range.
    """
    path = anneal(
        decode, x, latent_dim, sd, chains=chains, count=count, step=step, steps=steps, generator=generator
    )
    accepted: list[float] = []
    for at in path:
        accepted += [at.acceptance] if at.acceptance is not None else []
    return Estimate(*estimate(at.log_weights), sum(accepted) / len(accepted) if accepted else 1.0)
