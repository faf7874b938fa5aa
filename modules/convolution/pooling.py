"""Pooling: from a block of values to one, for each channel.

    max       max_k x_k, with the index of the largest; of equal ones the first
    mean      Σ_k x_k / n;    of the whole grid: global average pooling
    L_k       (Σ_i x_i^k)^{1/k}: from the sum (k = 1) to the maximum (k → ∞); the mean form divides by n first
    stochastic    one of the block, drawn with probability x_i / Σ x;   at test Σ x_i² / Σ x
    max-pool dropout  the maximum of what is kept, each with probability q, or 0:  P(rank r) = q (1−q)^{r−1}
    max-blur  maximum at every position, a low-pass filter, and only then every s-th

Max pooling with stride s isn't equivariant to shifts of less than s; the filter of max-blur pooling lets
the output change by less. Shapes: x (B, C, H, W) or (B, C, n) -> the grid divided by the stride.

References: [UDL] §10.4.1 and notes of chapter 10; Sermanet et al. 2012, arXiv:1204.3968 (L_k); Zeiler &
Fergus 2013, arXiv:1301.3557 (stochastic); Wu & Gu 2015 (max-pool dropout); Zhang 2019, arXiv:1904.11486.
"""

from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require
from modules.convolution.convolution import at


def blocks(x: Tensor, size: int, stride: int | None = None) -> Tensor:
    """The windows of a grid, (B, C, n, ...) -> (B, C, n_out, ..., size^axes); what is left over is dropped.

    Raises:
        ValueError: a side of the grid is smaller than the block.
    """
    axes = x.ndim - 2
    if min(x.shape[2:]) < size:
        raise ValueError(f"A grid of {tuple(x.shape[2:])} has no block of {size}: take a smaller one.")
    for axis in range(axes):
        x = x.unfold(2 + axis, size, stride or size)  # appends the window as the last axis
    return x.flatten(2 + axes)


def subsample(x: Tensor, stride: int = 2) -> Tensor:
    """Every `stride`-th position along every axis of the grid, from the first on."""
    return x[at([slice(None, None, stride)] * (x.ndim - 2))]


def max_pool(x: Tensor, size: int = 2, stride: int | None = None) -> tuple[Tensor, Tensor]:
    """Maximum of each block, and its flat index in the grid of its channel, both (B, C, n_out, ...)."""
    windows = blocks(x, size, stride)
    first = windows.argmax(-1, keepdim=True)  # of equal ones the first
    grid = torch.arange(x[0, 0].numel(), device=x.device).reshape(1, 1, *x.shape[2:])
    places = blocks(grid, size, stride).expand(windows.shape)
    return windows.gather(-1, first)[..., 0], places.gather(-1, first)[..., 0]


def mean_pool(x: Tensor, size: int = 2, stride: int | None = None) -> Tensor:
    """Mean of each block."""
    return blocks(x, size, stride).mean(-1)


def global_mean_pool(x: Tensor) -> Tensor:
    """Mean of each channel over the whole grid, (B, C, ...) -> (B, C)."""
    return x.flatten(2).mean(-1)


def power_pool(
    x: Tensor, power: float, size: int = 2, stride: int | None = None, form: Literal["sum", "mean"] = "sum"
) -> Tensor:
    """L_k pooling of values that aren't negative; the largest is divided out, so that no power overflows."""
    require(1, power=power)
    windows = blocks(x, size, stride)
    largest = windows.amax(-1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    powers = (windows / largest) ** power
    total = powers.sum(-1) if form == "sum" else powers.mean(-1)
    return largest[..., 0] * total ** (1 / power)


def stochastic_pool(
    x: Tensor, size: int = 2, stride: int | None = None, generator: torch.Generator | None = None
) -> Tensor:
    """One value of each block, drawn in proportion to itself; of a block of zeros, 0. For training."""
    windows = blocks(x, size, stride)
    mass = windows.clamp(min=0)
    mass = torch.where(mass.sum(-1, keepdim=True) > 0, mass, torch.ones_like(mass))
    drawn = torch.multinomial(mass.flatten(0, -2), 1, generator=generator)  # (B·C·n_out, 1)
    return windows.flatten(0, -2).gather(-1, drawn).reshape(windows.shape[:-1])


def expected_stochastic_pool(x: Tensor, size: int = 2, stride: int | None = None) -> Tensor:
    """Mean of what stochastic pooling draws, Σ x² / Σ x. For the test."""
    windows = blocks(x, size, stride).clamp(min=0)
    return windows.square().sum(-1) / windows.sum(-1).clamp(min=torch.finfo(x.dtype).tiny)


def max_pool_dropout(
    x: Tensor,
    keep: float,
    size: int = 2,
    stride: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Maximum of the values (≥ 0) of a block that are kept, each with probability `keep`. For training."""
    windows = blocks(x, size, stride)
    draws = torch.rand(windows.shape, generator=generator, dtype=x.dtype, device=x.device)
    return (windows * (draws < keep)).amax(-1)


def rank_probabilities(count: int, keep: float) -> Tensor:
    """P (count + 1,) that max-pool dropout gives the largest, the second, …, the smallest value, and 0."""
    require(0, below=1 + 1e-12, keep=keep)
    ranks = torch.arange(count, dtype=torch.float64)
    return torch.cat([keep * (1 - keep) ** ranks, torch.tensor([(1 - keep) ** count], dtype=torch.float64)])


def expected_max_pool_dropout(x: Tensor, keep: float, size: int = 2, stride: int | None = None) -> Tensor:
    """Mean of what max-pool dropout gives. For the test."""
    ranked = blocks(x, size, stride).sort(-1, descending=True).values
    return ranked @ rank_probabilities(ranked.shape[-1], keep)[:-1].to(x)


def max_blur_pool(
    x: Tensor,
    size: int = 2,
    stride: int = 2,
    filter: Sequence[float] = (1, 2, 1),
    mode: Literal["constant", "circular", "reflect", "replicate"] = "reflect",
) -> Tensor:
    """Maximum at every position, filtered along every axis, every `stride`-th kept.

    Args:
        filter: odd number of weights, which are divided by their sum.
        mode: what lies outside of the grid; "constant" are zeros.
    """
    if len(filter) % 2 == 0:
        raise ValueError(f"filter has {len(filter)} weights: give an odd number, so that it has a centre.")
    axes, reach = x.ndim - 2, len(filter) // 2
    h = blocks(F.pad(x, [0, size - 1] * axes, mode=mode), size, 1).amax(-1)  # (B, C, n, ...)
    taps = torch.tensor(filter, dtype=x.dtype, device=x.device)
    h = F.pad(h, [reach, reach] * axes, mode=mode)
    for axis in range(axes):
        h = h.unfold(2 + axis, len(filter), 1) @ (taps / taps.sum())
    return subsample(h, stride)
