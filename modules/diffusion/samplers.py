r"""Samplers: many ways from noise to data with one and the same denoiser ε̂(x, t).

    ancestral   x_p = c_0 x̂_0 + c_t x_t + σ z,    σ² = 1 − ᾱ_t/ᾱ_p ("beta") or β̃ ("posterior")
    DDIM        x_p = √ᾱ_p x̂_0 + √(1 − ᾱ_p − σ²) ε̂ + σ z,    σ² = η² β̃
    Heun        y = x/√ᾱ, κ = √(1−ᾱ)/√ᾱ:  dy/dκ = ε̂ is the probability-flow ODE; the trapezoid rule in κ
    DPM++(2M)   x_p = (σ_p/σ_t) x_t − √ᾱ_p (e^{−h} − 1) D,  h = λ_p − λ_t,  D extrapolated from two x̂_0

Every walk goes over times T = t_S > … > t_1 > 0 and ends at ᾱ = 1, where no noise is added. DDIM with η = 0
is Euler on Heun's ODE; with η = 1 it is ancestral sampling with σ² = β̃. A sampler here is an iterator over
its steps: `last` keeps the end, `trace` keeps all.

Shapes: x (B, ...), z ~ N(0, I).
References: Ho et al. 2020, arXiv:2006.11239; Song, Meng, Ermon 2021, arXiv:2010.02502 (DDIM); Karras et al.
2022, arXiv:2206.00364 (Heun); Lu et al. 2022, arXiv:2211.01095 (DPM-Solver++); bounds on x̂_0 that move with
it (Saharia et al. 2022, arXiv:2205.11487) are only named here. Beyond the texts.
"""

import math
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

from modules.diffusion.exact import Denoiser
from modules.diffusion.schedule import Schedule
from modules.trace import Step, Trace

Variance = Literal["beta", "posterior"]
Hop = Callable[[Tensor, int, int], float | Tensor]  # σ² of the hop from x_t at t to p
Draws = torch.Generator | Sequence[torch.Generator] | None  # of all examples, or one of each


@dataclass(frozen=True)
class Moment:
    """Where a walk is: x at time t, and what the hop that led there was made of (None at the start)."""

    t: int
    x: Tensor
    x0: Tensor | None = None
    eps: Tensor | None = None
    sigma: float = 0.0
    alpha_bar: float = 0.0


Walk = Iterator[Moment]


def gaussian(x: Tensor, generator: Draws = None) -> Tensor:
    """N(0, I) of the shape of x; drawn on the generator's own device, so that a seed means the same."""
    if isinstance(generator, Sequence):
        each = [torch.randn(x.shape[1:], generator=g, dtype=x.dtype) for g in generator]
        return torch.stack(each).to(x.device) if each else x
    device = generator.device if generator is not None else x.device
    return torch.randn(x.shape, generator=generator, dtype=x.dtype, device=device).to(x.device)


def uniform(shape: tuple[int, ...], generator: Draws = None) -> Tensor:
    """Uniform in [0, 1), on the CPU; where examples have generators of their own they are the last size."""
    if isinstance(generator, Sequence):
        each = [torch.rand(shape[:-1], generator=g) for g in generator]
        return torch.stack(each, -1) if each else torch.zeros(shape)
    return torch.rand(shape, generator=generator)


def of_each(x: Tensor, seed: int = 0) -> list[torch.Generator]:
    """A generator for each example of x (B, ...), seeded by what it holds: an evaluation then draws the same
    for it in whatever batch, and on whatever process, it comes."""
    rows_ = x.detach().cpu().contiguous().numpy()
    return [torch.Generator().manual_seed(zlib.crc32(row.tobytes(), seed)) for row in rows_]


def guess(
    predict: Denoiser, schedule: Schedule, x: Tensor, t: int, clip: float | None = None
) -> tuple[Tensor, Tensor]:
    """x̂_0 and ε̂ at time t; x̂_0 is clamped to [−clip, clip], and ε̂ follows it."""
    times = torch.full((len(x),), t, device=x.device)
    a, b = (float(v) for v in (schedule.alpha_bar[t].sqrt(), (1 - schedule.alpha_bar[t]).sqrt()))
    found = predict(x, times)
    if isinstance(found, tuple):
        x0, eps = found
    elif a > 0:
        x0, eps = (x - b * found) / a, found
    else:
        raise ValueError("At ᾱ = 0 there is no signal, and ε does not tell x_0: predict v or x0.")
    if clip is not None:
        x0 = x0.clamp(-clip, clip)
        eps = (x - a * x0) / b  # b > 0: nobody asks at t = 0
    return x0, eps


def pairs(times: Sequence[int]) -> list[tuple[int, int]]:
    """The hops (t, p) of a walk over falling times."""
    if list(times) != sorted(set(times), reverse=True) or times[-1] < 0:
        raise ValueError("Times must fall at every step and not go below 0.")
    return list(pairwise(times))


