"""Residual blocks: only the correction to what comes in is learned.

    plain     h ← f(h)
    residual  h ← shortcut(h) + λ f(h)          identity; where size or channels change, zeros or 1×1

Order inside of f, for each of its layers ([UDL] figure 11.7, [BB] 1.6):

    v1            linear → norm → ReLU, none after the last; ReLU after the sum
    v2            norm → ReLU → linear, pre-activation: the trunk stays linear
    linear-first  linear → norm → ReLU: such a block can only add what isn't negative

Each block with He weights doubles E[h²]. What holds it:

    half       (h + f)/√2          depth   λ = √(1/K)        (1 + 1/K)^K < e
    skip-init  λ = α, learned, 0 at the start; must stay below √(1/K)
    fixup      last layer of f 0, the others times K^{−1/(2m − 2)}, m layers in f: no norm at all

K counts blocks. "A gradient of at least the identity can't vanish" ([LLM] 4) is false where f(h) = −h: what
is safe is that a path of length 0 exists.

References: [UDL] §11.2–11.5 and notes, problem 11.8; [BB] 1.6; He et al. 2016, arXiv:1512.03385 and
arXiv:1603.05027; De & Smith 2020, arXiv:2002.10444 (SkipInit); Zhang et al. 2019, arXiv:1901.09321 (Fixup).
"""

import math
from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.convolution.pooling import subsample

Order = Literal["v1", "v2", "linear-first"]
Shortcut = Literal["projection", "zeros", "none"]
Norm = Literal["batch", "group", "none"]
Scale = Literal["none", "half", "depth", "skip-init", "fixup"]


class Residual(nn.Module):
    """Branch f, shortcut, and how the two are joined.

    Args:
        branch: f.
        shortcut: of what comes in; None makes a plain layer, h ← f(h).
        scale: see above; of a plain layer none.
        blocks: K of the whole network.
        relu: after the sum.
    """

    def __init__(
        self,
        branch: nn.Sequential,
        shortcut: nn.Module | None,
        scale: Scale = "none",
        blocks: int = 1,
        relu: bool = False,
    ) -> None:
        super().__init__()
        require_one_of(Scale, scale=scale)
        require(1, blocks=blocks)
        if shortcut is None and scale != "none":
            raise ValueError(f"scale is {scale!r}: a plain layer has no sum to scale, so give none.")
        self.branch, self.shortcut, self.relu = branch, shortcut, relu
        self.scale, self.blocks = scale, blocks
        self.alpha = nn.Parameter(torch.zeros(())) if scale == "skip-init" else None

    @torch.no_grad()
    def start(self) -> None:
        """What Fixup does to weights that have been initialised."""
        if self.scale == "fixup":
            *others, last = (m for m in self.branch if isinstance(m, nn.Conv2d | nn.Linear))
            for layer in others:
                layer.weight.mul_(self.blocks ** (-1 / (2 * len(others))))  # m − 1 others
            last.weight.zero_()

    def extra_repr(self) -> str:
        return f"scale={self.scale!r}, blocks={self.blocks}, relu={self.relu}"

    def forward(self, h: Tensor) -> Tensor:
        f = self.branch(h)
        if self.shortcut is not None:
            if self.alpha is not None:
                f = self.alpha * f
            elif self.scale == "depth":
                f = f * self.blocks**-0.5
            f = self.shortcut(h) + f
            if self.scale == "half":
                f = f * 0.5**0.5
        return F.relu(f) if self.relu else f


class ZeroAppend(nn.Module):
    """Every `stride`-th position, and channels of zeros after those that are there: no parameters."""

    def __init__(self, c_in: int, c_out: int, stride: int) -> None:
        super().__init__()
        if c_out < c_in:
            raise ValueError(f"shortcut is zeros: from {c_in} to {c_out} channels there is none to append.")
        self.more, self.stride = c_out - c_in, stride

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(subsample(x, self.stride), (0, 0, 0, 0, 0, self.more))


def ordered(
    order: Order, steps: list[tuple[nn.Module, int, int]], norm: Callable[[int], list[nn.Module]]
) -> nn.Sequential:
    """Branch of linear layers (layer, C_in, C_out) with norm and ReLU where the order puts them."""
    layers: list[nn.Module] = []
    for number, (linear, c_in, c_out) in enumerate(steps):
        if order == "v2":
            layers += [*norm(c_in), nn.ReLU(), linear]
        else:
            layers += [linear, *norm(c_out), nn.ReLU()]
            if order == "v1" and number == len(steps) - 1:
                layers.pop()
    return nn.Sequential(*layers)


