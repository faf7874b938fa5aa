"""Textured shapes: one shape on a plain ground, told from it by its texture alone, with the pixels of every
concept known.

    class = 3 · shape + texture        shape: circle, square, triangle      texture: stripes, dots, checks

Ground and texture have the same mean, so that no pixel alone says where the shape is: its outline is where
the texture ends. Both halves of the class have to be found, and all shapes have the same mean area, so that
textures and shapes cover equally many pixels. Made for the dissection of units ([UDL] notes of chapter 10;
Bau et al. 2017, arXiv:1704.05796), whose concepts need exact masks.

Shapes: a batch is x (B, 1, H, W) float in [0, 1] and y (B,) int64.
"""

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor

from datamodules.base import Drawn, within

TEXTURES = ("stripes", "dots", "checks")
SHAPES = ("circle", "square", "triangle")
CONCEPTS = TEXTURES + SHAPES
PERIODS = 3.5, 5.5  # of a texture, in pixels
SIZES = 0.25, 0.32  # radius of the circle, as a share of the side; the others have its area
GROUND, AMPLITUDE = (0.4, 0.6), (0.25, 0.4)  # of 1, white
DOT = 0.3  # radius of a dot, of a period


def uniform(bounds: tuple[float, float], count: int, generator: torch.Generator) -> Tensor:
    """(count, 1, 1), to be set against pixels."""
    low, high = bounds
    return low + (high - low) * torch.rand(count, 1, 1, generator=generator)


def turned(x: Tensor, y: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    cos, sin = angle.cos(), angle.sin()
    return cos * x + sin * y, cos * y - sin * x


def stripes(u: Tensor, v: Tensor) -> Tensor:
    """Texture (..., H, W) in [−1, 1] with mean 0 of coordinates in periods, as the next two."""
    return torch.tanh(3 * torch.sin(2 * math.pi * u))


def dots(u: Tensor, v: Tensor) -> Tensor:
    away = torch.hypot(u - u.round(), v - v.round())  # from the nearest of a square grid
    share = math.pi * DOT**2
    return (away < DOT).float() - share


def checks(u: Tensor, v: Tensor) -> Tensor:
    return torch.tanh(6 * torch.sin(2 * math.pi * u) * torch.sin(2 * math.pi * v))


def inside(shape: int, u: Tensor, v: Tensor) -> Tensor:
    """Pixels of a shape of area π, bool, by coordinates around its middle."""
    if shape == 0:
        return u.square() + v.square() < 1
    if shape == 1:
        return torch.maximum(u.abs(), v.abs()) < math.sqrt(math.pi) / 2
    inner = math.sqrt(math.pi / (3 * math.sqrt(3)))  # radius of the circle inside an equilateral triangle
    sides = [math.cos(a) * u + math.sin(a) * v for a in (math.pi / 2, math.pi * 7 / 6, math.pi * 11 / 6)]
    return torch.stack(sides).amax(0) < inner


@cache
def drawn(count: int, seed: int, side: int, noise: float) -> tuple[Tensor, Tensor, Tensor]:
    """Pictures (count, 1, side, side), classes (count,), and pixels of the shape (count, side, side) bool.

    Do not change them: they are kept.
    """
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(len(SHAPES) * len(TEXTURES), (count,), generator=generator)
    ground, amplitude = (uniform(bounds, count, generator) for bounds in (GROUND, AMPLITUDE))
    period, radius = (uniform(bounds, count, generator) for bounds in (PERIODS, SIZES))
    middle = uniform((0.42, 0.58), 2 * count, generator).view(2, count, 1, 1) * side
    shift = torch.rand(2, count, 1, 1, generator=generator)  # of the texture, in periods
    angles = 2 * math.pi * torch.rand(2, count, 1, 1, generator=generator)
    places = torch.arange(side) + 0.5
    across, down = places[None, None, :] - middle[0], places[None, :, None] - middle[1]
    u, v = (part / period + by for part, by in zip(turned(across, down, angles[0]), shift, strict=True))
    texture = choose(y % 3, [stripes(u, v), dots(u, v), checks(u, v)])
    u, v = (part / (radius * side) for part in turned(across, down, angles[1]))
    mask = choose(y // 3, [inside(shape, u, v) for shape in range(len(SHAPES))])
    x = ground + amplitude * texture * mask + noise * torch.randn(count, side, side, generator=generator)
    return x.clamp(0, 1)[:, None], y, mask


def choose(which: Tensor, options: list[Tensor]) -> Tensor:
    """Of each example the option (count, H, W) that `which` (count,) names."""
    return torch.stack(options)[which, torch.arange(len(which))]


def concepts(y: Tensor, mask: Tensor) -> Tensor:
    """Pixels of each of CONCEPTS (6, count, H, W) bool, of classes (count,) and shapes (count, H, W)."""
    named = [y % 3 == texture for texture in range(len(TEXTURES))]
    named += [y // 3 == shape for shape in range(len(SHAPES))]
    return torch.stack(named)[:, :, None, None] & mask


class TexturedShapes(Drawn):
    """Pictures of one textured shape each, every split its own draw.

    Args:
        side: pixels along a side.
        noise: standard deviation of the noise of each pixel.
        batch_size, seed, num_train, num_val, num_test: see `Drawn`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        side: int = 32,
        noise: float = 0.05,
        batch_size: int = 64,
        seed: int = 0,
        num_train: int = 6000,
        num_val: int = 500,
        num_test: int = 1000,
    ) -> None:
        within(16, 256, side=side)
        within(0, 1, noise=noise)
        super().__init__(batch_size, seed, side * side, num_train, num_val, num_test)
        self.side, self.noise = side, noise

    def draw(self, count: int, seed: int) -> tuple[Tensor, ...]:
        return drawn(count, seed, self.side, self.noise)[:2]

    @property
    def sizes(self) -> dict[str, Any]:
        side = self.side
        return {
            "event_shape": (side * side,),
            "image_shape": (1, side, side),
            "num_classes": len(SHAPES) * len(TEXTURES),
        }

    def describe(self) -> dict[str, Any]:
        return {"name": "Textured shapes", "side": self.side, "noise": self.noise, "splits": self.counts}
