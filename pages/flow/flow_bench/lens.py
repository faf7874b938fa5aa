"""A trained flow of the plane, layer by layer: where a grid and a cloud go, what each layer does to log p.

    log p(x) = log p_Z(z_0) − Σ_l log |det J_{f_l}(z_{l−1})|

Everything in double precision. Shapes: points (N, 2); paths (L + 1, N, 2), from the base to the data.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import plane, quadrature, typed
from lab.lenses.flow_paths import cloud, grid_lines, path
from modules.flow.cnf import Continuous
from modules.flow.flow import Flow
from modules.flow.iresnet import Residual
from modules.flow.naf import NeuralMonotone

REACH, CELLS = 4.0, 160
MOST = 50  # points of the reader
FINER = 5  # points each way in a cell that is taken finely
EQUAL = 1e-3  # two ways to one number are equal up to this
PIECE, ROWS = 500, 20  # points, and rows of the window, between two words of progress
SOON = ("linear-moons", "nice-moons", "spline-moons", "realnvp-eight", "realnvp-moons")  # of the scenes


def width(model: Flow) -> int:
    """Numbers in a row."""
    return math.prod(model.event_shape)


@dataclass(frozen=True)
class Account:
    """log p of points, layer by layer.

    Attributes:
        base: (N,) log p_Z.
        ladj: (L, N) log |det J| of every f_l, the first next to the base.
        missed: (N,) largest |f(f⁻¹(x)) − x| of each point.
        autograd: the largest difference of Σ ladj from autograd's log-determinant of the whole map.
    """

    z: Tensor
    base: Tensor
    ladj: Tensor
    missed: Tensor
    autograd: float

    @property
    def round_trip(self) -> float:
        """The largest |f(f⁻¹(x)) − x| of all points."""
        return float(self.missed.max())

    @property
    def log_prob(self) -> Tensor:
        return self.base - self.ladj.sum(0)

    @property
    def partial(self) -> Tensor:
        """log p as far as each layer, (L + 1, N), from the base on."""
        return torch.cat([self.base[None], self.base - self.ladj.cumsum(0)])


def account(model: Flow, x: Tensor) -> Account:
    """Contribution of each layer to log p of x (N, 2)."""
    steps = list(model.normalizing(x))
    z = steps[-1][0]
    ladj = -torch.stack([ladj for _, ladj in reversed(steps)])
    back = model.decode(z)
    jacobian = torch.stack(
        [torch.autograd.functional.jacobian(lambda v: model.decode(v[None])[0], one) for one in z]  # type: ignore[no-untyped-call]
    )
    difference = ladj.sum(0) - torch.linalg.slogdet(jacobian).logabsdet
    return Account(z, model.log_base(z), ladj, (back - x).abs().amax(1), float(difference.abs().max()))


def doubt(model: Flow, x: Tensor, result: Account) -> str:
    """Reason why the two ways differ by more than `EQUAL`, in a sentence; "" where they do not."""
    if max(result.round_trip, result.autograd) <= EQUAL:  # NaN is not equal either
        return ""
    solved = next((part for part in model.modules() if isinstance(part, Continuous)), None)
    if solved is not None:
        return (
            f"The way back misses by {result.round_trip:.1e}: each way is a solver's, to a tolerance of "
            f"{solved.tolerance:g} per step, and in double precision none is nearer. "
        )
    worst = int(result.missed.argmax() if result.round_trip > EQUAL else result.log_prob.argmin())
    return (
        f"At ({float(x[worst, 0]):g}, {float(x[worst, 1]):g}) log p is {float(result.log_prob[worst]):,.0f}: "
        "so far from the data, in double precision, both ways differ by more than 0.001. "
    )


def window() -> Tensor:
    """Middles of the cells of [-REACH, REACH]², (CELLS, CELLS, 2), row = x_2 upwards."""
    return plane.middles(REACH, CELLS)


@torch.no_grad()
def log_density(model: Flow, x: Tensor) -> Tensor:
    """log p of x (R, C, 2), (R, C)."""
    return model.log_prob(x.flatten(0, 1)).view(x.shape[:2])


def mass_of(log_p: Tensor) -> float:
    """Mass of a density over the window's cells, (CELLS, CELLS)."""
    return float(log_p.exp().sum() * (2 * REACH / len(log_p)) ** 2)


@torch.no_grad()
def mass(model: Flow, log_p: Tensor) -> float:
    """∫ p over the window; cells in which p bends are taken finely, FINER points each way."""
    p, step = log_p.exp(), 2 * REACH / CELLS
    cells = quadrature.bending_cells(p, step)
    points = quadrature.subdivided(window().flatten(0, 1)[cells], step, FINER)
    p = p.flatten()
    p[cells] = log_density(model, points).exp().mean(1)
    return float(p.sum()) * step**2


@dataclass(frozen=True)
class Ground:
    """Everything that does not depend on the reader's points: the `path`s of `grid_lines` and `cloud`, and
    log p over the `window`, (CELLS, CELLS), with its mass."""

    grid: Tensor
    cloud: Tensor
    log_p: Tensor
    mass: float


def ground(model: Flow) -> Iterator[tuple[float, Ground]]:
    """Piece by piece: the cloud, the grid as far as it has come, and last the density, NaN before."""
    pieces, grid = grid_lines().split(PIECE), []
    drawn, log_p = path(model, cloud()), torch.full((CELLS, CELLS), torch.nan, dtype=torch.float64)
    for number, z in enumerate(pieces, start=1):
        grid.append(path(model, z))
        yield 0.6 * number / len(pieces), Ground(torch.cat(grid, 1), drawn, log_p, math.nan)
    places = window()
    for first in range(0, CELLS, ROWS):
        log_p[first : first + ROWS] = log_density(model, places[first : first + ROWS])
        done, last = (first + ROWS) / CELLS, first + ROWS >= CELLS
        total = mass(model, log_p) if last and quick(model) else mass_of(log_p)
        yield 0.6 + 0.4 * done, Ground(torch.cat(grid, 1), drawn, log_p, total)


def quick(model: Flow) -> bool:
    """True where its ground takes a moment: no equation is integrated and no root searched for long."""
    return not any(isinstance(part, Continuous | Residual | NeuralMonotone) for part in model.modules())


def read_points(text: str) -> tuple[Tensor, str]:
    """Points of a text, two numbers a line, (N, 2), and a sentence on what is left out, else "".

    Raises:
        UserError: no line is a point.
    """
    points, wrong = typed.points(text, REACH, MOST)
    if not points:
        raise UserError(wrong or "There is no point: type two numbers a line.")
    return torch.tensor(points, dtype=torch.float64), wrong
