"""Flows along straight lines: how few Euler steps do, before a reflow, after it, and with the exact velocity.

Time runs from 0 (noise) to 1 (data), the other way round than in diffusion. Euler's paths are straight
between two steps, so that every moment of them is known.

Shapes: clouds (CLOUD, 2) in data units; F moments.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from modules.diffusion import flow_matching
from modules.diffusion.flow_matching import FlowMatching, Velocity
from pages.diffusion.reverse.lens import CLOUD, near, start, truth

MOMENTS = [round(0.025 * i, 3) for i in range(41)]
STEPS = [1, 2, 4, 8, 16, 50]
Flow = Literal["first round", "after reflow", "exact"]
FLOWS: tuple[Flow, ...] = ("first round", "after reflow", "exact")
OPTIONS = ["1", "2", "4", "8 or more"]


@dataclass(frozen=True)
class Ride:
    """
    Attributes:
        cloud: (F, CLOUD, 2) at MOMENTS. share: (F,) within 3 sd of a mode.
        bends: length of the paths over that of their straight lines, the median.
    """

    cloud: Tensor
    share: Tensor
    bends: float


def double(model: FlowMatching) -> FlowMatching:
    """A copy in double precision, without gradients."""
    return deepcopy(model).double().eval().requires_grad_(False)


def velocity(model: FlowMatching, flow: Flow) -> Velocity:
    """v(x, t) in the model's units: of the first round, of the second, or of the data's own law."""
    if flow == "exact":
        return flow_matching.exact_velocity(truth(model.scale))
    return model.first_velocity if flow == "first round" else model.velocity


@torch.no_grad()
def ride(model: FlowMatching, flow: Flow, steps: int, seed: int) -> Ride:
    """Euler's walk from the noise of `seed` to data."""
    states = model.scale * flow_matching.path(velocity(model, flow), start(seed), steps)  # (steps + 1, N, 2)
    place = torch.tensor(MOMENTS, dtype=torch.float64) * steps
    before = place.floor().long().clamp(max=steps - 1)
    part = (place - before)[:, None, None]
    cloud = (1 - part) * states[before] + part * states[before + 1]
    legs = states.diff(dim=0).norm(dim=-1).sum(0)
    return Ride(cloud, near(cloud), float((legs / (states[-1] - states[0]).norm(dim=-1)).median()))


@torch.no_grad()
def distances(model: FlowMatching, flow: Flow, seed: int) -> list[float]:
    """Energy distance from data after each of STEPS Euler steps."""
    v, x0, real = velocity(model, flow), start(seed), data(seed)
    ends = [model.scale * flow_matching.follow(v, x0, steps) for steps in STEPS]
    return [float(flow_matching.energy_distance(end, real)) for end in ends]


def data(seed: int) -> Tensor:
    """As many points of the data's law."""
    return truth(1.0).draw(CLOUD, torch.Generator().manual_seed(seed + 1000))[0]


def floor(seed: int, pairs: int = 20) -> float:
    """The mean |energy distance| of two samples of one law of this size: what chance alone makes."""
    found = [flow_matching.energy_distance(data(seed + i), data(seed + i + 500)).abs() for i in range(pairs)]
    return float(torch.stack(found).mean())


@torch.no_grad()
def straightness(model: FlowMatching, flow: Flow, seed: int) -> float:
    """∫ E‖(x₁ − x₀) − v‖² dt over the flow's own pairs (x₀, where 50 steps take it), in the model's units."""
    v, x0 = velocity(model, flow), start(seed)
    return float(flow_matching.straightness(v, x0, flow_matching.follow(v, x0, 50)))


def captions(run: Ride, steps: int) -> list[str]:
    """Where the cloud is."""
    return [
        f"t = {t:g}, {min(steps, int(t * steps + 1e-9))} of {steps} steps done: {share:.0%} lie within 3 sd "
        "of a mode."
        for t, share in zip(MOMENTS, run.share.tolist(), strict=True)
    ]


def equations(run: Ride, steps: int) -> list[str]:
    """Euler's step, and a point on its way, LaTeX."""
    return [
        rf"x_{{t+1/{steps}}}=x_t+\tfrac{{1}}{{{steps}}}\,v(x_t,t),\qquad x_{{{t:g}}}=({a:.2f},\,{b:.2f})"
        for t, (a, b) in zip(MOMENTS, run.cloud[:, 0].tolist(), strict=True)
    ]


def enough(found: Sequence[float], best: float) -> str:
    """Which of OPTIONS steps are the fewest whose distance is at most twice `best`."""
    least = next((n for n, d in zip(STEPS, found, strict=True) if d <= 2 * best), STEPS[-1])
    return str(least) if least < 8 else OPTIONS[-1]
