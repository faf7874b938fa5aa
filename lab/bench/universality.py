"""Universality: what networks of tokens reach of four targets, and the floors of what they cannot know.

Small stacks without norms read numbers x_i, with or without attention and with or without positions, trained
by Adam on `STEPS` fresh batches (`datamodules.sequence_targets`). A network of single tokens, or one without
positions, reaches the floor of its kind and does not cross it; one layer of attention with learned positions
reaches 0 of mean, first and reverse, and sort needs depth. ALiBi tells distances alone: it has floors too.
"""

import statistics
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.sequence_targets import SequenceTargets, Target
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.transformer.stack import Positions, Stack

BENCH = "universality"
TARGETS: tuple[Target, ...] = ("mean", "first", "sort", "reverse")
SCHEMES: tuple[Positions, ...] = ("sinusoidal", "rotary", "relative", "alibi")  # beside learned and none
SEEDS, LENGTH, WIDTH, HEADS = 3, 4, 32, 4
STEPS, BATCH, RATE = 400, 128, 5e-3
DEPTHS = (1, 2, 3)
HELD_OUT = 4_000


class Network(nn.Module):
    """Numbers x (B, T, 1) -> (B, T, 1) through a stack; without attention each token for itself."""

    def __init__(
        self, length: int, attention: bool, positions: Positions, layers: int = 1, width: int = WIDTH
    ) -> None:
        super().__init__()
        self.read = nn.Linear(1, width)
        self.stack = Stack(
            layers, HEADS, width, length, positions, norm="none", mixer="softmax" if attention else "none"
        )
        self.head = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.stack(self.read(x)))  # type: ignore[no-any-return]


@torch.no_grad()
def error(network: nn.Module, data: SequenceTargets) -> float:
    """Mean squared error on sequences that no training draws."""
    x, y = data.draw(HELD_OUT, 2)
    return float((network(x) - y).square().mean())


def train(
    target: Target, attention: bool, positions: Positions, layers: int, seed: int, steps: int = STEPS
) -> float:
    """Train once: the error in the end."""
    data = SequenceTargets(target, LENGTH)
    network = seeded(lambda: Network(LENGTH, attention, positions, layers), seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps):
        x, y = data.draw(BATCH, 1_000_003 * (seed + 1) + step)
        loss = F.mse_loss(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return error(network, data)


def cases() -> list[tuple[str, Target, bool, Positions, int]]:
    """Name, target, attention, positions and layers of each network."""
    found: list[tuple[str, Target, bool, Positions, int]] = []
    for target in TARGETS:
        for attention in (False, True):
            kind = "attention" if attention else "token-wise"
            for positions in ("none", "learned"):
                found.append((f"{target}, {kind}, {positions}", target, attention, positions, 1))
    for layers in DEPTHS[1:]:
        found.append((f"sort, attention, learned, {layers} layers", "sort", True, "learned", layers))
    for target in TARGETS[1:]:
        layers = 2 if target == "sort" else 1
        for scheme in SCHEMES:
            found.append((f"{target}, attention, {scheme}", target, True, scheme, layers))
    return found


def row(name: str, errors: Sequence[float], floor: float) -> Row:
    """Mean error of some seeds beside the floor of its kind."""
    return Row(
        BENCH, name, statistics.mean(errors), note=f"{spread(errors, 4)}; floor {floor:.4f}", unit="MSE"
    )


def measure(quick: bool = False) -> list[Row]:
    """Errors of each network, a few seconds a training."""
    rows = []
    for name, target, attention, positions, layers in cases()[: 2 if quick else None]:
        errors = [
            train(target, attention, positions, layers, seed, 5 if quick else STEPS)
            for seed in range(1 if quick else SEEDS)
        ]
        floor = SequenceTargets(target, LENGTH).floor(attention, positions != "none", positions == "alibi")
        rows.append(row(name, errors, floor))
    return rows
