"""Flows along straight lines: how few Euler steps do, before a reflow, after it, and with the exact velocity.

Time runs from 0 (noise) to 1 (data), the other way round than in diffusion. Euler's paths are straight
between two steps, so that every state of them is known.

Shapes: clouds (CLOUD, 2) in data units; F moments.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.eight import CLOUD, near, start, truth
from lab.lenses.precision import double
from modules.diffusion import flow_matching
from modules.diffusion.flow_matching import FlowMatching, Velocity
from pages.diffusion.flow_matching.room import BATCHES, BEST, COUPLINGS, FLOWS, MOMENTS, STEPS

OPTIONS = ["1", "2", "4", "8 or more"]
CROSSED = ["under 2 %", "2 to 10 %", "over 10 %"]


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


def velocity(model: FlowMatching, flow: str) -> Velocity:
    """v(x, t) in the model's units: of a first, second or only round, or of the data's own distribution."""
    if flow == "exact":
        return flow_matching.exact_velocity(truth(model.scale))
    return model.first_velocity if flow == "first round" else model.velocity


@torch.no_grad()
def ride(model: FlowMatching, flow: str, steps: int, seed: int) -> Ride:
    """Euler's path from the noise of `seed` to data."""
    states = model.scale * flow_matching.path(velocity(model, flow), start(seed), steps)  # (steps + 1, N, 2)
    place = torch.tensor(MOMENTS, dtype=torch.float64) * steps
    before = place.floor().long().clamp(max=steps - 1)
    part = (place - before)[:, None, None]
    cloud = (1 - part) * states[before] + part * states[before + 1]
    legs = states.diff(dim=0).norm(dim=-1).sum(0)
    return Ride(cloud, near(cloud), float((legs / (states[-1] - states[0]).norm(dim=-1)).median()))


def followed(flow_model: FlowMatching, flow: str, N: int, seed: int) -> Ride:
    """`ride` in double precision."""
    return ride(double(flow_model), flow, N, seed)


def measured(
    model: FlowMatching, paired: FlowMatching, seed: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """`distances` and `straightness` of each of FLOWS."""
    models: dict[str, FlowMatching] = {flow: double(paired if flow == BEST else model) for flow in FLOWS}
    return (
        {flow: distances(one, flow, seed) for flow, one in models.items()},
        {flow: straightness(one, flow, seed) for flow, one in models.items()},
    )


@torch.no_grad()
def distances(model: FlowMatching, flow: str, seed: int) -> list[float]:
    """Energy distance from data after each of STEPS Euler steps."""
    v, x0, real = velocity(model, flow), start(seed), data(seed)
    ends = [model.scale * flow_matching.follow(v, x0, steps) for steps in STEPS]
    return [float(flow_matching.energy_distance(end, real)) for end in ends]


def data(seed: int) -> Tensor:
    """As many points of the data's distribution."""
    return truth(1.0).draw(CLOUD, torch.Generator().manual_seed(seed + 1000))[0]


def floor(seed: int, pairs: int = 20) -> float:
    """The mean |energy distance| of two samples of one distribution of this size: what chance alone makes."""
    results = [
        flow_matching.energy_distance(data(seed + i), data(seed + i + 500)).abs() for i in range(pairs)
    ]
    return float(torch.stack(results).mean())


@torch.no_grad()
def straightness(model: FlowMatching, flow: str, seed: int) -> float:
    """∫ E‖(x₁ − x₀) − v‖² dt over the flow's own pairs (x₀, where 50 steps take it), in the model's units."""
    v, x0 = velocity(model, flow), start(seed)
    return float(flow_matching.straightness(v, x0, flow_matching.follow(v, x0, 50)))


def numbers(steps: int) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each state: the time, and Euler's steps so far."""
    return [
        {"xt": f"t = {t:.3g}", "net": f"step {min(steps, int(t * steps + 1e-9))} of {steps}"} for t in MOMENTS
    ]


def captions(run: Ride, steps: int) -> list[str]:
    """Caption of where the cloud is."""
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


def enough(result: Sequence[float], best: float) -> str:
    """The one of OPTIONS that is the smallest number of steps whose distance is at most twice `best`."""
    least = next((n for n, d in zip(STEPS, result, strict=True) if d <= 2 * best), STEPS[-1])
    return str(least) if least < 8 else OPTIONS[-1]


# --- Pairs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """Training pairs of a batch, by COUPLINGS.

    Attributes:
        lines: name -> (F, n, 2) points of every line at MOMENTS, data units.
        crossed: name -> share of all pairs of lines that cross, for each of BATCHES.
        length: name -> mean length of a line, data units, for each of BATCHES.
    """

    lines: dict[str, Tensor]
    crossed: dict[str, list[float]]
    length: dict[str, list[float]]


def pairs(n: int, scale: float, seed: int) -> Pairs:
    """The first n points of noise and of data, and which goes to which; `scale` of the model's units."""
    t = torch.tensor(MOMENTS, dtype=torch.float64)[:, None, None]
    lines: dict[str, Tensor] = {}
    crossed: dict[str, list[float]] = {name: [] for name in COUPLINGS}
    length: dict[str, list[float]] = {name: [] for name in COUPLINGS}
    for size in BATCHES:
        x0, x1 = scale * start(seed)[:size], data(seed)[:size]
        for name, ends in zip(COUPLINGS, (x1, flow_matching.optimal_pairs(x0, x1)), strict=True):
            crossed[name].append(crossing(x0, ends))
            length[name].append(float((ends - x0).norm(dim=1).mean()))
            if size == n:
                lines[name] = (1 - t) * x0 + t * ends
    return Pairs(lines, crossed, length)


def crossing(x0: Tensor, x1: Tensor) -> float:
    """The share of pairs of the lines x0 → x1 (n, 2) that cross: x0_i + s d_i = x0_j + u d_j within both."""
    d, between = x1 - x0, x0[None] - x0[:, None]

    def cross(a: Tensor, b: Tensor) -> Tensor:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]

    apart = cross(d[:, None], d[None])  # 0 of parallel lines, which then divide to no number within (0, 1)
    s, u = cross(between, d[None]) / apart, cross(between, d[:, None]) / apart
    met = (s > 0) & (s < 1) & (u > 0) & (u < 1)
    n = len(x0)
    return float(met.triu(1).sum()) / (n * (n - 1) / 2)


