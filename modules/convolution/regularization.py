"""What is taken away from maps and pictures in training, and views that are averaged at the test.

    dropout           each value is 0 with probability p, the others are divided by 1 − p
    spatial dropout   the same for whole maps: neighbours in a map say nearly the same, so that one value
                      that is dropped alone can be read from them
    cutout            a square of the input is 0
    ten crops         four corners and the centre, and their mirror images

[UDL] speaks of "five" versions of each test picture of AlexNet; with the mirrors they are ten.

Shapes: x (B, C, H, W). References: [UDL] §10.5.1 and notes of chapter 10; [BB] 1.6; Tompson et al. 2015,
arXiv:1411.4280 (spatial dropout); DeVries & Taylor 2017, arXiv:1708.04552 (cutout); Krizhevsky et al. 2012.
"""

import torch
from torch import Tensor

from modules.base import require


def dropout(x: Tensor, rate: float, generator: torch.Generator | None = None) -> Tensor:
    """Each value dropped by itself; the mean stays."""
    return x * kept(x, x.shape, rate, generator)


def spatial_dropout(x: Tensor, rate: float, generator: torch.Generator | None = None) -> Tensor:
    """Each map dropped as a whole; the mean stays."""
    return x * kept(x, (*x.shape[:2], *[1] * (x.ndim - 2)), rate, generator)


def kept(x: Tensor, shape: tuple[int, ...], rate: float, generator: torch.Generator | None) -> Tensor:
    """1/(1 − p) where a draw keeps, else 0."""
    require(0, below=1, rate=rate)
    draws = torch.rand(shape, generator=generator, dtype=x.dtype, device=x.device)
    return (draws >= rate).to(x) / (1 - rate)


def cutout(x: Tensor, side: int, generator: torch.Generator | None = None) -> Tensor:
    """A square around a pixel drawn for each picture is 0; at the border a part of it."""
    require(0, side=side)
    size, height, width = len(x), *x.shape[2:]
    inside = []
    for n in (height, width):
        centre = torch.randint(n, (size, 1), generator=generator, device=x.device)  # (B, 1)
        start = centre - side // 2
        place = torch.arange(n, device=x.device)
        inside.append((place >= start) & (place < start + side))  # (B, n)
    square = inside[0][:, None, :, None] & inside[1][:, None, None, :]
    return x.masked_fill(square, 0)


def ten_crops(x: Tensor, height: int, width: int) -> Tensor:
    """Four corners, the centre, and the mirror images of the five, (B, C, H, W) -> (10, B, C, h, w).

    Raises:
        ValueError: a crop is larger than the picture.
    """
    down, right = x.shape[-2] - height, x.shape[-1] - width
    if min(down, right) < 0:
        raise ValueError(f"A crop of {height}×{width} is larger than {x.shape[-2]}×{x.shape[-1]}: take less.")
    corners = [(0, 0), (0, right), (down, 0), (down, right), (down // 2, right // 2)]
    crops = torch.stack([x[..., i : i + height, j : j + width] for i, j in corners])
    return torch.cat([crops, crops.flip(-1)])
