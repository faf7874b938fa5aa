r"""Evidence by importance sampling, and the importance-weighted bound.

    p(x) = E_q w,   w = p(x, z)/q(z);     log p̂ = log 1/K Σ_k w_k
    L_K = E log p̂ ≤ L_{K+1} ≤ … → log p(x),    log p − L_K ≈ Var w / (2 K p²)

The estimate of p is unbiased, its logarithm is biased low by Jensen: naive Monte Carlo with q the prior is
the same bound with a poor q ([GM] §3.3.2 and [BB] leave the bias out). How poor a q is, the effective
sample size (Σw)²/Σw² says. With q the posterior every w is p(x): no variance at all.

Where q has thinner tails than the posterior, w has no bound; drawn in part from the prior, from
α p(z) + (1 − α) q(z), none is above p(x|z)/α (a defensive mixture): of use where the prior finds the
posterior at all, in few dimensions.

A larger K tightens the bound and weakens what an encoder learns from it: the gradient's mean falls faster
than its spread, signal to noise like 1/√K ([GM] §3.11.3 speaks of a higher variance). The doubly
reparametrised gradient Σ_k (w_k/Σw)² ∂ log w_k/∂z ∂z/∂φ has the same mean, and its ratio rises.

Shapes: log w (K, ...), samples in front; nats.

References: Burda, Grosse, Salakhutdinov 2016, arXiv:1509.00519; Rainforth et al. 2018, arXiv:1802.04537;
Tucker, Lawson, Gu, Maddison 2019, arXiv:1810.04152; Hesterberg 1995 (defensive mixture); [GM] §3.11.3;
[UDL] §17.8.1; [BB] §6.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from modules.importance import log_mean_exp
from modules.latent.variational import log_q
from modules.noise import normal


def defensive_weights(
    log_joint: Callable[[Tensor], Tensor],
    mean: Tensor,
    log_var: Tensor,
    samples: int,
    share: float = 0.5,
    generator: torch.Generator | None = None,
) -> Tensor:
    """log w (S,) of draws of which about `share` come from the prior N(0, I), the others from q.

        w = p(x, z) / (α p(z) + (1 − α) q(z)),   α the share: 1 is the prior alone, 0 is q alone

    Args:
        log_joint: z (S, K) -> log p(x, z) (S,).
        mean, log_var: (K,) of q.

    Raises:
        ValueError: share is no share.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}: it must be from 0 to 1.")
    noise = normal(samples, len(mean), like=mean, generator=generator)
    coin = torch.rand(samples, 1, generator=generator, dtype=mean.dtype, device=mean.device)
    z = torch.where(coin < share, noise, mean + (0.5 * log_var).exp() * noise)
    parts = [log_q(z, torch.zeros_like(mean), torch.zeros_like(mean)), log_q(z, mean, log_var)]
    shares = mean.new_tensor([share, 1 - share]).log()
    return log_joint(z) - torch.logaddexp(shares[0] + parts[0], shares[1] + parts[1])


def bound_gap(variance: Tensor, evidence: Tensor, samples: int) -> Tensor:
    """log p − L_K to first order: Var w/(2 K p²)."""
    return variance / (2 * samples * evidence.square())


def relative_second_moment(loading: float, variance: float, x: float) -> float:
    """E w²/p(x)² with z from the prior, of x = loading · z + N(0, variance): per dimension, so that it grows
    like a power of K. The relative variance is this less 1."""
    marginal = loading**2 + variance
    # E p(x|z)² = N(x; 0, σ²/2 + w²) / √(4πσ²)
    wide = loading**2 + variance / 2
    log_second = -0.5 * (math.log(2 * math.pi * wide) + x**2 / wide) - 0.5 * math.log(4 * math.pi * variance)
    log_first = -0.5 * (math.log(2 * math.pi * marginal) + x**2 / marginal)
    return math.exp(log_second - 2 * log_first)


def encoder_gradients(
    log_joint: Callable[[Tensor], Tensor], mean: float, variance: float, noise: Tensor, doubly: bool = False
) -> Tensor:
    """Estimates of ∂L_K/∂μ of q = N(μ, variance), z one number: noise (K, R) -> (R,).

    Args:
        log_joint: z (K, R) -> log p(x, z).
        doubly: the doubly reparametrised gradient.
    """
    mu = torch.full(noise.shape[1:], mean, dtype=noise.dtype, requires_grad=True)
    z = mu + math.sqrt(variance) * noise
    # of q's density the parameters are left out in the doubly reparametrised form, z alone carries them
    centre = mu.detach() if doubly else mu
    log_q = -0.5 * (math.log(2 * math.pi * variance) + (z - centre).square() / variance)
    log_w = log_joint(z) - log_q
    if doubly:
        share = log_w.detach().softmax(0).square()
        return torch.autograd.grad((share * log_w).sum(), mu)[0]
    return torch.autograd.grad(log_mean_exp(log_w).sum(), mu)[0]
