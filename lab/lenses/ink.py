"""A drawing as a density of the plane: even within every pixel, in proportion to its ink."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import points

REACH = 3.0  # the drawing pad covers [-REACH, REACH]²
OWN = "own drawing"


def scattered(picture: Tensor, count: int, seed: int = 0) -> Tensor:
    """Points (count, 2) of the plane, spread evenly over the ink of a drawing (S, S).

    Raises:
        ValueError: there is no ink.
    """
    if not picture.sum() > 0:
        raise ValueError("There is nothing on the pad: draw where the points should lie.")
    side = len(picture)
    generator = torch.Generator().manual_seed(seed)
    cell = torch.multinomial(picture.flatten().double(), count, replacement=True, generator=generator)
    place = torch.stack([cell % side, side - 1 - cell // side], 1)  # columns to the right, rows upwards
    return (place + torch.rand(count, 2, generator=generator)) * (2 * REACH / side) - REACH


def examples(side: int) -> list[tuple[str, Tensor]]:
    """Drawings (side, side) to begin with."""
    u = (torch.arange(side) + 0.5) * 2 / side - 1
    y, x = -u[:, None], u[None, :]  # rows go down
    width = 2 / side
    drawings = {
        "ring": ((x**2 + y**2).sqrt() - 0.65).abs() < width,
        "cross": (x.abs() - y.abs()).abs() < width,
        "wave": (y - 0.6 * (3 * x).sin()).abs() < 1.6 * width,
        "two lines": (y.abs() - 0.5).abs().expand(side, side) < width,
    }
    return [(name, ink.float()) for name, ink in drawings.items()]


def entropy(picture: Tensor) -> float:
    """Entropy of the density that a drawing (S, S) is, in nats: −Σ w log(w / area of a pixel)."""
    share = (picture / picture.sum()).flatten().double()
    area = (2 * REACH / len(picture)) ** 2
    return float(torch.special.entr(share).sum()) + math.log(area)


@dataclass(frozen=True)
class Distribution:
    """Distribution of points of the plane: a shape by name, or a drawing, rows of ink in [0, 1]."""

    name: str
    drawing: tuple[tuple[float, ...], ...] = ()

    def sample(self, count: int, seed: int) -> Tensor:
        """(count, 2)

        Raises:
            ValueError: nothing is drawn.
        """
        if self.name == OWN:
            return scattered(torch.tensor(self.drawing), count, seed)
        return points.sample(self.name, count, seed)[0]  # type: ignore[arg-type]

    @property
    def entropy(self) -> float | None:
        """Differential entropy in nats; None where it is not known."""
        return entropy(torch.tensor(self.drawing)) if self.name == OWN else points.ENTROPY.get(self.name)
