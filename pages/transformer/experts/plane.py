"""Experts that learn in the plane: a router divides it among them, with or without the balancing loss.

    balance = E Σ_i f_i P_i

Shapes: F frames; E experts; G places a side of the map; N points.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.bench.experts import DEAD
from lab.seeding import seeded
from modules.transformer.experts import Experts, record_routing
from modules.transformer.experts import balance as balancing
from pages.transformer.experts.room import NONE

STEPS, EVERY = 400, 20
POINTS, SIDE, HIDDEN, RATE, AHEAD = 600, 41, 8, 0.02, 4.0


@dataclass(frozen=True)
class Plane:
    """
    Attributes:
        map: (F, G, G), likeliest expert at each place, from 0.
        loads, kept: (F, E), shares of the points that chose an expert, and that it took.
        losses, balances: (F,).
    """

    map: Tensor
    loads: Tensor
    kept: Tensor
    losses: Tensor
    balances: Tensor

    @property
    def dead(self) -> list[int]:
        return (self.loads < DEAD).sum(1).tolist()


def target(x: Tensor) -> Tensor:
    """What is to be learned, (N, 2) -> (N,): in each of eight sectors a plane of another slope."""
    sector = ((torch.atan2(x[:, 1], x[:, 0]) + torch.pi) / (torch.pi / 4)).long().clamp(0, 7)
    generator = torch.Generator().manual_seed(7)
    slopes = torch.randn(8, 2, generator=generator) * 2
    return (slopes[sector] * x).sum(1)


def featured(x: Tensor) -> Tensor:
    """(x_1, x_2, 1): the constant stands for biases."""
    return torch.cat([x, torch.ones(len(x), 1)], 1)


def learn(experts: int, active: int, balance: float, biased: bool, capacity: str, seed: int) -> Iterator[Any]:
    """Train one layer of experts; a frame every EVERY steps."""
    layer = seeded(
        lambda: Experts(3, HIDDEN, experts, active, capacity=None if capacity == NONE else float(capacity),
                        router_start=AHEAD if biased else None), seed,
    )  # fmt: skip
    x = torch.rand(POINTS, 2, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    y, axis = target(x), torch.linspace(-1, 1, SIDE)
    places = featured(torch.cartesian_prod(axis, axis).flip(1))  # rows are heights
    tokens = featured(x)
    optimizer = torch.optim.Adam(layer.parameters(), RATE)
    for step in range(STEPS + 1):
        with record_routing() as seen:
            loss = (layer(tokens)[:, 0] - y).square().mean()
        routing = seen.calls[layer][0]
        spread = balancing(routing)
        if step % EVERY == 0:
            with torch.no_grad():
                likeliest = layer.route(places).chosen[:, 0].view(SIDE, SIDE)
            yield likeliest, routing.load, routing.taken, loss.detach(), spread.detach()
        optimizer.zero_grad()
        (loss + balance * spread).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def learned(experts: int, active: int, balance: float, biased: bool, capacity: str, seed: int) -> Plane:
    """All frames of a training, which takes about a second."""
    frames = list(learn(experts, active, balance, biased, capacity, seed))
    return Plane(*(torch.stack(column) for column in zip(*frames, strict=True)))


def captions(one: Plane) -> list[str]:
    results = []
    for f, (load, kept, dead) in enumerate(zip(one.loads, one.kept, one.dead, strict=True)):
        dropped = 1 - float(kept.sum())
        lost = f"; {dropped:.0%} of the assignments are dropped" if dropped > 1e-6 else ""
        results.append(
            f"Step {f * EVERY}: the most loaded expert has {float(load.max()):.0%}, "
            f"{dead} of {len(load)} {'is' if dead == 1 else 'are'} dead{lost}."
        )
    return results


def equations(one: Plane) -> list[str]:
    return [
        rf"\mathcal{{L}}={float(loss):.3f},\qquad E\sum_i f_iP_i={float(spread):.2f}"
        for loss, spread in zip(one.losses, one.balances, strict=True)
    ]