def ddim(
    predict: Denoiser,
    schedule: Schedule,
    x: Tensor,
    times: Sequence[int],
    eta: float = 0.0,
    clip: float | None = None,
    generator: torch.Generator | None = None,
) -> Walk:
    """DDIM from x at times[0]; η = 0 is deterministic, η = 1 as noisy as the chain itself."""
    if not 0 <= eta <= 1:
        raise ValueError(f"eta is {eta}: it must be from 0 to 1.")
    yield Moment(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in pairs(times):
        x0, eps = guess(predict, schedule, x, t, clip)
        ahead = float(schedule.alpha_bar[p])
        variance = eta**2 * float(schedule.posterior_weights(torch.tensor(t), torch.tensor(p))[2])
        x = math.sqrt(ahead) * x0 + math.sqrt(max(0.0, 1 - ahead - variance)) * eps
        if variance:
            x = x + math.sqrt(variance) * gaussian(x, generator)
        yield Moment(p, x, x0, eps, math.sqrt(variance), ahead)


def ancestral(
    predict: Denoiser,
    schedule: Schedule,
    x: Tensor,
    times: Sequence[int],
    variance: Variance | Hop = "posterior",
    clip: float | None = None,
    generator: torch.Generator | None = None,
) -> Walk:
    """The chain backwards: the posterior's mean at x̂_0, and noise of the variance asked for; none at the end.

    `variance` may be a function of (x_t, t, p): the optimal one, or a network's, number by number.
    """
    yield Moment(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in pairs(times):
        x0, eps = guess(predict, schedule, x, t, clip)
        c0, ct, tilde = (float(w) for w in schedule.posterior_weights(torch.tensor(t), torch.tensor(p)))
        ahead = float(schedule.alpha_bar[p])
        square: float | Tensor
        if callable(variance):
            square = variance(x, t, p)
        elif variance in ("beta", "posterior"):
            square = tilde if variance == "posterior" else 1 - float(schedule.alpha_bar[t]) / ahead
        else:
            raise ValueError(f"variance is {variance!r}: it must be beta, posterior, or a function.")
        sigma = torch.as_tensor(square, dtype=x.dtype, device=x.device).sqrt() if p else x.new_zeros(())
        x = c0 * x0 + ct * x
        if p > 0:
            x = x + sigma * gaussian(x, generator)
        yield Moment(p, x, x0, eps, float(sigma.square().mean().sqrt()), ahead)


def heun(
    predict: Denoiser, schedule: Schedule, x: Tensor, times: Sequence[int], clip: float | None = None
) -> Walk:
    """Second order on the probability-flow ODE: two evaluations a hop, one in the last and from ᾱ = 0."""
    yield Moment(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in pairs(times):
        now, ahead = float(schedule.alpha_bar[t]), float(schedule.alpha_bar[p])
        x0, eps = guess(predict, schedule, x, t, clip)
        if not now:  # κ is infinite: DDIM's hop, which needs none
            x = math.sqrt(ahead) * x0 + math.sqrt(1 - ahead) * eps
            yield Moment(p, x, x0, eps, 0.0, ahead)
            continue
        kappa, kappa_p = (math.sqrt((1 - a) / a) for a in (now, ahead))
        y = x / math.sqrt(now)
        x = math.sqrt(ahead) * (y + (kappa_p - kappa) * eps)
        if p > 0:
            eps = (eps + guess(predict, schedule, x, p, clip)[1]) / 2
            x = math.sqrt(ahead) * (y + (kappa_p - kappa) * eps)
        yield Moment(p, x, x0, eps, 0.0, ahead)


def dpm_solver(
    predict: Denoiser, schedule: Schedule, x: Tensor, times: Sequence[int], clip: float | None = None
) -> Walk:
    """DPM-Solver++(2M): second order from the last two x̂_0; first order in the first and the last hop."""
    yield Moment(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    before: tuple[Tensor, float] | None = None
    for t, p in pairs(times):
        now, ahead = float(schedule.alpha_bar[t]), float(schedule.alpha_bar[p])
        x0, eps = guess(predict, schedule, x, t, clip)
        if p == 0:
            yield Moment(p, x0, x0, eps, 0.0, ahead)
            return
        lam, lam_p = (0.5 * math.log(a / (1 - a)) if a else -math.inf for a in (now, ahead))
        h = lam_p - lam
        data = x0
        if before is not None:
            r = before[1] / h
            data = (1 + 1 / (2 * r)) * x0 - 1 / (2 * r) * before[0]
        x = math.sqrt((1 - ahead) / (1 - now)) * x - math.sqrt(ahead) * math.expm1(-h) * data
        before = (x0, h)
        yield Moment(p, x, x0, eps, 0.0, ahead)


def last(walk: Walk) -> Tensor:
    """Where a walk ends."""
    return deque(walk, maxlen=1).pop().x


def trace(walk: Walk) -> Trace:
    """A walk as steps: values x (B, ...), and of the hop that led there x0 and eps."""
    steps: list[Step] = []
    for m in walk:
        values: dict[str, object] = {"x": m.x, "t": m.t, "alpha_bar": m.alpha_bar}
        caption, equation = f"Start from noise at t = {m.t}.", rf"\bar\alpha_{{{m.t}}} = {m.alpha_bar:.3g}"
        if m.x0 is not None and m.eps is not None:
            values |= {"x0": m.x0, "eps": m.eps}
            rest = math.sqrt(max(0.0, 1 - m.alpha_bar - m.sigma**2))
            equation = rf"x_{{{m.t}}} = {math.sqrt(m.alpha_bar):.3f}\,\hat x_0 + {rest:.3f}\,\hat\epsilon" + (
                rf" + {m.sigma:.3f}\,z" if m.sigma else ""
            )
            caption = f"Down to t = {m.t}." if m.t else "At t = 0: the sample."
        steps.append(Step(caption, values, equation))
    return Trace(steps, steps[-1].values["x"])
