r"""Variational inference datum by datum: the best member of a family for each x, found by climbing the ELBO.

    λ* = argmax_λ L(λ; x),    q_λ = N(μ, diag σ²)          (local: own μ, σ for every datum, 2K numbers each)
    log p(x) − L(q_φ) = [log p(x) − L(q*)] + [L(q*) − L(q_φ)]
                         approximation gap     amortisation gap

The first gap is the family's, the second the encoder's, which answers every x by one function instead of
optimising for each ([GM] §3.9.1 speaks of N pairs: they are 2KN numbers).

Against a Gaussian posterior with precision P the best diagonal q has v_j = 1/P_jj and keeps the gap
½ (Σ log P_jj − log det P), 0 only if P is diagonal; the posterior's own variances (P⁻¹)_jj are worse.

Which KL: KL(q ‖ p) settles on one mode, KL(p ‖ q) covers all and matches moments.

Black-box VI needs no formula of the model but log p(x, z): for every batch some steps on the λ of its data
by any estimator of the gradient, then one step on the model.

Shapes: x (B, D), z (S, B, K), means and log σ² (B, K); bounds (B,), nats.

References: Hoffman, Blei, Wang, Paisley 2013; Ranganath, Gerrish, Blei 2014 (black-box VI),
arXiv:1401.0118; Cremer, Li, Duvenaud 2018 (the two gaps), arXiv:1801.03558; [GM] §3.4.1, 3.5, 3.9, 3.11.2;
[UDL] §17.5.
"""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from modules.latent.elbo import Grid, log_normal
from modules.noise import normal

LOG_2PI = math.log(2 * math.pi)
LogJoint = Callable[[Tensor], Tensor]  # z (S, B, K) -> log p(x, z) (S, B)
Estimator = Literal["pathwise", "score"]


# --- the best diagonal Gaussian, exactly -----------------------------------------------------------


def mean_field(precision: Tensor) -> Tensor:
    """v_j = 1/P_jj, (K,): variances of the diagonal q that is nearest to N(·, P⁻¹) in KL(q ‖ p)."""
    return 1 / precision.diagonal()


def mean_field_gap(precision: Tensor) -> Tensor:
    """½ (Σ log P_jj − log det P)."""
    return 0.5 * (precision.diagonal().log().sum() - torch.logdet(precision))


# --- local and black-box variational inference -----------------------------------------------------


