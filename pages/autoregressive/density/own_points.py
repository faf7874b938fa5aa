"""RNADE trained on points that are drawn by hand."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.autoregressive.rnade import RNADE

RATE = 0.02
OWN_REACH = 3.0  # the drawing pad covers [-OWN_REACH, OWN_REACH]²


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
    return (place + torch.rand(count, 2, generator=generator)) * (2 * OWN_REACH / side) - OWN_REACH


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


def gaps(picture: Tensor) -> int:
    """The most pieces into which the ink of any column of a drawing (S, S) falls."""
    ink = picture > 0
    above = torch.cat([torch.zeros_like(ink[:1]), ink[:-1]])
    return int((ink & ~above).sum(0).max())


@dataclass
class Fit:
    """A model in training.

    Attributes:
        losses: mean -log p of the points before the first step and after each, nats.
    """

    model: RNADE
    losses: list[float] = field(default_factory=list)


def fit(
    x: Tensor, components: int, hidden: int = 32, steps: int = 400, seed: int = 0
) -> Iterator[tuple[float, Fit]]:
    """Train an RNADE on points (N, 2), all at once in each step; yields the share done and the fit so far."""
    model = seeded(lambda: RNADE(event_shape=(2,), hidden=hidden, components=components), seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    found = Fit(model)
    for done, loss in training_steps(lambda: -model.log_prob(x).mean(), optimizer, steps, schedule):
        found.losses.append(loss)
        if done and (done % 5 == 0 or done == steps):
            yield done / steps, found
