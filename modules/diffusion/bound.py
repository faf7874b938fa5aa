r"""The variational bound of a diffusion model, term by term: a hierarchical VAE whose encoder is fixed.

    −log p(x_0) ≤ L_T + Σ_{t=2}^T L_{t−1} + L_0
    L_T     = KL(q(x_T | x_0) ‖ N(0, I))                                   no parameter in it
    L_{t−1} = KL(q(x_{t−1} | x_t, x_0) ‖ N(c_0 x̂_0 + c_t x_t, σ_t² I))
            = ½ [D (β̃/σ² − 1 − log β̃/σ²) + c_0² ‖x_0 − x̂_0‖² / σ²]       at σ² = β̃: ½ (SNR_{t−1} − SNR_t) ‖·‖²
    L_0     = −log p(x_0 | x_1):  a density N(x_0; x̂_0, σ_1²), or the mass of a grey level's bin

σ_t² is β_t, β̃_t, or any given. β̃_1 = 0 would make L_0 infinite: there β̃_2 stands. The best σ² for Gaussian
data is β̃ + c_0² Var(x_0 | x_t), and the gap of the bound then is KL(q(x_T) ‖ N(0, I)) alone.

A bound of one model may exceed another's exact value; it never exceeds its own log p.
Shapes: x_0 (B, ...) in model units; terms (B,) nats.
References: Sohl-Dickstein et al. 2015; Ho et al. 2020, arXiv:2006.11239; Kingma et al. 2021,
arXiv:2107.00630 (by SNR); Bao et al. 2022, arXiv:2201.06503 (best σ²). Groundwork: [GM] 3.4, [UDL] 17.4,
[BB] 6. Beyond the texts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from modules.diffusion.exact import Denoiser
from modules.diffusion.samplers import gaussian
from modules.diffusion.schedule import Schedule, rows

Variance = Literal["beta", "posterior"]
Spread = Callable[[Tensor, Tensor], Tensor]  # x_t (B, ...) and t (B,) -> σ_t² of every number, (B, ...)


@dataclass(frozen=True)
class Bound:
    """−ELBO in parts, nats: prior L_T (B,), steps L_{t−1} (T − 1, B) from t = 2 on, decoder L_0 (B,)."""

    prior: Tensor
    steps: Tensor
    decoder: Tensor

    @property
    def total(self) -> Tensor:
        """(B,)"""
        return self.prior + self.steps.sum(0) + self.decoder


def variances(schedule: Schedule, kind: Variance) -> Tensor:
    """σ_t² by t, (T + 1,) float64; of the posterior's kind β̃_2 stands at t = 1.

    Raises:
        ValueError: no such kind.
    """
    if kind == "beta":
        return schedule.beta
    if kind != "posterior":
        raise ValueError(f"variance is {kind!r}: it must be beta or posterior.")
    tilde = schedule.posterior_variance.clone()
    tilde[1] = tilde[min(2, schedule.T)] if schedule.T > 1 else schedule.beta[1]
    return tilde


def best_variance(schedule: Schedule, t: Tensor, spread: Tensor) -> Tensor:
    """β̃ + c_0² Var(x_0 | x_t): of Gaussian data the reverse step's own variance; t (N,), spread (N,)."""
    c0, _, tilde = schedule.posterior_weights(t, t - 1)
    return tilde + c0.square() * spread


def step_kl(schedule: Schedule, t: Tensor, error: Tensor, size: int, variance: Tensor) -> Tensor:
    """L_{t−1} of squared errors ‖x_0 − x̂_0‖² (N,) at t ≥ 2 (N,) with σ² (N,), float64; `size` is D."""
    c0, _, tilde = (w.to(error.device) for w in schedule.posterior_weights(t, t - 1))
    ratio = tilde / variance.to(error.device)
    return 0.5 * (size * (ratio - 1 - ratio.log()) + c0.square() * error / variance.to(error.device))


def learned_variance(schedule: Schedule, share: Tensor, t: Tensor) -> Tensor:
    """σ_t² = exp(v log β_t + (1 − v) log β̃_t), of shares v (B, ...) in [0, 1]; at t = 1 β̃_2 stands for β̃_1.

    The best σ² lies between the two where data have variance at most 1 (Nichol & Dhariwal 2021, Bao et al.).
    """
    high, low = (rows(variances(schedule, kind)[t.cpu()].log(), share) for kind in ("beta", "posterior"))  # type: ignore[arg-type]
    return (share * high + (1 - share) * low).exp()


def spread_kl(schedule: Schedule, t: Tensor, error: Tensor, variance: Tensor) -> Tensor:
    """L_{t−1} (B,) of (x_0 − x̂_0)² and σ² by number, (B, ...) each, at t ≥ 2 (B,)."""
    c0, _, tilde = (rows(w, error) for w in schedule.posterior_weights(t, t - 1))
    ratio = tilde / variance
    return 0.5 * (ratio - 1 - ratio.log() + c0.square() * error / variance).flatten(1).sum(1)


