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
from modules.diffusion.schedule import Schedule, rows
from modules.noise import Generators, normal_like, uniform32

Variance = Literal["beta", "posterior"]
StepVariance = Callable[[Tensor, Tensor], Tensor]  # x_t (B, ...) and t (B,) -> σ_t² per dimension, (B, ...)


@dataclass(frozen=True)
class Bound:
    """−ELBO in parts, nats: prior L_T (B,), steps L_{t−1} (T − 1, B) from t = 2 on, decoder L_0 (B,).

    Where t was drawn, `steps` are the draws, each over its expected number, and L_{T−1} last: their sum has
    the whole sum's mean.
    """

    prior: Tensor
    steps: Tensor
    decoder: Tensor

    @property
    def total(self) -> Tensor:
        """Sum of all terms, (B,)."""
        return self.prior + self.steps.sum(0) + self.decoder


def variances(schedule: Schedule, kind: Variance) -> Tensor:
    """Variances σ_t² by t, (T + 1,) float64; of the posterior's kind β̃_2 stands at t = 1.

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


def best_variance(schedule: Schedule, t: Tensor, x0_variance: Tensor) -> Tensor:
    """Best variance β̃ + c_0² Var(x_0 | x_t): of Gaussian data the reverse step's own variance; t and Var
    (N,)."""
    c0, _, tilde = schedule.posterior_weights(t, t - 1)
    return tilde + c0.square() * x0_variance


def step_kl(schedule: Schedule, t: Tensor, error: Tensor, size: int, variance: Tensor) -> Tensor:
    """Terms L_{t−1} of squared errors ‖x_0 − x̂_0‖² (N,) at t ≥ 2 (N,) with σ² (N,), float64; `size` is D."""
    c0, _, tilde = (w.to(error.device) for w in schedule.posterior_weights(t, t - 1))
    ratio = tilde / variance.to(error.device)
    return 0.5 * (size * (ratio - 1 - ratio.log()) + c0.square() * error / variance.to(error.device))


def learned_variance(schedule: Schedule, v: Tensor, t: Tensor) -> Tensor:
    """Variance σ_t² = exp(v log β_t + (1 − v) log β̃_t), v (B, ...) in [0, 1]; at t = 1 β̃_2 stands for β̃_1.

    The best σ² lies between the two where data have variance at most 1 (Nichol & Dhariwal 2021, Bao et al.).
    """
    high, low = (rows(variances(schedule, kind)[t.cpu()].log(), v) for kind in ("beta", "posterior"))  # type: ignore[arg-type]
    return (v * high + (1 - v) * low).exp()


def elementwise_kl(schedule: Schedule, t: Tensor, error: Tensor, variance: Tensor) -> Tensor:
    """Terms L_{t−1} (B,) of (x_0 − x̂_0)² and σ² per dimension, (B, ...) each, at t ≥ 2 (B,)."""
    c0, _, tilde = (rows(w, error) for w in schedule.posterior_weights(t, t - 1))
    ratio = tilde / variance
    return 0.5 * (ratio - 1 - ratio.log() + c0.square() * error / variance).flatten(1).sum(1)


def term(
    schedule: Schedule, x0: Tensor, predicted: Tensor, variance: Tensor, t: Tensor, levels: int | None = None
) -> Tensor:
    """Term L_{t−1}, or L_0 where t = 1, in nats, (B,) float64.

    Args:
        predicted: x̂_0 (B, ...). variance: σ² per dimension, or a factor of x. levels: see `bound`.
    """
    x0, predicted, variance = x0.double(), predicted.double(), variance.double().expand_as(x0)
    error = (x0 - predicted).square()
    nats = elementwise_kl(schedule, t.clamp(min=min(2, schedule.T)), error, variance)
    first = t == 1
    if bool(first.any()):
        data, mean, square = x0[first], predicted[first], variance[first]
        if levels is None:
            zero = -log_normal(data, mean, square)
        else:
            zero = -log_bin(data, mean, square.sqrt(), levels).flatten(1).sum(1)
        nats = nats.masked_scatter(first, zero)
    return nats


def proposal(schedule: Schedule, variance: Tensor) -> Tensor:
    """Probabilities with which t from 1 to T is drawn, (T + 1,) float64; `variance` is σ² by t.

    A t is drawn as often as its term would be large of data N(0, I), of which E‖x_0 − x̂_0‖² = D/(1 + SNR):
    about D/SNR under little noise and no more than D under much, so that no weight is large. (D/SNR alone
    grows without end, and the pure noise of t = T takes nearly all draws.) A tenth is spread evenly.
    L_0 counts as L_1.
    """
    t = torch.arange(2, schedule.T + 1)
    least = step_kl(schedule, t, 1 / (1 + schedule.snr[t]), 1, variance[t])
    least = torch.cat([least[:1] if len(least) else torch.ones(1).double(), least])
    p = 0.9 * least / least.sum() + 0.1 / schedule.T
    return torch.cat([p.new_zeros(1), p])


def prior_kl(schedule: Schedule, x0: Tensor) -> Tensor:
    """Prior term L_T, (B,)."""
    a = float(schedule.alpha_bar[-1])
    return 0.5 * (a * x0.double().square() - a - math.log1p(-a)).flatten(1).sum(1)


def log_normal(x: Tensor, mean: Tensor, variance: float | Tensor) -> Tensor:
    """Log-density log N(x; mean, variance I), (B,)."""
    variance = torch.as_tensor(variance, dtype=torch.float64, device=x.device)
    square = (x - mean).double().square() / variance + (2 * math.pi * variance).log()
    return -0.5 * square.flatten(1).sum(1)


def log_bin(x: Tensor, mean: Tensor, sigma: float | Tensor, levels: int) -> Tensor:
    """Log-mass of N(mean, σ²) in the bin of each grey level x of [−1, 1]; the outer bins reach to ∓∞.

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
    variance: Variance | StepVariance = "beta",
    levels: int | None = None,
    draws: int | None = None,
    generator: Generators = None,
    clip: float | None = None,
) -> Bound:
    """Terms of −ELBO at x_0, one draw of noise for each.

    Args:
        levels: grey levels of a discretised decoder; None is the density's.
        draws: take so many of the T − 1 steps by `proposal`, counted up to the whole sum, and the last one
            besides; None takes all.
        generator: of all examples, or one per example, which then draws the same in any batch.
        predict: (x_t, t) -> x̂_0 and ε̂, or ε̂.
        variance: a kind, or a function (x_t, t) -> σ² per dimension.
        clip: x̂_0 is clamped to [−clip, clip], as the model is that samples so: where data lie inside, no KL
            grows by it.
    """
    kind: Variance = "beta" if callable(variance) else variance
    square, B = variances(schedule, kind), len(x0)

    def each(t: Tensor) -> Tensor:
        xt = schedule.noised(x0, t, normal_like(x0, generator))
        output = predict(xt, t)
        predicted = (
            output[0]
            if isinstance(output, tuple)
            else (xt - schedule.sigma(t, xt) * output) / schedule.root(t, xt)
        )
        predicted = predicted if clip is None else predicted.clamp(-clip, clip)
        sigma2 = variance(xt, t) if callable(variance) else rows(square[t.cpu()], x0.double())
        return term(schedule, x0, predicted, sigma2, t, levels)

    times = torch.arange(2, schedule.T + 1)[:, None].expand(-1, B)
    expected = torch.ones(schedule.T + 1, dtype=torch.float64)
    if draws is not None and draws < schedule.T - 2:  # else all are no more
        p = proposal(schedule, square)
        p[[1, schedule.T]] = 0
        p = p / p.sum()
        even = (
            torch.arange(draws)[:, None] + uniform32((draws, B), generator)
        ) / draws  # one in each even part
        drawn = torch.searchsorted(p.cumsum(0), even, right=True).clamp(2, schedule.T - 1)
        times = torch.cat([drawn, torch.full((1, B), schedule.T)])
        expected = p * draws
        expected[schedule.T] = 1
    steps = [each(t) / expected[t.cpu()].to(x0.device) for t in times.to(x0.device)]
    decoder = each(torch.ones(B, dtype=torch.long, device=x0.device))
    none = x0.new_zeros(0, B, dtype=torch.float64)
    return Bound(prior_kl(schedule, x0), torch.stack(steps) if steps else none, decoder)
