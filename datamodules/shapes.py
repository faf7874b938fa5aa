"""Shapes: rendered pictures of one coloured shape on a coloured ground, whose distribution is known exactly.

A square, a disc, a triangle or a cross, in one of several sizes, anywhere on the picture; the shape and the
ground take two different colours of a palette. All of these pictures are equally likely, so no density has a
mean NLL below `least_nll` = ln(number of pictures), and a perfect one reaches it.

The palette is not a product of its channels: where red is full, green says more about blue than red alone.
A model that draws the three channels of a pixel independently must mix its colours.

Shapes: a batch is x (B, 3, H, W) float, level 0 to K - 1 of red, green and blue, and y (B,) int64, the kind.
"""

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor

from datamodules.base import Drawn, within

KINDS = ("square", "disc", "triangle", "cross")
# red, green, blue in thirds: what 2 levels round and what 4 levels hold exactly
PALETTE = {
    "black": (0, 0, 0),
    "red": (3, 0, 0),
    "orange": (3, 2, 0),
    "yellow": (3, 3, 1),
    "green": (0, 2, 1),
    "blue": (0, 1, 3),
    "pink": (3, 1, 2),
    "white": (3, 3, 3),
}
LEVELS = 4


def stencil(kind: str, size: int) -> Tensor:
    """Mask of a shape, (size, size) bool.

    Raises:
        ValueError: no such kind.
    """
    row, column = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    middle = (size - 1) / 2
    across, down = (column - middle).abs(), (row - middle).abs()
    if kind == "square":
        return torch.ones(size, size, dtype=torch.bool)
    if kind == "disc":
        return across**2 + down**2 <= (size / 2) ** 2
    if kind == "triangle":  # grows by one to each side every two rows
        return across <= (row + 1) / 2
    if kind == "cross":
        return (across <= size / 6) | (down <= size / 6)
    raise ValueError(f"kind is {kind!r}: it must be one of {', '.join(KINDS)}.")


@cache
def outlines(side: int, sizes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Shapes at every place: masks (M, side, side) bool and kinds (M,) int64."""
    masks, kinds = [], []
    for kind, name in enumerate(KINDS):
        for size in sizes:
            for row in range(side - size + 1):
                for column in range(side - size + 1):
                    mask = torch.zeros(side, side, dtype=torch.bool)
                    mask[row : row + size, column : column + size] = stencil(name, size)
                    masks.append(mask)
                    kinds.append(kind)
    return torch.stack(masks), torch.tensor(kinds)


class Shapes(Drawn):
    """Pictures, each split its own draw from the uniform distribution over all pictures.

    Args:
        side: height and width.
        sizes: of a shape, from edge to edge.
        batch_size: pictures per optimizer step over all processes together.
        seed: of the order of each epoch; the pictures themselves are the same for every seed.
        num_train, num_val, num_test: pictures in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, side: int = 12, sizes: tuple[int, ...] = (5, 7), batch_size: int = 64, seed: int = 0,
        num_train: int = 10_000, num_val: int = 1_000, num_test: int = 2_000,
    ) -> None:  # fmt: skip
        within(5, 64, side=side)
        super().__init__(batch_size, seed, 3 * side**2, num_train, num_val, num_test)
        sizes = tuple(sizes)
        if not sizes or len(set(sizes)) < len(sizes) or min(sizes) < 5 or max(sizes) > side:
            raise ValueError(
                f"sizes are {list(sizes)}: each once, from 5 (smaller shapes look alike) to {side}."
            )
        self.side, self.shape_sizes = side, sizes

    @property
    def num_pictures(self) -> int:
        """Number of different pictures: places and kinds, times ordered pairs of colours."""
        return len(outlines(self.side, self.shape_sizes)[0]) * len(PALETTE) * (len(PALETTE) - 1)

    @property
    def least_nll(self) -> float:
        """The entropy of the distribution, nats."""
        return math.log(self.num_pictures)

    def pictures(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Pictures by their number, 0 to `num_pictures` - 1: (B,) -> x (B, 3, side, side), kinds (B,)."""
        masks, kinds = outlines(self.side, self.shape_sizes)
        colours = torch.tensor(list(PALETTE.values())).float()[:, :, None, None]
        numbers, other = numbers // (len(colours) - 1), numbers % (len(colours) - 1)
        outline, ground = numbers // len(colours), numbers % len(colours)
        paint, paper = colours[other + (other >= ground)], colours[ground]  # two different ones
        return torch.where(masks[outline][:, None], paint, paper), kinds[outline]

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        return self.pictures(torch.randint(self.num_pictures, (count,), generator=generator))

    @property
    def sizes(self) -> dict[str, Any]:
        shape = (3, self.side, self.side)
        return {"event_shape": (math.prod(shape),), "image_shape": shape, "num_classes": len(KINDS)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Shapes",
            "image_size": self.side,
            "levels": LEVELS,
            "sizes": list(self.shape_sizes),
            "splits": self.counts,
            "least_nll": self.least_nll,
        }
