"""Fixed points by iteration: z ← f(z), and z ← y − f(z), which solves y = z + f(z) where |f'| ≤ β < 1.

A residual block z + f(z) is inverted so. The error falls at least by β a step; close to the solution z* by
|f'(z*)|. With β > 1 the iteration may leave the solution, and there may be several solutions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.flow.iresnet import NotConverged, fixed_point

STEPS = 30
CLOSE = 1e-12
PIECES = 4.0  # typed slopes share [−PIECES, PIECES]; the outer ones go on beyond
SEARCHED = 40.0  # in [−SEARCHED, SEARCHED] solutions are looked for by their signs; beyond, on straight lines
Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Function:
    """f, the bound β of its slope, and how it is written in LaTeX and in Python around a number."""

    of: Map
    steepest: float
    latex: str
    python: str


def function(name: str, beta: float, slopes: list[float]) -> Function:
    """One of a small set, or piecewise linear with f(0) = 0 of typed slopes."""
    if name == "β sin z":
        return Function(lambda z: beta * z.sin(), beta, rf"{beta:g}\sin({{}})", f"{beta} * math.sin(z)")
    if name == "β tanh z":
        return Function(lambda z: beta * z.tanh(), beta, rf"{beta:g}\tanh({{}})", f"{beta} * math.tanh(z)")
    if name == "β z":
        return Function(lambda z: beta * z, beta, rf"{beta:g}\cdot({{}})", f"{beta} * z")
    return Function(piecewise(slopes), max(abs(s) for s in slopes), "f({})", "")


def piecewise(slopes: list[float]) -> Map:
    """The continuous function with these slopes on equal parts of [−PIECES, PIECES], 0 at 0."""
    knots = torch.linspace(-PIECES, PIECES, len(slopes) + 1, dtype=torch.float64)
    slope = torch.tensor(slopes, dtype=torch.float64)
    heights = torch.cat([slope.new_zeros(1), (slope * knots.diff()).cumsum(0)])

    def raw(z: Tensor) -> Tensor:
        at = torch.bucketize(z, knots[1:-1])
        return heights[at] + slope[at] * (z - knots[at])

    middle = raw(torch.zeros((), dtype=torch.float64))
    return lambda z: raw(z) - middle


@dataclass(frozen=True)
class Iteration:
    """z_{k+1} = g(z_k).

    Attributes:
        path: (STEPS + 1,) iterates; NaN once they have left ±1e6.
        target: the solution that errors are measured from, z = g(z).
        errors: (STEPS + 1,) |z_k − target|.
        solutions: all.
        settled: steps until the error is at most CLOSE; None if that is not reached in 1,000.
    """

    path: Tensor
    target: float
    errors: Tensor
    solutions: list[float]
    settled: int | None

    @property
    def many(self) -> str:
        """Number of solutions, in words."""
        count = len(self.solutions)
        return "endlessly many solutions" if count > 1000 else f"{count} solution{'s' * (count != 1)}"

    def ratio(self, k: int) -> float:
        """Error of step k over the one before; NaN where rounding is all that is left of it."""
        before = float(self.errors[k - 1]) if k else math.nan
        return float(self.errors[k]) / before if before > 1e-13 else math.nan


def iterate(g: Map, start: float) -> Iteration:
    z = torch.tensor(start, dtype=torch.float64)
    results = [z]
    for _ in range(STEPS):
        z = g(z)
        z = z if abs(float(z)) < 1e6 else z * math.nan
        results.append(z)
    path = torch.stack(results)
    roots = solutions(g)
    last = float(path[-1]) if path[-1].isfinite() else start
    try:
        target, _ = fixed_point(g, results[0], tolerance=1e-15, most=5000)
        nearest = float(target)
    except NotConverged:
        nearest = min(roots, key=lambda r: abs(r - last), default=math.nan)
    return Iteration(path, nearest, (path - nearest).abs(), roots, settling(g, start, nearest))


def settling(g: Map, start: float, target: float, most: int = 1000) -> int | None:
    z = torch.tensor(start, dtype=torch.float64)
    for k in range(most + 1):
        if abs(float(z) - target) <= CLOSE:
            return k
        z = g(z)
    return None


def solutions(g: Map, cells: int = 80_001) -> list[float]:
    """Every z with g(z) = z: by sign changes on a grid and bisection; beyond it, where g either goes on as a
    straight line or is bounded and has none, by the line's crossing."""
    grid = torch.linspace(-SEARCHED, SEARCHED, cells, dtype=torch.float64)
    off = grid - g(grid)
    hits = grid[off == 0].tolist()
    change = (off[:-1] * off[1:] < 0).nonzero()[:, 0]
    low, high = grid[change], grid[change + 1]
    for _ in range(60):
        middle = (low + high) / 2
        same = (middle - g(middle)) * (low - g(low)) > 0
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    return sorted([*hits, *((low + high) / 2).tolist(), *beyond(g)])