def drawn(model: FlowMatching, batch: int, seed: int) -> Pairs:
    """`pairs` in the model's units."""
    return pairs(batch, model.scale, seed)


def pair_captions(result: Pairs, name: str, n: int) -> list[str]:
    """Caption of how the lines of a batch lie."""
    i = BATCHES.index(n)
    text = (
        f"{result.crossed[name][i]:.1%} of all pairs of lines cross, mean length {result.length[name][i]:.2f}"
    )
    return [f"t = {t:g}: {text}." for t in MOMENTS]


def pair_notice(result: Pairs, n: int) -> str:
    """Say what the assignment changes."""
    i = BATCHES.index(n)
    (random, best), (far, short) = (
        [x[name][i] for name in COUPLINGS] for x in (result.crossed, result.length)
    )
    return (
        "Each line is an example: at x_t the network is to say x₁ − x₀. Where two lines pass one place at "
        "one time it cannot say both, and learns their mean; that bends the paths. The best assignment in a "
        "batch, by squared length, leaves the distributions of x₀ and x₁ as they are. Counted over the "
        f"whole plane, whatever the time, {best:.1%} of all pairs of {n} lines cross then, at random "
        f"{random:.1%}; a line is {short:.2f} long in the mean instead of {far:.2f}."
    )


def pair_equations(result: Pairs, name: str) -> list[str]:
    """A point on its line, and the velocity that is to be learned there, LaTeX."""
    line = result.lines[name][:, 0]
    a, b = (line[-1] - line[0]).tolist()
    return [
        rf"x_{{{t:g}}}=(1-t)\,x_0+t\,x_1=({p:.2f},\,{q:.2f}),\qquad x_1-x_0=({a:.2f},\,{b:.2f})"
        for t, (p, q) in zip(MOMENTS, line.tolist(), strict=True)
    ]


def how_many(share: float) -> str:
    """The right one of CROSSED."""
    return CROSSED[0] if share < 0.02 else CROSSED[1] if share <= 0.1 else CROSSED[2]
