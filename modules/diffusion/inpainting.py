r"""Inpainting: a trained denoiser completes what is missing, without having been trained for it.

    x_p = m ⊙ (√ᾱ_p y + √(1−ᾱ_p) ε) + (1 − m) ⊙ step(x_t)       m = 1 where y is known, ε fresh
    x_t = √α x_p + √(1−α) z,  α = ᾱ_t/ᾱ_p                          back up, and the step again: r passes

Replacement (r = 1) overwrites the known entries after each step by the data at its level of noise. The
fresh ε knows nothing of the unknown entries beside it, and these are already drawn: so they lean on the known
ones too little, and the samples are *not* those of p(x | y). Passing through each level r times lets both
agree (RePaint); in the limit of many passes and small steps the conditional distribution comes out. At the
end the known entries are y itself.

Shapes: x, y (B, ...); m the same or broadcast to it, bool.
References: Song et al. 2021, arXiv:2011.13456 (replacement); Lugmayr et al. 2022, arXiv:2201.09865 (RePaint).
Beyond the texts.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from modules.base import require
from modules.diffusion import samplers
from modules.diffusion.exact import Denoiser
from modules.diffusion.samplers import State, Trajectory, Variance
from modules.diffusion.schedule import Schedule
from modules.noise import normal_like

ReverseStep = Callable[[Tensor, int, int], State]  # x at t, t and p < t -> x at p


def ancestral_step(
    predict: Denoiser,
    schedule: Schedule,
    variance: Variance = "posterior",
    clip: float | None = None,
    generator: torch.Generator | None = None,
) -> ReverseStep:
    """Step of the reverse process, or a jump over several; see `samplers.ancestral`."""

    def step(x: Tensor, t: int, p: int) -> State:
        _, end = samplers.ancestral(predict, schedule, x, [t, p], variance, clip, generator)
        return end

    return step


def exact_gaussian(schedule: Schedule, covariance: Tensor, t: int, p: int) -> tuple[Tensor, Tensor]:
    """x_p | x_t ~ N(A x_t, R) of data N(0, Σ): matrices A and R (D, D), float64.

    C_t = ᾱ_t Σ + (1 − ᾱ_t) I;  A = √α C_p C_t⁻¹;  R = C_p − α C_p C_t⁻¹ C_p.
    """
    a_t, a_p = float(schedule.alpha_bar[t]), float(schedule.alpha_bar[p])
    sigma, eye = covariance.double(), torch.eye(len(covariance), dtype=torch.float64)
    c_t, c_p = (a * sigma + (1 - a) * eye for a in (a_t, a_p))
    A = math.sqrt(a_t / a_p) * torch.linalg.solve(c_t, c_p).mT  # both are symmetric
    return A, c_p - math.sqrt(a_t / a_p) * A @ c_p


def gaussian_step(
    schedule: Schedule, covariance: Tensor, generator: torch.Generator | None = None
) -> ReverseStep:
    """Exact reverse step of data N(0, Σ): what any error is then due to is the inpainting alone."""

    def step(x: Tensor, t: int, p: int) -> State:
        A, R = exact_gaussian(schedule, covariance, t, p)
        values, axes = torch.linalg.eigh(R)
        root = axes * values.clamp(min=0).sqrt()
        noise = normal_like(x.double(), generator) @ root.mT
        return State(p, (x.double() @ A.mT + noise).to(x), alpha_bar=float(schedule.alpha_bar[p]))

    return step


def inpaint(
    step: ReverseStep,
    schedule: Schedule,
    x: Tensor,
    known: Tensor,
    values: Tensor,
    times: Sequence[int],
    resample: int = 1,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Trajectory from noise x at times[0] to data in which the known entries are `values`, to the bit.

    Args:
        known: bool, broadcast to x. values: broadcast to x; what is not known of them is not looked at.
        resample: r, passes through every level but the last step's. States are those after the last pass.

    Raises:
        ValueError: a known value is not finite, r is below 1, or the times do not end at 0.
    """
    require(1, resample=resample)
    known = known.to(torch.bool).expand_as(x)
    values = torch.where(known, values.to(x), torch.zeros_like(x))
    if not bool(values.isfinite().all()):
        raise ValueError("A known entry is not a finite number: mark it as missing, or correct it.")
    if times[-1] != 0:
        raise ValueError(f"The times end at {times[-1]}: known entries are exact only at 0.")

    def replaced(x: Tensor, t: int) -> Tensor:
        a = float(schedule.alpha_bar[t])
        at_level = values if t == 0 else math.sqrt(a) * values + math.sqrt(1 - a) * normal_like(x, generator)
        return torch.where(known, at_level, x)

    x = replaced(x, times[0])
    yield State(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in samplers.pairs(times):
        passes = resample if p > 0 else 1
        for left in reversed(range(passes)):
            state = step(x, t, p)
            new = replaced(state.x, p)
            if left:
                alpha = float(schedule.alpha_bar[t] / schedule.alpha_bar[p])
                x = math.sqrt(alpha) * new + math.sqrt(1 - alpha) * normal_like(x, generator)
        x = new
        yield State(p, x, state.x0, state.eps, state.sigma, state.alpha_bar)
