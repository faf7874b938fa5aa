"""Pictures in colour to pick from, and their light.

Shapes: pictures (3, side, side) in [0, 1]; light (side, side) float64.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses import drawing, stock

SIDE = 48
LUMINANCE = (0.299, 0.587, 0.114)  # of red, green and blue, ITU-R BT.601


def shelf() -> list[tuple[str, Tensor]]:
    """Two photographs, a digit, and two shapes: name, (3, SIDE, SIDE)."""
    digit = F.pad(dict(drawing.examples(28))["2"], [(SIDE - 28) // 2] * 4)  # strokes as wide as MNIST's
    side = torch.arange(SIDE)
    i, j = side[:, None], side[None, :]
    disc = (i - 30) ** 2 + (j - 17) ** 2 < 144
    square = (i >= 8) & (i < 28) & (j >= 24) & (j < 44)
    shapes = torch.stack([square | disc, disc, square & (i + j < 52)]).float() * 0.9 + 0.05
    return [*stock.photographs(SIDE), ("digit", digit.expand(3, -1, -1)), ("shapes", shapes)]


def luminance(photo: Tensor) -> Tensor:
    """Light of a picture: a 1×1 convolution of its channels."""
    return torch.einsum("c,chw->hw", torch.tensor(LUMINANCE, dtype=torch.float64), photo.double())