def log_q(z: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """log N(z; μ, diag σ²) summed over K."""
    return -0.5 * (LOG_2PI + log_var + (z - mean).square() * (-log_var).exp()).sum(-1)


def surrogate(
    log_joint: LogJoint, mean: Tensor, log_var: Tensor, noise: Tensor, estimator: Estimator
) -> Tensor:
    """A scalar whose gradient by μ and log σ² estimates that of Σ_b ELBO_b; its value is the estimate itself.

    Args:
        noise: ε (S, B, K).
        estimator: "pathwise" differentiates through z = μ + σ ε; "score" weighs ∇ log q by the ELBO's value
            less its mean over the other samples (leave-one-out), and needs S ≥ 2.
    """
    z = mean + (0.5 * log_var).exp() * noise
    if estimator == "pathwise":
        entropy = 0.5 * (LOG_2PI + 1 + log_var).sum(-1)  # known: no sampled log q, less variance
        return (log_joint(z).mean(0) + entropy).sum()
    samples = len(noise)
    if samples < 2:
        raise ValueError("The score with a leave-one-out baseline needs at least 2 samples.")
    z = z.detach()
    log_density = log_q(z, mean, log_var)
    with torch.no_grad():
        value = log_joint(z) - log_density
        others = (value.sum(0) - value) / (samples - 1)
    weighted = (value - others) * log_density
    return (value + weighted - weighted.detach()).mean(0).sum()


def local_vi(
    log_joint: LogJoint,
    mean: Tensor,
    log_var: Tensor,
    steps: int = 500,
    samples: int = 16,
    lr: float = 0.05,
    estimator: Estimator = "pathwise",
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, list[float]]:
    """Adam on μ and log σ² of every datum, from the given start, with a rate that falls to 0.

    Returns:
        μ, log σ² (B, K), and the estimated mean ELBO at each step.
    """
    mean, log_var = mean.detach().clone().requires_grad_(), log_var.detach().clone().requires_grad_()
    optimizer = torch.optim.Adam([mean, log_var], lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    trail = []
    for _ in range(steps):
        half = normal((samples + 1) // 2, *mean.shape, like=mean, generator=generator)
        if estimator == "pathwise":
            noise = torch.cat([half, -half])[:samples]  # antithetic pairs
        else:
            noise = normal(samples, *mean.shape, like=mean, generator=generator)
        optimizer.zero_grad(set_to_none=True)
        value = surrogate(log_joint, mean, log_var, noise, estimator)
        (-value).backward()
        optimizer.step()
        schedule.step()
        trail.append(float(value.detach()) / len(mean))
    return mean.detach(), log_var.detach(), trail


def black_box_vi(
    log_joint: Callable[[Tensor, Tensor], Tensor],
    parameters: list[Tensor],
    x: Tensor,
    latent_dim: int,
    steps: int = 300,
    inner: int = 5,
    samples: int = 8,
    lr: float = 0.05,
    lr_model: float = 0.02,
    estimator: Estimator = "pathwise",
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, list[float]]:
    """Fit a model without an encoder: `inner` steps on the own μ, σ of every datum, then one on `parameters`.

    Args:
        log_joint: (x (B, D), z (S, B, K)) -> log p(x, z) (S, B); `parameters` are in it.

    Returns:
        μ, log σ² (B, K), and the estimated mean ELBO after each step.
    """
    mean = torch.zeros(len(x), latent_dim, dtype=x.dtype).requires_grad_()
    log_var = torch.zeros_like(mean).requires_grad_()
    local = torch.optim.Adam([mean, log_var], lr=lr)
    model = torch.optim.Adam(parameters, lr=lr_model)
    schedules = [torch.optim.lr_scheduler.CosineAnnealingLR(o, steps) for o in (local, model)]
    trail = []
    for _ in range(steps):
        for turn in range(inner + 1):
            noise = normal(samples, *mean.shape, like=x, generator=generator)
            noise = torch.cat([noise, -noise])
            local.zero_grad(set_to_none=True)
            model.zero_grad(set_to_none=True)
            last = turn == inner
            if last:  # the model's own gradient is plain: z is not its to move
                z = (mean + (0.5 * log_var).exp() * noise).detach()
                entropy = 0.5 * (LOG_2PI + 1 + log_var.detach()).sum(-1)
                value = (log_joint(x, z).mean(0) + entropy).sum()
            else:
                value = surrogate(lambda z: log_joint(x, z), mean, log_var, noise, estimator)
            (-value / len(x)).backward()
            (model if last else local).step()
        for schedule in schedules:
            schedule.step()
        trail.append(float(value.detach()) / len(x))
    return mean.detach(), log_var.detach(), trail


def amortisation_gaps(log_p: Tensor, best: Tensor, encoder: Tensor) -> dict[str, Tensor]:
    """Nats lost by the family and by the encoder, and both: log p(x), L(q*), L(q_φ), all (B,)."""
    return {"approximation": log_p - best, "amortisation": best - encoder, "total": log_p - encoder}


# --- which KL ---------------------------------------------------------------------------------------


def nearest_gaussian(
    grid: Grid, mean: float, deviation: float, reverse: bool = True, steps: int = 100
) -> tuple[float, float, float]:
    """The Gaussian nearest to a density on a grid: mean, standard deviation, and the KL that is left.

    Args:
        mean, deviation: the start; with two modes it decides which one KL(q ‖ p) settles on.
        reverse: KL(q ‖ p), by Newton steps; else KL(p ‖ q), which matches moments.
    """
    if not reverse:
        log_p = grid.log_joint - grid.log_prob
        centre = grid.expectation(log_p, grid.z)
        variance = grid.expectation(log_p, (grid.z - centre) ** 2)
        left = grid.forward_kl(log_normal(grid.z, centre, variance))
        return float(centre), float(variance.sqrt()), float(left)
    at = torch.tensor([mean, math.log(deviation)], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [at], max_iter=steps, tolerance_grad=1e-12, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    log_p = grid.log_joint - grid.log_prob

    @torch.no_grad()
    def loss() -> Tensor:  # its gradient by μ and log σ is E_q of q's own slopes times log q − log p + 1
        e = (grid.z - at[0]) * (-at[1]).exp()
        log_q = -0.5 * (LOG_2PI + e.square()) - at[1]
        q, h = log_q.exp() * grid.width, log_q - log_p
        slopes = torch.stack([e * (-at[1]).exp(), e.square() - 1])
        at.grad = torch.where(q > 0, q * slopes * (h + 1), 0.0).sum(1)
        return torch.where(q > 0, q * h, 0.0).sum()

    optimizer.step(loss)  # type: ignore[arg-type]
    left = grid.gap(log_normal(grid.z, at[0], (2 * at[1]).exp()))
    return float(at[0].detach()), math.exp(float(at[1].detach())), float(left.detach())
