r"""Samplers: many ways from noise to data with one and the same denoiser ε̂(x, t).

    ancestral   x_p = c_0 x̂_0 + c_t x_t + σ z,    σ² = 1 − ᾱ_t/ᾱ_p ("beta") or β̃ ("posterior")
    DDIM        x_p = √ᾱ_p x̂_0 + √(1 − ᾱ_p − σ²) ε̂ + σ z,    σ² = η² β̃
    Heun        y = x/√ᾱ, κ = √(1−ᾱ)/√ᾱ:  dy/dκ = ε̂ is the probability-flow ODE; the trapezoid rule in κ
    DPM++(2M)   x_p = (σ_p/σ_t) x_t − √ᾱ_p (e^{−h} − 1) D,  h = λ_p − λ_t,  D extrapolated from two x̂_0

Every trajectory goes over times T = t_S > … > t_1 > 0 and ends at ᾱ = 1, where no noise is added. DDIM with η
= 0 is Euler on Heun's ODE; with η = 1 it is ancestral sampling with σ² = β̃. A sampler here is an iterator
over the states of a trajectory: `last` keeps the end, `trace` keeps all.

Shapes: x (B, ...), z ~ N(0, I).
References: Ho et al. 2020, arXiv:2006.11239; Song, Meng, Ermon 2021, arXiv:2010.02502 (DDIM); Karras et al.
2022, arXiv:2206.00364 (Heun); Lu et al. 2022, arXiv:2211.01095 (DPM-Solver++); bounds on x̂_0 that move with
it (Saharia et al. 2022, arXiv:2205.11487) are only named here. Beyond the texts.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

from modules.diffusion.exact import Denoiser
from modules.diffusion.schedule import Schedule
from modules.noise import normal_like
from modules.trace import Step, Trace

Variance = Literal["beta", "posterior"]
JumpVariance = Callable[[Tensor, int, int], float | Tensor]  # x_t, t and p -> σ² of the step from t to p


@dataclass(frozen=True)
class State:
    """State of a sampler: x at time t, and what the step that led there was made of.

    Attributes:
        x0, eps: x̂_0 and ε̂ of that step; None at the start.
        sigma: σ of the noise that it added.
        alpha_bar: ᾱ_t.
    """

    t: int
    x: Tensor
    x0: Tensor | None = None
    eps: Tensor | None = None
    sigma: float = 0.0
    alpha_bar: float = 0.0


Trajectory = Iterator[State]


def predict_x0_eps(
    predict: Denoiser, schedule: Schedule, x: Tensor, t: int, clip: float | None = None
) -> tuple[Tensor, Tensor]:
    """Predictions x̂_0 and ε̂ at time t; x̂_0 is clamped to [−clip, clip], and ε̂ follows it."""
    times = torch.full((len(x),), t, device=x.device)
    a, b = (float(v) for v in (schedule.alpha_bar[t].sqrt(), (1 - schedule.alpha_bar[t]).sqrt()))
    output = predict(x, times)
    if isinstance(output, tuple):
        x0, eps = output
    elif a > 0:
        x0, eps = (x - b * output) / a, output
    else:
        raise ValueError("At ᾱ = 0 there is no signal, and ε does not determine x_0: predict v or x0.")
    if clip is not None:
        x0 = x0.clamp(-clip, clip)
        eps = (x - a * x0) / b  # b > 0: nobody asks at t = 0
    return x0, eps


def pairs(times: Sequence[int]) -> list[tuple[int, int]]:
    """Steps (t, p) of a trajectory over falling times."""
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
) -> Trajectory:
    """DDIM from x at times[0]; η = 0 is deterministic, η = 1 as noisy as the reverse process."""
    if not 0 <= eta <= 1:
        raise ValueError(f"eta is {eta}: it must be from 0 to 1.")
    yield State(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in pairs(times):
        x0, eps = predict_x0_eps(predict, schedule, x, t, clip)
        a_p = float(schedule.alpha_bar[p])
        variance = eta**2 * float(schedule.posterior_weights(torch.tensor(t), torch.tensor(p))[2])
        x = math.sqrt(a_p) * x0 + math.sqrt(max(0.0, 1 - a_p - variance)) * eps
        if variance:
            x = x + math.sqrt(variance) * normal_like(x, generator)
        yield State(p, x, x0, eps, math.sqrt(variance), a_p)


def ancestral(
    predict: Denoiser,
    schedule: Schedule,
    x: Tensor,
    times: Sequence[int],
    variance: Variance | JumpVariance = "posterior",
    clip: float | None = None,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Reverse process: the posterior's mean at x̂_0, and noise of the variance asked for; none at the end.

    `variance` may be a function of (x_t, t, p): the optimal one, or a network's, number by number.
    """
    yield State(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in pairs(times):
        x0, eps = predict_x0_eps(predict, schedule, x, t, clip)
        c0, ct, tilde = (float(w) for w in schedule.posterior_weights(torch.tensor(t), torch.tensor(p)))
        a_p = float(schedule.alpha_bar[p])
        square: float | Tensor
        if callable(variance):
            square = variance(x, t, p)
        elif variance in ("beta", "posterior"):
            square = tilde if variance == "posterior" else 1 - float(schedule.alpha_bar[t]) / a_p
        else:
            raise ValueError(f"variance is {variance!r}: it must be beta, posterior, or a function.")
        sigma = torch.as_tensor(square, dtype=x.dtype, device=x.device).sqrt() if p else x.new_zeros(())
        x = c0 * x0 + ct * x
        if p > 0:
            x = x + sigma * normal_like(x, generator)
        yield State(p, x, x0, eps, float(sigma.square().mean().sqrt()), a_p)


def heun(
    predict: Denoiser, schedule: Schedule, x: Tensor, times: Sequence[int], clip: float | None = None
) -> Trajectory:
    """Second order on the probability-flow ODE: two evaluations per step, one in the last and from ᾱ = 0."""
    yield State(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in pairs(times):
        a_t, a_p = float(schedule.alpha_bar[t]), float(schedule.alpha_bar[p])
        x0, eps = predict_x0_eps(predict, schedule, x, t, clip)
        if not a_t:  # κ is infinite: DDIM's step, which needs none
            x = math.sqrt(a_p) * x0 + math.sqrt(1 - a_p) * eps
            yield State(p, x, x0, eps, 0.0, a_p)
            continue
        kappa, kappa_p = (math.sqrt((1 - a) / a) for a in (a_t, a_p))
        y = x / math.sqrt(a_t)
        x = math.sqrt(a_p) * (y + (kappa_p - kappa) * eps)
        if p > 0:
            eps = (eps + predict_x0_eps(predict, schedule, x, p, clip)[1]) / 2
            x = math.sqrt(a_p) * (y + (kappa_p - kappa) * eps)
        yield State(p, x, x0, eps, 0.0, a_p)


def dpm_solver(
    predict: Denoiser, schedule: Schedule, x: Tensor, times: Sequence[int], clip: float | None = None
) -> Trajectory:
    """DPM-Solver++(2M): second order from the last two x̂_0; first order in the first and the last step."""
    yield State(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    before: tuple[Tensor, float] | None = None
    for t, p in pairs(times):
        a_t, a_p = float(schedule.alpha_bar[t]), float(schedule.alpha_bar[p])
        x0, eps = predict_x0_eps(predict, schedule, x, t, clip)
        if p == 0:
            yield State(p, x0, x0, eps, 0.0, a_p)
            return
        lam, lam_p = (0.5 * math.log(a / (1 - a)) if a else -math.inf for a in (a_t, a_p))
        h = lam_p - lam
        data = x0
        if before is not None:
            r = before[1] / h
            data = (1 + 1 / (2 * r)) * x0 - 1 / (2 * r) * before[0]
        x = math.sqrt((1 - a_p) / (1 - a_t)) * x - math.sqrt(a_p) * math.expm1(-h) * data
        before = (x0, h)
        yield State(p, x, x0, eps, 0.0, a_p)


def last(trajectory: Trajectory) -> Tensor:
    """x at the end of a trajectory."""
    return deque(trajectory, maxlen=1).pop().x


def trace(trajectory: Trajectory) -> Trace:
    """Trajectory as a trace: values x (B, ...), and of the step that led there x0 and eps."""
    steps: list[Step] = []
    for s in trajectory:
        values: dict[str, object] = {"x": s.x, "t": s.t, "alpha_bar": s.alpha_bar}
        caption, equation = f"Start from noise at t = {s.t}.", rf"\bar\alpha_{{{s.t}}} = {s.alpha_bar:.3g}"
        if s.x0 is not None and s.eps is not None:
            values |= {"x0": s.x0, "eps": s.eps}
            rest = math.sqrt(max(0.0, 1 - s.alpha_bar - s.sigma**2))
            equation = rf"x_{{{s.t}}} = {math.sqrt(s.alpha_bar):.3f}\,\hat x_0 + {rest:.3f}\,\hat\epsilon" + (
                rf" + {s.sigma:.3f}\,z" if s.sigma else ""
            )
            caption = f"Down to t = {s.t}." if s.t else "At t = 0: the sample."
        steps.append(Step(caption, values, equation))
    return Trace(steps, steps[-1].values["x"])