def prior_kl(schedule: Schedule, x0: Tensor) -> Tensor:
    """L_T, (B,)."""
    a = float(schedule.alpha_bar[-1])
    return 0.5 * (a * x0.double().square() - a - math.log1p(-a)).flatten(1).sum(1)


def log_normal(x: Tensor, mean: Tensor, variance: float | Tensor) -> Tensor:
    """log N(x; mean, variance I), (B,)."""
    variance = torch.as_tensor(variance, dtype=torch.float64, device=x.device)
    square = (x - mean).double().square() / variance + (2 * math.pi * variance).log()
    return -0.5 * square.flatten(1).sum(1)


def log_bin(x: Tensor, mean: Tensor, sigma: float | Tensor, levels: int) -> Tensor:
    """log mass of N(mean, σ²) in the bin of each grey level x of [−1, 1]; the outer bins reach to ∓∞.

    Of the same shape. Every bin is measured on its near tail, so that a mass far off is small, not 0.
    """
    x, mean = x.double(), mean.double()
    half = 1 / (levels - 1)
    low, high = (x - half - mean) / sigma, (x + half - mean) / sigma
    low = torch.where(x < -1 + half, -torch.inf, low)
    high = torch.where(x > 1 - half, torch.inf, high)
    flip = low + high > 0  # the mass above the mean is that of its mirror image below
    low, high = torch.where(flip, -high, low), torch.where(flip, -low, high)
    below, above = torch.special.log_ndtr(low), torch.special.log_ndtr(high)
    return above + torch.log(-torch.expm1((below - above).clamp(max=-1e-300)))


def bound(
    predict: Denoiser,
    schedule: Schedule,
    x0: Tensor,
    variance: Variance | Spread = "beta",
    levels: int | None = None,
    draws: int | None = None,
    generator: torch.Generator | None = None,
    clip: float | None = None,
) -> Bound:
    """The terms at x_0, one draw of noise for each.

    Args:
        levels: grey levels of a discretised decoder; None is the density's.
        draws: take so many of the T − 1 steps, by importance, counted up to the whole sum; None takes all.
        predict: answers x̂_0 and ε̂, or ε̂.
        variance: a kind, or a function that answers σ² by number.
        clip: x̂_0 is clamped to [−clip, clip], as the model is that samples so: where data lie inside, no KL
            grows by it.
    """
    kind: Variance = "beta" if callable(variance) else variance
    square, B, size = variances(schedule, kind), len(x0), x0[0].numel()

    def clean(t: Tensor) -> tuple[Tensor, Tensor]:  # x̂_0 and σ², by number
        xt = schedule.noised(x0, t, gaussian(x0, generator))
        found = predict(xt, t)
        clear = (
            found[0]
            if isinstance(found, tuple)
            else (xt - schedule.sigma(t, xt) * found) / schedule.root(t, xt)
        )
        clear = clear if clip is None else clear.clamp(-clip, clip)
        return clear, variance(xt, t).double() if callable(variance) else square[t.cpu()].to(x0.device)

    every = torch.arange(2, schedule.T + 1)
    if draws is None:
        times, chance = every[:, None].expand(-1, B), torch.ones(schedule.T + 1, dtype=torch.float64)
    else:
        # a t is drawn as often as its term would be large if ε̂ were nothing; else one rare t decides all
        weight = step_kl(schedule, every, size / schedule.snr[every], size, square[every])
        share = torch.cat([weight.new_zeros(2), weight / weight.sum()])
        u = torch.rand(draws, B, generator=generator, dtype=torch.float64)
        even = (torch.arange(draws)[:, None] + u) / draws  # of each example one draw in each even part
        times = torch.searchsorted(share.cumsum(0), even, right=True).clamp(2, schedule.T)
        chance = share * draws
    steps = []
    for t in times.to(x0.device):
        guess, spread = clean(t)
        error = (guess - x0).double().square()
        if callable(variance):
            term = spread_kl(schedule, t, error, spread)
        else:
            term = step_kl(schedule, t, error.flatten(1).sum(1), size, spread)
        steps.append(term / chance[t.cpu()].to(error))
    one = torch.ones(B, dtype=torch.long, device=x0.device)
    mean, spread = clean(one)
    first = spread if callable(variance) else float(square[1])
    if levels is None:
        decoder = -log_normal(x0, mean, first)
    else:
        decoder = -log_bin(x0, mean, first**0.5, levels).flatten(1).sum(1)
    return Bound(prior_kl(schedule, x0), torch.stack(steps) if steps else x0.new_zeros(0, B), decoder)
