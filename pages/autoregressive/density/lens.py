"""Looking into a density of the plane, p(x_1, x_2) = p(x_1) p(x_2 | x_1), both factors mixtures of Gaussians.

Everything about x_2 follows from x_1 alone, so a whole map is one pass over the values of x_1. σ is a
standard deviation: [GM] 1.5.2 writes N(x; μ, σ) for it, and a code that puts σ where the variance belongs
still integrates to 1, so that only the values give it away (`misread`).

References: Bishop 1994, Mixture density networks; Uria, Murray, Larochelle 2013, arXiv:1306.0186; Theis,
van den Oord, Bethge 2016, arXiv:1511.01844 (dequantisation).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules import points
from lab.experiments import Experiment, find
from lab.lenses import surfaces
from modules.autoregressive.rnade import RNADE

REACH = 4.0  # the window shown is [-REACH, REACH]²
CELLS = 400  # of the window, a side


# --- Shipped models and their data --------------------------------------------------------------


def of_the_plane(experiment: Experiment) -> bool:
    """Check whether an experiment trains RNADE on points of the plane."""
    return surfaces.is_a(experiment, RNADE) and surfaces.is_a(experiment, points.Points, part="data")


def shape_of(name: str) -> points.Shape:
    """The shape that experiment `name` (or a run of it, "name/time") was trained on."""
    return find(name.partition("/")[0]).config["data"]["init_args"]["name"]


def data(shape: points.Shape, count: int) -> Tensor:
    """Points (count, 2) of a shape, those that its test split begins with."""
    return points.sample(shape, count, seed=3)[0]


# --- One section: p(x_2 | x_1) --------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """The conditional density of x_2 at one x_1, a mixture of K Gaussians.

    Attributes:
        weights, means, sigmas: (K,), heaviest first; σ is a standard deviation.
    """

    weights: Tensor
    means: Tensor
    sigmas: Tensor

    def components(self, x: Tensor) -> Tensor:
        """π_k N(x; μ_k, σ_k²) at x (N,), (K, N)."""
        z = (x - self.means[:, None]) / self.sigmas[:, None]
        return self.weights[:, None] * (-0.5 * z**2).exp() / (self.sigmas[:, None] * math.sqrt(2 * math.pi))

    def density(self, x: Tensor) -> Tensor:
        """(N,) -> (N,)"""
        return self.components(x).sum(0)

    def misread(self, x: Tensor) -> Tensor:
        """The density if σ is put where the variance belongs, N(x; μ, σ) instead of N(x; μ, σ²)."""
        return Section(self.weights, self.means, self.sigmas.sqrt()).density(x)

    def at(self, x: float) -> tuple[float, float]:
        """The density at one x, and what `misread` makes of it."""
        here = torch.tensor([x], dtype=torch.float64)
        return float(self.density(here)), float(self.misread(here))

    def modes(self, x: Tensor) -> int:
        """Humps of the density on the grid x (N,): values above both neighbours and 1 % of the highest."""
        p = self.density(x)
        top = p[1:-1]
        return int(((top > p[:-2]) & (top > p[2:]) & (top > 0.01 * p.max())).sum())


@torch.no_grad()
def section(model: RNADE, x1: float) -> Section:
    """p(x_2 | x_1 = x1) in double precision."""
    x = torch.tensor([[x1, 0.0]], dtype=torch.float64).to(model.device, model.dtype)
    log_pi, mean, log_sigma = (t[0, 1].double() for t in model.mixture(model.logits(x)))
    order = log_pi.argsort(descending=True)
    return Section(log_pi[order].exp(), mean[order], log_sigma[order].exp())


PLACES = [round(-3.5 + 0.1 * i, 1) for i in range(71)]  # of x_1 on its way through the plane
SECTION_CELLS = 160  # of a section that moves


def sections(model: RNADE) -> list[Section]:
    """p(x_2 | x_1) at every one of PLACES."""
    return [section(model, x1) for x1 in PLACES]


def swept(parts: Sequence[Section]) -> tuple[Tensor, Tensor]:
    """Densities (F, SECTION_CELLS) and components (F, K, SECTION_CELLS) of sections, on `axis`."""
    components = torch.stack([part.components(axis(cells=SECTION_CELLS)) for part in parts])
    return components.sum(1), components


def term_equation(part: Section, x2: float) -> str:
    """The largest term at x2 with its numbers, and the sum of all, LaTeX."""
    terms = part.components(torch.tensor([x2], dtype=torch.float64))[:, 0]
    k = int(terms.argmax())
    pi, mu, sigma = (float(v[k]) for v in (part.weights, part.means, part.sigmas))
    return (
        rf"\pi_{{{k + 1}}} N(x_2; \mu_{{{k + 1}}}, \sigma_{{{k + 1}}}^2) = "
        rf"\tfrac{{{pi:.3f}}}{{{sigma:.3f}\sqrt{{2\pi}}}}\, "
        rf"e^{{-({x2:.2f} - ({mu:.3f}))^2 / (2 \cdot {sigma:.3f}^2)}} = "
        rf"{float(terms[k]):.4f}, \quad \textstyle\sum_k = {float(terms.sum()):.4f}"
    )


def component_table(part: Section, x2: float) -> dict[str, list[Any]]:
    """The components that weigh more than 0.001, and what each adds at x2."""
    terms = part.components(torch.tensor([x2], dtype=torch.float64))[:, 0]
    heavy = max(1, int((part.weights > 0.001).sum()))
    return {
        "component": list(range(1, heavy + 1)),
        "weight π": [f"{v:.4f}" for v in part.weights[:heavy].tolist()],
        "mean μ": [f"{v:.3f}" for v in part.means[:heavy].tolist()],
        "standard deviation σ": [f"{v:.3f}" for v in part.sigmas[:heavy].tolist()],
        "π N(x₂; μ, σ²)": [f"{v:.4f}" for v in terms[:heavy].tolist()],
    }


def axis(reach: float = REACH, cells: int = CELLS) -> Tensor:
    """Middles of the cells of [-reach, reach], (cells,)."""
    return (torch.arange(cells, dtype=torch.float64) + 0.5) * (2 * reach / cells) - reach


# --- The whole density ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Map:
    """p(x_1, x_2) on the middles of the window's cells.

    Attributes:
        density: (cells, cells), row = x_2 upwards, column = x_1.
        reach: of the window.
    """

    density: Tensor
    reach: float

    @property
    def integral(self) -> float:
        """∫ p over the window, up to the error of the cells."""
        return float(self.density.sum()) * (2 * self.reach / len(self.density)) ** 2

    def coarse(self, side: int) -> Tensor:
        """Means over blocks of cells, (side, side): the same mass on fewer cells."""
        return torch.nn.functional.adaptive_avg_pool2d(self.density[None], side)[0]


@torch.no_grad()
def density_map(model: RNADE, reach: float = REACH, cells: int = CELLS) -> Map:
    """log p(x_1) + log p(x_2 | x_1) for every cell; the parameters of x_2 are one pass over x_1."""
    grid = axis(reach, cells).to(model.device, model.dtype)
    outputs = model.logits(torch.stack([grid, torch.zeros_like(grid)], 1))  # (cells, 2, 3 K)
    first = model.conditional_log_prob(outputs[:, 0], grid)  # (cells,)
    second = model.conditional_log_prob(outputs[:, None, 1], grid.expand(cells, cells))  # (x_1, x_2)
    return Map((first[:, None] + second).exp().t().double(), reach)


def integral(model: RNADE) -> float:
    """∫ p over a plane so wide that nothing is left outside, in cells of the window's size."""
    return density_map(model, 2 * REACH, 2 * CELLS).integral


@torch.no_grad()
def nll(model: RNADE, x: Tensor) -> float:
    """Mean -log p of points (N, 2), nats."""
    return -float(model.log_prob(x.to(model.device, model.dtype)).mean())


def ladder(cards: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[int, float]]:
    """Trained models by name, from their cards: components and test NLL, dearest first within a shape."""
    rows = [
        (
            shape_of(name),
            -card["metrics"]["test/nll"],
            name,
            card["config"]["model"]["init_args"]["components"],
        )
        for name, card in cards.items()
    ]
    return {name: (components, -nll) for _, nll, name, components in sorted(rows)}


def ladder_table(rungs: Mapping[str, tuple[int, float]]) -> dict[str, list[Any]]:
    """Columns, a row a model."""
    return {
        "model": list(rungs),
        "Gaussians a variable": [k for k, _ in rungs.values()],
        "−log p of test points, nats": [f"{v:.3f}" for _, v in rungs.values()],
    }
