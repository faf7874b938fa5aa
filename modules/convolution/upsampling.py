"""Upsampling: from one value to a block of them, for each channel.

    nearest     every value is copied s times along each axis
    unpooling   a value goes where max pooling found it, 0 elsewhere; of an odd grid the size must be said
    bilinear    y = M x Mᵀ,  M_ij = max(0, 1 − |u_i − j|),  where u_i is output i on the grid of the input:
                half-pixel      u_i = (i + ½)/s − ½, kept within the grid      the pixels are areas
                align-corners   u_i = i (n − 1)/(sn − 1)                       first and last stay in place
                zero-insert     u_i = i/s, and zeros after the last            transposed convolution
    PixelShuffle  s² channels are interleaved into one of s times the sides; in one dimension s channels

Transposed convolution is in `convolution.py`. Where the stride divides the kernel, every output is written
by equally many inputs; else by more and fewer in turns, a checkerboard.

Shapes: x (B, C, H, W) or (B, C, n). References: [UDL] §10.4.2; Shi et al. 2016, arXiv:1609.05158
(PixelShuffle); Odena et al. 2016 (checkerboards).
"""

from collections.abc import Sequence
from math import prod
from typing import Literal

import torch
from torch import Tensor

Grid = Literal["half-pixel", "align-corners", "zero-insert"]


def nearest(x: Tensor, factor: int = 2) -> Tensor:
    """Every value copied `factor` times along every axis."""
    for axis in range(2, x.ndim):
        x = x.repeat_interleave(factor, axis)
    return x


def max_unpool(x: Tensor, indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """Values x (B, C, n, ...) at their flat indices in a grid of `sizes`, zeros elsewhere.

    Raises:
        ValueError: an index lies outside of the grid.
    """
    if indices.numel() and int(indices.max()) >= prod(sizes):
        raise ValueError(
            f"Index {int(indices.max())} lies outside of a grid of {tuple(sizes)}: give the "
            "size before pooling."
        )
    flat = x.new_zeros(*x.shape[:2], prod(sizes))
    return flat.scatter(2, indices.flatten(2), x.flatten(2)).unflatten(2, tuple(sizes))


def interpolation_matrix(n: int, factor: int = 2, grid: Grid = "half-pixel") -> Tensor:
    """M (s·n, n) of linear interpolation along one axis."""
    outputs = torch.arange(factor * n, dtype=torch.float64)
    if grid == "half-pixel":
        u = ((outputs + 0.5) / factor - 0.5).clamp(0, n - 1)
    elif grid == "align-corners":
        u = outputs * ((n - 1) / max(factor * n - 1, 1))
    elif grid == "zero-insert":
        u = outputs / factor
    else:
        raise ValueError(f"grid is {grid!r}: give half-pixel, align-corners or zero-insert.")
    return (1 - (u[:, None] - torch.arange(n)).abs()).clamp(min=0)


def bilinear(x: Tensor, factor: int = 2, grid: Grid = "half-pixel") -> Tensor:
    """Linear interpolation along every axis."""
    for axis in range(2, x.ndim):
        matrix = interpolation_matrix(x.shape[axis], factor, grid).to(x)
        x = (x.movedim(axis, -1) @ matrix.T).movedim(-1, axis)
    return x


def pixel_shuffle(x: Tensor, factor: int = 2) -> Tensor:
    """Channels interleaved into the grid, (B, C·s^axes, n, ...) -> (B, C, s·n, ...).

    Raises:
        ValueError: the channels are no multiple of s^axes.
    """
    axes = x.ndim - 2
    if x.shape[1] % factor**axes:
        raise ValueError(f"{x.shape[1]} channels are no multiple of {factor**axes}: give as many as that.")
    x = x.unflatten(1, (-1, *[factor] * axes))  # (B, C, s, ..., n, ...)
    order = [2 + axes + axis // 2 if axis % 2 == 0 else 2 + axis // 2 for axis in range(2 * axes)]
    x = x.permute(0, 1, *order)  # (B, C, n, s, ...)
    for axis in range(axes):
        x = x.flatten(2 + axis, 3 + axis)
    return x
