"""A field moves points: paths, the density along them, and what a solver's steps cost.

dh/dt = f(h),    d log p/dt = −tr ∂f/∂h,    t from 0 to T
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lab.lenses import plane
from modules.flow.cnf import Continuous, Solver, solve
from modules.flow.tangent import unit_vectors

FRAMES = 21
REACH, CELLS, FINER = 4.0, 60, 2  # of the window, and points each way in a cell
FINE = 256  # steps of the reference solution
COUNTS = (1, 2, 4, 8, 16, 32)


class Linear(nn.Module):
    """f(h) = J h."""

    def __init__(self, J: Tensor) -> None:
        super().__init__()
        self.J = J

    def forward(self, t: float, h: Tensor) -> Tensor:
        return h @ self.J.T

    def divergence(self, t: float, h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        return self(t, h), ((v @ self.J.T) * v).sum((-2, -1))


class Curved(nn.Module):
    """f(h) = (a sin h2, a sin h1) + pull · (tanh 2 h1, 0): no matrix; parts the plane in two."""

    def __init__(self, turn: float, pull: float) -> None:
        super().__init__()
        self.turn, self.pull = turn, pull

    def forward(self, t: float, h: Tensor) -> Tensor:
        x, y = h.unbind(-1)
        return torch.stack([self.turn * y.sin() + self.pull * (2 * x).tanh(), self.turn * x.sin()], -1)

    def divergence(self, t: float, h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        x, y = h.unbind(-1)
        bend = (2 * x).tanh()
        value = torch.stack([self.turn * y.sin() + self.pull * bend, self.turn * x.sin()], -1)
        across, slope = self.turn * y.cos(), 2 * self.pull * (1 - bend**2)
        a, b = v.unbind(-1)  # (..., n)
        pushed_x = slope[..., None] * a + across[..., None] * b
        pushed_y = (self.turn * x.cos())[..., None] * a
        return value, (pushed_x * a + pushed_y * b).sum(-1)


def field(name: str, rows: list[list[float]] | None = None) -> nn.Module:
    """A field of the shelf; "own matrix" is linear in `rows`."""
    if name == "parting":
        return Curved(0.0, 1.5)
    if name == "waves":
        return Curved(1.2, 0.6)
    matrices = {"turning": [[0.0, -1.0], [1.0, 0.0]], "spiral": [[-0.5, -2.0], [2.0, -0.5]]}
    return Linear(torch.tensor(matrices.get(name, rows), dtype=torch.float64))


@dataclass(frozen=True)
class Ride:
    """
    Attributes:
        times: (FRAMES,).
        paths: (FRAMES, N, 2) of some points; marked: (FRAMES, 2) of one.
        density: (FRAMES, CELLS, CELLS), means of cells, row = x_2 upwards.
        mass: (FRAMES,) of it in the window.
        ladj: (FRAMES,) along the marked path.
        back: largest error after going back from T to 0.
        calls: of the field from 0 to T.
    """

    times: Tensor
    paths: Tensor
    marked: Tensor
    density: Tensor
    mass: Tensor
    ladj: Tensor
    back: float
    calls: int


def layer(result: nn.Module, solver: Solver, steps: int, time: float, tolerance: float = 1e-6) -> Continuous:
    return Continuous(result, solver, steps, tolerance, time)


def log_base(h: Tensor) -> Tensor:
    return -0.5 * h.square().sum(-1) - 1.8378770664093453


def frames(time: float) -> Tensor:
    """The times of the frames, (FRAMES,)."""
    return torch.linspace(0, time, FRAMES, dtype=torch.float64)


@torch.inference_mode()
def ride(
    result: nn.Module,
    solver: Solver,
    steps: int,
    time: float,
    point: tuple[float, float],
    maps: Tensor | None = None,
) -> Ride:
    """Paths with the chosen solver (its state after whole steps lies between frames: each frame is solved
    from 0), the density with a fine one.

    Args:
        maps: the `densities`, where they are known.
    """
    times = frames(time)
    starts = torch.cat([torch.tensor([point], dtype=torch.float64), ring()])
    paths, ladjs = [starts], [starts.new_zeros(())]
    for t in times[1:].tolist():
        (h, ladj), _ = layer(result, solver, max(1, round(steps * t / time)), t).flow(starts, 0.0, t)
        paths.append(h)
        ladjs.append(ladj[0])
    end, calls = layer(result, solver, steps, time).flow(starts, 0.0, time)
    back = layer(result, solver, steps, time).flow(end[0], time, 0.0)[0][0]
    results = torch.stack(paths)
    maps = densities(result, times) if maps is None else maps
    mass = maps.sum((1, 2)) * (2 * REACH / maps.shape[-1]) ** 2
    maps = torch.nn.functional.avg_pool2d(maps, FINER)
    error = float((back - starts).abs().max())
    return Ride(times, results[:, 1:], results[:, 0], maps, mass, torch.stack(ladjs), error, calls)


def ring(count: int = 16) -> Tensor:
    """Starts on two circles."""
    angle = 2 * torch.pi * torch.arange(count, dtype=torch.float64) / count
    circle = torch.stack([angle.cos(), angle.sin()], -1)
    return torch.cat([0.7 * circle, 1.5 * circle])


@torch.inference_mode()
def densities(result: nn.Module, times: Tensor) -> Tensor:
    """p_t on the window, (F, FINER · CELLS, the same): the base at where each point came from, less what the
    way has stretched. In so fine cells no sheet of a folded cloud is lost."""
    side = FINER * CELLS
    h = plane.middles(REACH, side).flatten(0, 1)
    total, maps = h.new_zeros(len(h)), [log_base(h).exp()]
    gap = float(times[1] - times[0])
    one = layer(result, "rk4", 3, gap)
    for _ in times[1:]:  # one gap further back each time: the field does not change with t
        (h, ladj), _ = one.flow(h, gap, 0.0)
        total = total + ladj
        maps.append((log_base(h) + total).exp())
    return torch.stack(maps).reshape(len(times), side, side)


@dataclass(frozen=True)
class Cost:
    """Calls of the field, and the error of the end point, by number of steps (or by tolerance)."""

    calls: list[int]
    errors: list[float]


@torch.inference_mode()
def costs(
    result: nn.Module, time: float, point: tuple[float, float], truth: Tensor | None = None
) -> dict[str, Cost]:
    """Every solver against RK4 in FINE steps, or against the `truth`, the `end` where it is known."""
    start = torch.tensor([point], dtype=torch.float64)
    truth = end(result, time, point) if truth is None else truth
    results = {}
    for name in ("euler", "rk4"):
        arrived = [arrive(result, start, name, n, time) for n in COUNTS]  # type: ignore[arg-type]
        results[name] = Cost([c for _, c in arrived], [off(h, truth) for h, _ in arrived])
    runs = [layer(result, "dopri5", 1, time, 10.0**-k).flow(start, 0.0, time) for k in (2, 3, 4, 5, 6, 7, 8)]
    results["dopri5"] = Cost([c for _, c in runs], [off(r[0], truth) for r, _ in runs])
    return results


def off(h: Tensor, truth: Tensor) -> float:
    return max(1e-16, float((h - truth).abs().max()))


def true_ladj(result: nn.Module, time: float, point: tuple[float, float]) -> float:
    start = torch.tensor([point], dtype=torch.float64)
    return float(layer(result, "rk4", FINE, time).flow(start, 0.0, time)[0][1])


def trace(result: nn.Module, h: Tensor) -> float:
    """tr ∂f/∂h at a point (2,)."""
    return float(result.divergence(0.0, h[None], unit_vectors(h[None]))[1])  # type: ignore[operator]


def captions(run: Ride) -> list[str]:
    return [
        f"t = {float(t):.2f}: the marked point is at ({float(h[0]):.3f}, {float(h[1]):.3f}); "
        f"mass in the window {float(m):.4f}."
        for t, h, m in zip(run.times, run.marked, run.mass, strict=True)
    ]


def equations(run: Ride) -> list[str]:
    start = float(log_base(run.marked[0]))
    return [rf"\log p_t = {start:.4f} - ({float(d):.4f}) = {start - float(d):.4f}" for d in run.ladj]


@torch.inference_mode()
def end(result: nn.Module, time: float, point: tuple[float, float]) -> Tensor:
    """Position of a point at T, by RK4 in FINE steps, (2,)."""
    return arrive(result, torch.tensor([point], dtype=torch.float64), "rk4", FINE, time)[0][0]


def arrive(results: nn.Module, h: Tensor, solver: Solver, steps: int, time: float) -> tuple[Tensor, int]:
    """Positions at T of points h (N, 2) by fixed steps, without densities; and the calls of the field."""
    (result,), calls = solve(lambda t, state: (results(t, state[0]),), (h,), 0.0, time, solver, steps)
    return result, calls
