"""A density of the plane from a latent variable of one dimension: a Gaussian for every z, along a curve.

    z ~ N(0, 1),   x|z ~ N(f(z), σ² I),   p(x) = ∫ N(x; f(z), σ² I) N(z; 0, 1) dz:  a mixture without end

A nonlinear f leaves no closed form; with one latent dimension a fine grid of z is exact enough to be referee.

References: [UDL] §17.2 and figs. 17.2–17.4.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lab.lenses import typed as read
from modules.latent.elbo import Grid, log_normal

REACH = 4.5  # the window is [-REACH, REACH]²
CELLS = 70  # of the density's map, a side
EDGE = 4.0  # z on the grid, from -EDGE
DRAWS = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 700, 1000]
Curve = Callable[[Tensor], Tensor]  # z (N,) -> (N, 2)


def loop(z: Tensor) -> Tensor:
    return torch.stack([0.7 * z - 1.5 * (1.6 * z).sin(), -1.8 * (1.6 * z).cos()], 1)


def horseshoe(z: Tensor) -> Tensor:
    return 2.5 * torch.stack([-(0.9 * z).cos(), (0.9 * z).sin()], 1)


def spiral(z: Tensor) -> Tensor:
    radius = 0.55 * (z + 3).clamp(min=0)
    return radius[:, None] * torch.stack([(1.8 * z).cos(), (1.8 * z).sin()], 1)


def line(z: Tensor) -> Tensor:
    return torch.stack([1.2 * z, 0.6 * z], 1)


def crossing() -> tuple[float, float]:
    """Point at which `loop` meets itself, by bisection of 0.7 z = 1.5 sin 1.6 z in (1, 1.9)."""
    low, high = 1.0, 1.9
    for _ in range(50):
        z = (low + high) / 2
        low, high = (z, high) if 0.7 * z < 1.5 * math.sin(1.6 * z) else (low, z)
    return 0.0, -1.8 * math.cos(1.6 * low)


# Each curve with the point that is asked about at first.
CURVES: dict[str, tuple[Curve, tuple[float, float]]] = {
    "loop": (loop, crossing()),
    "horseshoe": (horseshoe, (-2.5, 0.0)),
    "spiral": (spiral, (1.65, 0.0)),
    "line": (line, (1.2, 0.6)),
}


def typed(text: str) -> tuple[Tensor, str]:
    """Corners (N, 2) of "1, 2; 3, 0", and a sentence that names the first that is none."""
    result, texts = read.points(text, REACH, 30, lines=False)
    return torch.tensor(result, dtype=torch.float64).reshape(-1, 2), texts


def polyline(corners: Tensor) -> Curve:
    """Straight from corner to corner (N, 2) while z goes from -2 to 2; beyond it stays at the ends.

    Raises:
        ValueError: fewer than two corners.
    """
    if len(corners) < 2:
        raise ValueError("A curve needs two corners at least: write them as 1, 2; 3, 0.")

    def curve(z: Tensor) -> Tensor:
        place = ((z.clamp(-2, 2) + 2) / 4 * (len(corners) - 1)).clamp(max=len(corners) - 1 - 1e-9)
        left = place.floor().long()
        share = (place - left)[:, None]
        return (1 - share) * corners[left] + share * corners[left + 1]

    return curve


def middle(curve: Curve) -> tuple[float, float]:
    """f(0)."""
    first, second = curve(torch.zeros(1, dtype=torch.float64))[0].tolist()
    return first, second


def path(curve: Curve, reach: float = 2.5, count: int = 200) -> Tensor:
    """f(z) from −reach to reach, (count, 2)."""
    return curve(torch.linspace(-reach, reach, count, dtype=torch.float64))


def posterior(curve: Curve, sigma: float, x: tuple[float, float]) -> Grid:
    """p(z | x) on a grid of z."""
    at = torch.tensor(x, dtype=torch.float64)

    def log_joint(z: Tensor) -> Tensor:
        return log_normal(at, curve(z), sigma**2).sum(-1) + log_normal(z, 0.0, 1.0)

    return Grid.of(log_joint, -EDGE, EDGE, 1601)


def modes(grid: Grid) -> Tensor:
    """z of every hump of the posterior that is above a hundredth of the highest."""
    p = grid.posterior
    top = p[1:-1]
    result = (top > p[:-2]) & (top >= p[2:]) & (top > 0.01 * p.max())
    return grid.z[1:-1][result]


def density(curve: Curve, sigma: float, cells: int = CELLS) -> Tensor:
    """p(x) on the middles of the window's cells, (cells, cells), row = x₂ upwards: a sum over z."""
    z = torch.linspace(-EDGE, EDGE, 321, dtype=torch.float64)
    weights = log_normal(z, 0.0, 1.0).exp() * (z[1] - z[0])
    axis = (torch.arange(cells, dtype=torch.float64) + 0.5) * (2 * REACH / cells) - REACH
    f = curve(z)
    first, second = (log_normal(axis[:, None], f[:, i], sigma**2).exp() for i in (0, 1))  # (cells, Z)
    return (second * weights) @ first.T  # the noise of both coordinates is independent


def draws(curve: Curve, sigma: float, seed: int) -> tuple[Tensor, Tensor]:
    """A thousand z (N,), and an x (N, 2) of each."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(DRAWS[-1], generator=generator, dtype=torch.float64)
    return z, curve(z) + sigma * torch.randn(len(z), 2, generator=generator, dtype=torch.float64)


def at_points(curve: Curve, sigma: float, x: Tensor) -> Tensor:
    """log p of points x (N, 2), (N,), by the same sum."""
    z = torch.linspace(-EDGE, EDGE, 321, dtype=torch.float64)
    log_weights = log_normal(z, 0.0, 1.0) + (z[1] - z[0]).log()
    return (log_normal(x[:, None], curve(z), sigma**2).sum(-1) + log_weights).logsumexp(1)