def beyond(g: Map) -> list[float]:
    """Fixed points outside of the window, where g is a line on either side."""
    results = []
    for end in (-SEARCHED, SEARCHED):
        at = torch.tensor([end, 2 * end], dtype=torch.float64)
        near, far = (at - g(at)).tolist()
        z = end - near * end / (far - near) if far != near else math.nan
        missed = float((g(at.new_tensor(z)) - z).abs())
        if z / end > 1 and missed < 1e-9 * abs(z):  # of a bounded g the two points are on no line
            results.append(z)
    return results


def cobweb(path: Tensor) -> tuple[Tensor, Tensor]:
    """The staircase of a path up to every step: x and y, (STEPS + 1, 2 STEPS + 1), NaN where not yet drawn.

    From (z_0, z_0) up to the curve at (z_0, z_1), across to the diagonal at (z_1, z_1), and so on.
    """
    twice = path.repeat_interleave(2)
    x, y = twice[:-1], torch.cat([path[:1], twice[2:]])
    drawn = torch.arange(len(x)) <= 2 * torch.arange(len(path))[:, None]
    return torch.where(drawn, x, math.nan), torch.where(drawn, y, math.nan)


def window(run: Iteration) -> tuple[float, float]:
    """The picture's ends: all of the path and the solutions near it, if they are not too far out."""
    path = run.path[run.path.abs() < 9].tolist()
    results = [*path, *(r for r in run.solutions[:50] if abs(r) < 9)]
    middle = (max(results) + min(results)) / 2
    reach = max(0.62 * (max(results) - min(results)), 0.5)
    return middle - reach, middle + reach


def curve(g: Map, ends: tuple[float, float], cells: int = 401) -> tuple[Tensor, Tensor]:
    """The curve of g between two ends: x and g(x), (cells,)."""
    x = torch.linspace(*ends, cells, dtype=torch.float64)
    return x, g(x)


# --- What is said of it ---------------------------------------------------------------------------


def captions(run: Iteration, bound: list[float]) -> list[str]:
    """A sentence for every step: the error, and what became of the one before."""
    texts = []
    for k, z in enumerate(run.path.tolist()):
        if math.isnan(z):
            texts.append(f"Step {k}: it has left the numbers; there is nothing to wait for.")
        elif k == 0:
            texts.append(f"Start at z₀ = {z:g}, {float(run.errors[0]):.4g} from the solution.")
        elif math.isnan(ratio := run.ratio(k)):
            texts.append(f"Step {k}: z = {z:.6f}; what is left of the error is rounding.")
        else:
            texts.append(
                f"Step {k}: the error is {float(run.errors[k]):.3g}, {ratio:.3f} times the one before; "
                f"the bound βᵏ gives {bound[k]:.3g}."
            )
    return texts


def equations(run: Iteration, f: Function, y: float | None) -> list[str]:
    """The step that led here with its numbers, LaTeX."""
    z = [f"{v:.6f}" if not math.isnan(v) else r"\text{none}" for v in run.path.tolist()]
    left = "" if y is None else f"{y:g} - "
    texts = [rf"z_0 = {float(run.path[0]):g}"]
    for k in range(1, len(z)):
        texts.append(rf"z_{{{k}}} = {left}{f.latex.format(z[k - 1])} = {z[k]}")
    return texts


def verdict(run: Iteration, steepest: float, solving: bool) -> str:
    """Outcome of the iteration, in one or two sentences."""
    what = "z + f(z) = y" if solving else "f(z) = z"
    steps = "more than 1,000" if run.settled is None else str(run.settled)
    if steepest < 1:
        return (
            f"With a largest slope of {steepest:.2f} < 1 there is exactly one solution, and every start "
            f"reaches it: here in {steps} steps to 1e-12."
        )
    if run.settled is not None:
        return (
            f"A largest slope of {steepest:.2f} promises nothing; from here it settles all the same, after "
            f"{steps} steps. {what} has {run.many}."
        )
    return (
        f"With a largest slope of {steepest:.2f} this iteration does not settle in 1,000 steps, though "
        f"{what} has {run.many}."
    )
