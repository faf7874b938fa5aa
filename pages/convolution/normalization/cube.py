"""Numbers x of N examples, C channels and S positions: which of them share a mean and a variance.

Shapes: x (N, C, S).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from modules.convolution.normalization import (
    batch_norm,
    ghost_norm,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
)
from pages.convolution.normalization.room import (
    CHANNELS,
    NORMS,
    OF_BATCH,
    OF_GHOST,
    OF_GROUP,
    OF_INSTANCE,
    OF_LAYER,
    OF_PLACE,
    OF_TOKEN,
)

EQUAL = 1e-12


@dataclass(frozen=True)
class Cube:
    """
    Attributes:
        x: (N, C, S). y: of the chosen norm, (N, C, S).
        sets: (N, C, S), number of the set of cells that share a mean and a variance, from 0.
        gaps: (M, M), largest differences between the outputs of all norms.
    """

    x: Tensor
    y: Tensor
    sets: Tensor
    gaps: Tensor

    @property
    def count(self) -> int:
        return int(self.sets.max()) + 1

    def statistics(self, number: int) -> tuple[int, float, float]:
        """Size, mean and variance of a set."""
        cells = self.x[self.sets == number]
        return len(cells), float(cells.mean()), float(cells.var(correction=0))


def functions(groups: int, ghost: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """All norms, by name."""
    return {
        OF_BATCH: batch_norm,
        OF_GHOST: partial(ghost_norm, size=ghost),
        OF_PLACE: partial(normalize, dims=(0,)),
        OF_LAYER: layer_norm,
        OF_TOKEN: partial(layer_norm, over="channels"),
        OF_GROUP: partial(group_norm, groups=groups),
        OF_INSTANCE: instance_norm,
    }


def sharing(norm: str, shape: tuple[int, int, int], groups: int, ghost: int) -> Tensor:
    """Number of the set of each cell, (N, C, S)."""
    N, C, S = shape
    n, c, s = torch.meshgrid(torch.arange(N), torch.arange(C), torch.arange(S), indexing="ij")
    return {
        OF_BATCH: c,
        OF_GHOST: n // ghost * C + c,
        OF_PLACE: c * S + s,
        OF_LAYER: n,
        OF_TOKEN: n * S + s,
        OF_GROUP: n * groups + c // (C // groups),
        OF_INSTANCE: n * C + c,
    }[norm]


def cube(norm: str, examples: int, positions: int, groups: int, ghost: int, seed: int) -> Cube:
    """Random numbers whose channels and examples differ in mean and size, normalised."""
    generator = torch.Generator().manual_seed(seed)
    shape = (examples, CHANNELS, positions)
    means, sizes, more, noise = (
        torch.randn(size, generator=generator, dtype=torch.float64)
        for size in ((CHANNELS, 1), (CHANNELS, 1), (examples, 1, 1), shape)
    )
    x = 2 * means + more + (0.5 * sizes).exp() * noise
    outputs = torch.stack([f(x) for f in functions(groups, ghost).values()])
    gaps = (outputs[:, None] - outputs).abs().amax((2, 3, 4))
    return Cube(x, outputs[NORMS.index(norm)], sharing(norm, shape, groups, ghost), gaps)
