"""RNADE trained on points that are drawn by hand."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.autoregressive.rnade import RNADE

RATE = 0.02


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
    result = Fit(model)
    for done, loss in training_steps(lambda: -model.log_prob(x).mean(), optimizer, steps, schedule):
        result.losses.append(loss)
        if done and (done % 5 == 0 or done == steps):
            yield done / steps, result