def norm2d(kind: Norm) -> Callable[[int], list[nn.Module]]:
    """Makes the norm of C channels of a grid; of "none" an empty list."""
    require_one_of(Norm, norm=kind)
    kinds: dict[str, Callable[[int], list[nn.Module]]] = {
        "batch": lambda c: [nn.BatchNorm2d(c)],
        "group": lambda c: [nn.GroupNorm(math.gcd(8, c), c)],
        "none": lambda c: [],
    }
    return kinds[kind]


def convolution_block(
    c_in: int,
    c_out: int,
    stride: int = 1,
    bottleneck: int = 0,
    order: Order = "v2",
    shortcut: Shortcut = "projection",
    norm: Norm = "batch",
    scale: Scale = "none",
    blocks: int = 1,
    stride_at: Literal["1x1", "3x3"] = "3x3",
    bias: bool | None = None,
) -> Residual:
    """Residual block of two 3×3 convolutions, or of 1×1, 3×3, 1×1 through `bottleneck` channels.

    Args:
        bottleneck: channels between; 0 has none.
        shortcut: of a block that changes the channels or the grid; "none" is a plain layer everywhere.
        stride_at: which convolution of a bottleneck has the stride.
        bias: of the convolutions; None: where there is no norm.
    """
    require_one_of(Order, order=order)
    require_one_of(Shortcut, shortcut=shortcut)
    require_one_of(Literal["1x1", "3x3"], stride_at=stride_at)
    require(1, c_in=c_in, c_out=c_out, stride=stride, blocks=blocks)
    require(0, bottleneck=bottleneck)
    bias = norm == "none" if bias is None else bias

    def conv(a: int, b: int, kernel: int, stride: int = 1) -> tuple[nn.Module, int, int]:
        return nn.Conv2d(a, b, kernel, stride, kernel // 2, bias=bias), a, b

    if bottleneck:
        first, second = (stride, 1) if stride_at == "1x1" else (1, stride)
        steps = [
            conv(c_in, bottleneck, 1, first),
            conv(bottleneck, bottleneck, 3, second),
            conv(bottleneck, c_out, 1),
        ]
    else:
        steps = [conv(c_in, c_out, 3, stride), conv(c_out, c_out, 3)]
    branch = ordered(order, steps, norm2d(norm))
    way: nn.Module | None = nn.Identity()
    if shortcut == "none":
        way = None
    elif (c_in, stride) != (c_out, 1):
        if shortcut == "zeros":
            way = ZeroAppend(c_in, c_out, stride)
        else:  # v1 normalises the projection, too
            projection = nn.Conv2d(c_in, c_out, 1, stride, bias=bias)
            way = nn.Sequential(projection, *norm2d(norm)(c_out)) if order == "v1" else projection
    return Residual(branch, way, scale, blocks, relu=order == "v1")


def dense_block(
    width: int,
    order: Order = "v2",
    shortcut: Literal["identity", "none"] = "identity",
    norm: Literal["batch", "layer", "none"] = "none",
    scale: Scale = "none",
    blocks: int = 1,
    depth: int = 1,
) -> Residual:
    """Residual block of `depth` dense layers of D units."""
    require_one_of(Order, order=order)
    require_one_of(Literal["identity", "none"], shortcut=shortcut)
    require_one_of(Literal["batch", "layer", "none"], norm=norm)
    require(1, width=width, depth=depth)
    kinds: dict[str, Callable[[int], list[nn.Module]]] = {
        "batch": lambda d: [nn.BatchNorm1d(d)],
        "layer": lambda d: [nn.LayerNorm(d)],
        "none": lambda d: [],
    }
    steps: list[tuple[nn.Module, int, int]] = [(nn.Linear(width, width), width, width) for _ in range(depth)]
    way = None if shortcut == "none" else nn.Identity()
    return Residual(ordered(order, steps, kinds[norm]), way, scale, blocks, relu=order == "v1")


def start_blocks(network: nn.Module) -> None:
    """Fixup's part of the initialisation of a network whose weights have been drawn."""
    for block in network.modules():
        if isinstance(block, Residual):
            block.start()
