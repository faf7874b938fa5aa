"""Two small networks, one with skips, trained as the page opens, and the loss around their weights.

Blocks of two dense layers on MNIST-1D, the same batches for both, gradient descent with momentum, gradients
clipped at a norm of 1. A slice is of the loss on the first 128 training curves, at 21 × 21 places.

Shapes: S places on each axis, F states of the training.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.mnist1d import MNIST1D
from lab.lenses import stock
from lab.seeding import seeded
from modules.convolution import loss_surface
from modules.convolution.loss_surface import Direction, Kind
from modules.convolution.residual import Scale
from modules.convolution.residual_mlp import ResidualMLP
from pages.convolution.loss_surface.room import (
    BATCH,
    HALF,
    LOOKS,
    NETWORKS,
    SHARE,
    STRIDE,
    TENTHS,
    WITH,
    WITHOUT,
)

WIDTH, BATCH_SIZE, RATE, SHOWN, SIDE = 32, 100, 0.05, 128, 2 * TENTHS + 1
SCALES: dict[str, Scale] = {BATCH: "none", SHARE: "depth", HALF: "half"}
Norm = Literal["batch", "none"]
ROOM_LEFT = 0.25  # around a path, of its size


@dataclass(frozen=True)
class Trained:
    """A network after its training.

    Attributes:
        states: parameters at the F looks, the last those of the model.
        losses: (F,), on the shown curves, with the averages that batch norm had then.
        error: share of the test curves that it gets wrong.
    """

    name: str
    model: ResidualMLP
    states: list[dict[str, Tensor]]
    losses: Tensor
    error: float


def shown() -> tuple[Tensor, Tensor]:
    """Curves (128, 1, 40) and their classes, of which the loss is shown."""
    x, y = stock.examples(MNIST1D, "train")
    return x[:SHOWN], y[:SHOWN]


def network(name: str, held: str, layers: int) -> ResidualMLP:
    """Blocks of two layers: `layers` layers, and one before and behind."""
    build = partial(ResidualMLP, width=WIDTH, blocks=layers // 2, block_depth=2)
    norm: Norm = "batch" if held == BATCH else "none"
    return build(norm=norm, shortcut="none") if name == WITHOUT else build(norm=norm, scale=SCALES[held])


def fitted(name: str, held: str, layers: int, seed: int) -> Trained:
    """One of the two networks."""
    x, y = stock.examples(MNIST1D, "train")
    model = seeded(lambda: network(name, held, layers), seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, fused=True)
    generator = torch.Generator().manual_seed(seed)
    states, losses = [], []
    for look in LOOKS:
        model.train()
        for _ in range(STRIDE if look else 0):
            batch = torch.randint(len(x), (BATCH_SIZE,), generator=generator)
            loss = F.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        states.append({n: p.clone() for n, p in loss_surface.values(model).items()})
        with torch.no_grad():
            losses.append(loss_surface.loss_at(model.eval(), x[:SHOWN], y[:SHOWN], states[-1]))
    model.requires_grad_(False)
    unseen, answers = stock.examples(MNIST1D, "test")
    with torch.no_grad():
        error = float((model(unseen).argmax(1) != answers).double().mean())
    return Trained(name, model, states, torch.stack(losses), error)


def trained(held: str, layers: int, seed: int) -> tuple[Trained, Trained]:
    """The network without skips, and the one with them."""
    first, second = (fitted(name, held, layers, seed) for name in NETWORKS)
    return first, second


# --- Slices ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slices:
    """The loss of two networks around their weights.

    Attributes:
        names: of the two.
        places: (S,), α and β.
        losses: (2, S, S), α along the rows.
        curvatures: mean of dᵀHd over both directions, of each network.
    """

    names: tuple[str, str]
    places: Tensor
    losses: Tensor
    curvatures: tuple[float, float]

    @property
    def centres(self) -> list[float]:
        """The loss at θ*, of each network."""
        return [float(one[TENTHS, TENTHS]) for one in self.losses]

    @property
    def bends(self) -> list[float]:
        """Share of the places where a slice is not convex, of each network."""
        return [float(loss_surface.bends_down(one).double().mean()) for one in self.losses]

    @property
    def spreads(self) -> list[float]:
        """Variance of each slice over the inner half of the range, where corners do not decide."""
        inner = slice(TENTHS // 2, SIDE - TENTHS // 2)
        return [float(one[inner, inner].var()) for one in self.losses]


def pair(models: dict[str, ResidualMLP], filters: bool, reach: float, draw: int) -> Slices:
    """Slices of two networks along the same draws of two directions."""
    x, y = shown()
    kind: Kind = "filter" if filters else "raw"
    places = reach * torch.arange(-TENTHS, TENTHS + 1) / TENTHS
    losses, bent = [], []
    for model in models.values():
        both = [loss_surface.direction(model, kind, 2 * draw + i) for i in (0, 1)]
        losses.append(loss_surface.loss_slice(model, x, y, both[0], both[1], places, places).double())
        bent.append(sum(loss_surface.curvature(model, x, y, one) for one in both) / 2)
    first, second = models
    return Slices((first, second), places, torch.stack(losses), (bent[0], bent[1]))


def slices(networks: tuple[Trained, Trained], filters: bool, reach: float, draw: int) -> Slices:
    """Both networks."""
    return pair({one.name: one.model for one in networks}, filters, reach, draw)


def same(
    networks: tuple[Trained, Trained], which: str, filters: bool, reach: float, draw: int, factor: int
) -> Slices:
    """One network, and the same function with the layers of its first block multiplied and divided."""
    model = networks[which == WITH].model
    other = loss_surface.rescaled(model, *layers_of(model), factor)
    return pair({which: model, f"the same function, c = {factor}": other}, filters, reach, draw)


def layers_of(model: ResidualMLP) -> tuple[str, str]:
    """Names of the two dense layers of the first block."""
    names = [name for name, m in model.named_modules() if isinstance(m, torch.nn.Linear)]
    return names[1], names[2]


# --- Path --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Walked:
    """A training path on the plane that lies nearest to it.

    Attributes:
        name: of the network.
        x, y: (S,), places along the two directions.
        losses: (S, S) on the plane, rows along x.
        path: (F, 2).
        share: of the path's squared distances, how much lies on the plane.
        true: (F,), the loss at the states themselves.
        random: the same share of a plane of two random directions, filter-normalised.
    """

    name: str
    x: Tensor
    y: Tensor
    losses: Tensor
    path: Tensor
    share: float
    true: Tensor
    random: float


def window(values: Tensor) -> Tensor:
    """Places (S,) that have the values (F,) within, and some room."""
    low, high = float(values.min()), float(values.max())
    room = ROOM_LEFT * (high - low) or 1.0
    return torch.linspace(low - room, high + room, SIDE)


def share_on(states: list[dict[str, Tensor]], first: Direction, second: Direction) -> float:
    """How much of the squared distances of states from the last one lies on a plane."""
    rows = torch.stack([torch.cat([p.flatten() for p in state.values()]) for state in states])
    left = rows - rows[-1]
    basis, _ = torch.linalg.qr(
        torch.stack([torch.cat([p.flatten() for p in one.values()]) for one in (first, second)], 1)
    )
    return float((left @ basis).square().sum() / left.square().sum())


def walked(networks: tuple[Trained, Trained]) -> tuple[Walked, Walked]:
    """The paths of both networks."""
    x, y = shown()
    results = []
    for one in networks:
        plane = loss_surface.path_plane(one.states)
        across, up = (window(plane.places[:, i]) for i in (0, 1))
        losses = loss_surface.loss_slice(one.model, x, y, plane.first, plane.second, across, up).double()
        drawn = [loss_surface.direction(one.model, seed=i) for i in (0, 1)]
        random = share_on(one.states, *drawn)
        results.append(Walked(one.name, across, up, losses, plane.places, plane.share, one.losses, random))
    return results[0], results[1]


def losses_of(pair: tuple[Walked, Walked]) -> Tensor:
    """(2, S, S) on the planes of both paths."""
    return torch.stack([one.losses for one in pair])
