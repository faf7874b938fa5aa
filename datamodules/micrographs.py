"""Micrographs: rendered pictures of cells under a microscope, with the class of every pixel known.

    0 ground    1 cell    2 border: less than three pixels from two cells, and not deep in either

Cells are ellipses of different sizes and brightness, darker at the rim, on uneven light, blurred and noisy;
they may touch. What a pixel is depends on its surroundings, and where a cell ends on single pixels: the whole
and its details are both needed. A stand-in for the HeLa cells of the texts ([UDL] §11.5.3, figure 11.11).

Shapes: a batch is x (B, 1, H, W) float in [0, 1] and y (B, H, W) int64.
"""

import math
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.base import Drawn, within

CLASSES = ("ground", "cell", "border")
NEAR = 3.0  # pixels from the rims of both, below which a place is their border
BLUR = torch.tensor([1.0, 2.0, 1.0]) / 4


def smooth(x: Tensor) -> Tensor:
    """Pictures (N, H, W), each pixel averaged with its neighbours by 1, 2, 1 along both axes."""
    kernel = BLUR[:, None] * BLUR  # (3, 3)
    return F.conv2d(F.pad(x[:, None], [1] * 4, mode="replicate"), kernel[None, None])[:, 0]


def apart(place: Tensor, radius: Tensor) -> Tensor:
    """Cells that are kept, (cells,) bool, of those at `place` (cells, 2) with mean `radius` (cells,): none is
    over one that was kept before; rims may touch."""
    close = torch.cdist(place, place) < 0.95 * (radius[:, None] + radius)  # (cells, cells)
    kept = torch.zeros(len(place), dtype=torch.bool)
    for cell in range(len(place)):
        kept[cell] = not (close[cell] & kept).any()
    return kept


def outlines(side: int, cells: int, generator: torch.Generator) -> Tensor:
    """Signed distances (cells', side, side) of pixels from the rim of each cell, in pixels, negative inside.

    An ellipse has no simple distance: (r − 1)·|p|/r, r its radius where it is a circle, is exact on its axes.
    """
    place = torch.rand(cells, 2, generator=generator) * (side + 8) - 4
    axes = 4 + 6 * torch.rand(cells, 2, generator=generator)
    kept = apart(place, axes.mean(1))
    place, axes, cells = place[kept], axes[kept], int(kept.sum())
    angle = math.pi * torch.rand(cells, generator=generator)
    steps = torch.arange(side) + 0.5
    down = steps[None, :, None] - place[:, 0, None, None]  # (cells, side, 1)
    right = steps[None, None, :] - place[:, 1, None, None]
    cos, sin = angle.cos()[:, None, None], angle.sin()[:, None, None]
    u, v = right * cos + down * sin, down * cos - right * sin
    radius = ((u / axes[:, 0, None, None]).square() + (v / axes[:, 1, None, None]).square()).sqrt()
    return (radius - 1) * (u.square() + v.square()).sqrt() / radius.clamp(min=1e-6)


def render(side: int, cells: int, noise: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """One picture (side, side) in [0, 1] and its classes (side, side) int64."""
    away = outlines(side, cells, generator)  # (cells', side, side)
    cells = len(away)
    brightness = 0.45 + 0.3 * torch.rand(cells, generator=generator)
    nearest, which = away.min(0)
    inside = nearest < 0
    second = away.topk(min(2, cells), 0, largest=False).values[-1]
    touching = (cells > 1) & (second < NEAR) & (nearest < NEAR) & (nearest > -1)
    y = torch.where(touching, 2, inside.long())
    rim = 0.6 + 0.4 * (-nearest / 3).clamp(0, 1)  # a membrane is darker than what it holds
    x = torch.where(inside & ~touching, brightness[which] * rim, torch.tensor(0.25))
    light = torch.rand(3, generator=generator) * 0.4 - 0.2
    slope = torch.linspace(-1, 1, side)
    x = smooth(x[None])[0] + light[0] * slope[:, None] + light[1] * slope + light[2] / 2
    x = x + noise * torch.randn(side, side, generator=generator)
    return x.clamp(0, 1), y


@cache
def drawn(count: int, seed: int, side: int, cells: int, noise: float) -> tuple[Tensor, Tensor]:
    """Pictures (count, 1, side, side) and classes (count, side, side)."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randint(max(1, cells // 2), cells + 1, (count,), generator=generator).tolist()
    pictures, classes = zip(*(render(side, n, noise, generator) for n in numbers), strict=True)
    return torch.stack(pictures)[:, None], torch.stack(classes)


class Micrographs(Drawn):
    """Pictures of cells, each split its own draw.

    Args:
        side: pixels along a side.
        cells: most cells that are tried in a picture; the least is half of them. One on another is left out.
        noise: standard deviation of the noise of each pixel.
        batch_size, seed, num_train, num_val, num_test: see `Drawn`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        side: int = 64,
        cells: int = 20,
        noise: float = 0.08,
        batch_size: int = 16,
        seed: int = 0,
        num_train: int = 300,
        num_val: int = 60,
        num_test: int = 120,
    ) -> None:
        within(8, 512, side=side)
        within(1, 100, cells=cells)
        within(0, 1, noise=noise)
        super().__init__(batch_size, seed, side * side, num_train, num_val, num_test)
        self.side, self.cells, self.noise = side, cells, noise

    def draw(self, count: int, seed: int) -> tuple[Tensor, ...]:
        return drawn(count, seed, self.side, self.cells, self.noise)

    @property
    def sizes(self) -> dict[str, Any]:
        side = self.side
        return {"event_shape": (side * side,), "image_shape": (1, side, side), "num_classes": len(CLASSES)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Micrographs",
            "side": self.side,
            "cells": self.cells,
            "noise": self.noise,
            "splits": self.counts,
        }
