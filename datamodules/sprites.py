"""Sprites: every picture of one small shape, of which five factors are all there is to know.

    shape 3 × scale 3 × angle 8 × column 7 × row 7 = 3,528 binary pictures of 16 × 16

None of the shapes looks the same when turned, so that every factor can be read from the picture, but where
few pixels make two neighbours alike. The factors are independent and uniform: what is between the codes of a
model is the model's own doing. In the manner of dSprites (Matthey et al. 2017).

Shapes: a batch is x (B, 1, 16, 16) float of 0 and 1, and factors (B, 5) int64, in the order of `FACTORS`.
"""

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor

from datamodules.base import DataModule, TensorSplit, within

SIDE = 16
KINDS = ("wedge", "ell", "half disc")
SCALES = (2.8, 3.6, 4.4)  # half the height, pixels
FACTORS = {"shape": len(KINDS), "scale": len(SCALES), "angle": 8, "column": 7, "row": 7}
FINE = 4  # points along a side of a pixel that are asked whether they are inside


def inside(kind: str, u: Tensor, v: Tensor) -> Tensor:
    """Inside of a shape of half-height 1, upright around the origin: u to the right, v upwards, bool.

    Raises:
        ValueError: no such kind.
    """
    if kind == "wedge":  # a triangle that points upwards
        return (v > -0.8) & (u.abs() < 0.45 * (1 - v))
    if kind == "ell":
        return (u.abs() < 0.8) & (v.abs() < 1) & ((u < -0.1) | (v < -0.3))
    if kind == "half disc":
        return (u.square() + (v + 0.4).square() < 1) & (v > -0.4)
    raise ValueError(f"kind is {kind!r}: it must be one of {', '.join(KINDS)}.")


def render(factors: Tensor) -> Tensor:
    """Factors (N, 5) -> pictures (N, 1, 16, 16) of 0 and 1: a pixel is set where half of it is covered."""
    kind, scale, angle, column, row = factors.T
    steps = (torch.arange(SIDE * FINE) + 0.5) / FINE  # in pixels
    down, right = torch.meshgrid(steps, steps, indexing="ij")
    x = right - SIDE / 2 - (column - 3)[:, None, None]
    y = SIDE / 2 + (row - 3)[:, None, None] - down
    turn, size = (angle * (2 * math.pi / FACTORS["angle"]))[:, None, None], torch.tensor(SCALES)[scale]
    u = (x * turn.cos() + y * turn.sin()) / size[:, None, None]
    v = (y * turn.cos() - x * turn.sin()) / size[:, None, None]
    each = torch.stack([inside(name, u, v) for name in KINDS])  # (kinds, N, fine, fine)
    covered = each[kind, torch.arange(len(factors))].float()
    blocks = covered.reshape(-1, 1, SIDE, FINE, SIDE, FINE)
    return (blocks.mean((3, 5)) >= 0.5).float()


@cache
def everything() -> tuple[Tensor, Tensor]:
    """Pictures (3528, 1, 16, 16) and their factors (3528, 5), the last factor running fastest."""
    factors = torch.cartesian_prod(*[torch.arange(count) for count in FACTORS.values()])
    return torch.cat([render(part) for part in factors.split(256)]), factors


class Sprites(DataModule):
    """A random tenth of all pictures is set aside for validation and another for test.

    Args:
        batch_size: pictures per optimizer step over all processes together.
        seed: of the order of each epoch; the splits are the same for every seed.
        hold_out: pictures in each of validation and test.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(self, batch_size: int = 64, seed: int = 0, hold_out: int = 352) -> None:
        super().__init__(batch_size, seed)
        self.count = math.prod(FACTORS.values())
        within(1, self.count // 4, hold_out=hold_out)
        self.hold_out = hold_out

    def _split(self, split: str) -> TensorSplit:
        order = torch.randperm(self.count, generator=torch.Generator().manual_seed(0))
        cut = {"test": order[: self.hold_out], "val": order[self.hold_out : 2 * self.hold_out]}
        pictures, factors = everything()
        chosen = cut.get(split, order[2 * self.hold_out :]).sort().values
        return TensorSplit(pictures[chosen], factors[chosen])

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (SIDE * SIDE,), "image_shape": (1, SIDE, SIDE)}

    def describe(self) -> dict[str, Any]:
        train = self.count - 2 * self.hold_out
        return {
            "name": "Sprites",
            "image_size": SIDE,
            "factors": FACTORS,
            "splits": {"train": train, "val": self.hold_out, "test": self.hold_out},
        }
