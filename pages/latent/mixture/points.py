"""The points that a mixture is fitted to: sets to begin with, and the reader's own."""

from collections.abc import Callable

import torch
from torch import Tensor

from datamodules import points as shapes
from lab.lenses import typed as read
from modules.latent.mixture import GaussianMixture

COUNT = 150  # points of a set
MOST = 600  # of the reader's own
FARTHEST = 1e6  # of a coordinate


def clusters(count: int, seed: int) -> Tensor:
    """Three Gaussians of unequal weight, size and slant, (count, 2)."""
    truth = GaussianMixture(components=3)
    truth.set_parameters(
        torch.tensor([0.5, 0.3, 0.2]),
        torch.tensor([[-1.6, -1.0], [1.8, -0.6], [0.2, 2.0]]),
        torch.tensor([[[0.6, 0.35], [0.35, 0.4]], [[0.15, 0.0], [0.0, 0.9]], [[0.5, -0.2], [-0.2, 0.15]]]),
    )
    return truth.sample(count, generator=torch.Generator().manual_seed(seed))


def lone(count: int, seed: int) -> Tensor:
    """Two round clusters of 30 points a side, and one point alone; more is more of the clusters."""
    generator = torch.Generator().manual_seed(seed)
    side = (torch.arange(min(count, 60)) % 2)[:, None] * 3.0 - 1.5
    cloud = 0.5 * torch.randn(len(side), 2, generator=generator) + side * torch.tensor([1.0, 0.0])
    return torch.cat([cloud, torch.tensor([[0.0, 3.4]])]).double()


def shape(name: shapes.Shape) -> Callable[[int, int], Tensor]:
    return lambda count, seed: shapes.sample(name, count, seed)[0].double()


SETS: dict[str, Callable[[int, int], Tensor]] = {
    "three clusters": clusters,
    "two and a lone point": lone,
    "moons": shape("moons"),
    "rings": shape("rings"),
    "eight clusters": shape("eight_gaussians"),
    "pinwheel": shape("pinwheel"),
    "own points alone": lambda count, seed: torch.empty(0, 2, dtype=torch.float64),
}


def typed(text: str) -> tuple[Tensor, str]:
    """Points (N, 2) of lines "1.2, 0.5" or of a table, and a sentence on what is left out ("" for nothing).

    A first line of names is passed over; of more than two columns the first two count.
    """
    result, texts = read.points(text, FARTHEST, MOST)
    return torch.tensor(result, dtype=torch.float64).reshape(-1, 2), texts


def window(x: Tensor) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of both axes: the points and a margin, [-4.5, 4.5] if they are near."""
    if len(x) == 0 or float(x.abs().max()) <= 4:
        return (-4.5, 4.5), (-4.5, 4.5)
    middle, half = (x.amax(0) + x.amin(0)) / 2, 0.6 * float((x.amax(0) - x.amin(0)).max().clamp(min=1))
    (a, b), (c, d) = ((float(m) - half, float(m) + half) for m in middle)
    return (a, b), (c, d)


def together(name: str, own: Tensor) -> Tensor:
    """A set and the reader's own points, (N, 2)."""
    return torch.cat([SETS[name](COUNT, 0), own])


def halved(name: str, own: Tensor) -> tuple[Tensor, Tensor]:
    """Points to fit and points held out: of a set its own draw of 600, of the reader's every third."""
    held = torch.arange(len(own)) % 3 == 2
    return torch.cat([SETS[name](COUNT, 0), own[~held]]), torch.cat([SETS[name](4 * COUNT, 1), own[held]])
