"""Convolution over p4, the group of translations and quarter turns, and a classifier made of it.

    h_{o,r}(u) = Σ_c Σ_v (ρʳω_{o,c})(v) x_c(u + v)                   lifting, r = 0, 1, 2, 3
    h_{o,r}(u) = Σ_c Σ_s Σ_v (ρʳω_{o,c,s−r})(v) h_{c,s}(u + v)       from p4 to p4, s − r modulo 4

ρ turns a grid by a quarter, counterclockwise. A turn of the picture turns each map and moves on the four
orientations of a channel by one: f(ρx)_r = ρ f(x)_{r−1}. The maximum over orientations is turned and no
more, a mean of it over the grid isn't changed at all. Weights do not know the orientation: as many numbers
as of one, four times the operations.

Shapes: x (B, C, H, W), h (B, C, 4, H, W), weights (C_o, C_i, K, K) and (C_o, C_i, 4, K, K).
References: [UDL] notes of chapter 10; Cohen & Welling 2016, arXiv:1602.07576.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.convolution.classifier import Classifier

TURNS = 4


def turned(x: Tensor, quarters: int = 1) -> Tensor:
    """x (..., H, W) turned counterclockwise by so many quarters."""
    return x.rot90(quarters, (-2, -1))


def lifting_weight(weight: Tensor) -> Tensor:
    """Weights (C_o, C_i, K, K) in all orientations, (C_o·4, C_i, K, K): those of an ordinary convolution."""
    return torch.stack([turned(weight, r) for r in range(TURNS)], 1).flatten(0, 1)


def group_weight(weight: Tensor) -> Tensor:
    """Weights (C_o, C_i, 4, K, K) in all orientations, (C_o·4, C_i·4, K, K)."""
    every = [turned(weight, r).roll(r, 2) for r in range(TURNS)]  # entry s of r is ρʳω_{s−r}
    return torch.stack(every, 1).flatten(2, 3).flatten(0, 1)


class Lift(nn.Module):
    """Convolution of a picture with each kernel in four orientations, "same" padding, no bias.

    Args:
        c_in, c_out: channels.
        kernel: odd side K.

    Shapes: x (B, C_i, H, W) → (B, C_o, 4, H, W).
    """

    orientations: tuple[int, ...] = ()  # of the input

    def __init__(self, c_in: int, c_out: int, kernel: int) -> None:
        super().__init__()
        require(1, c_in=c_in, c_out=c_out, kernel=kernel)
        if kernel % 2 == 0:
            raise ValueError(f"kernel {kernel}: only an odd kernel has a centre to turn about.")
        self.weight = nn.Parameter(torch.empty(c_out, c_in, *self.orientations, kernel, kernel))
        nn.init.kaiming_normal_(self.weight.flatten(1), nonlinearity="relu")

    def as_ordinary(self) -> Tensor:
        """Weights of the ordinary convolution that computes the same, an output channel an orientation."""
        return lifting_weight(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1, -3)  # (B, C_i·4, H, W), or (B, C_i, H, W) as it is
        h = F.conv2d(x, self.as_ordinary(), padding=self.weight.shape[-1] // 2)
        return h.unflatten(1, (-1, TURNS))


class GroupConvolution(Lift):
    """Convolution from p4 to p4, "same" padding, no bias: a kernel reads all four orientations.

    Shapes: h (B, C_i, 4, H, W) → (B, C_o, 4, H, W).
    """

    orientations = (TURNS,)

    def as_ordinary(self) -> Tensor:
        return group_weight(self.weight)


class Invariant(nn.Module):
    """Largest orientation at each place, then the mean over places: (B, C, 4, H, W) → (B, C)."""

    def forward(self, h: Tensor) -> Tensor:
        return h.amax(2).mean((-2, -1))


class P4CNN(Classifier):
    """Blocks of group convolution → batch norm → ReLU, max pooling between blocks; then a dense layer reads
    what does not change with quarter turns.

    Args:
        image_shape: (C, H, W) of the input; H and W divide by each pooling, or a turn meets other blocks.
        num_classes: number of classes.
        channels: C_out of each block; the first lifts.
        kernel_size: odd K of all blocks. Padding keeps the grid ("same").
        pool: block size of the max pooling between blocks.
        dropout: probability of dropping a value before the dense layer.
        convolutions: group convolution → batch norm → ReLU of each block, one after the other.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes), the same for ρx.

    Raises:
        ValueError: for an even kernel, or sides that do not divide.
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 28, 28),
        num_classes: int = 10,
        channels: Sequence[int] = (8, 16, 16),
        kernel_size: int = 3,
        pool: int = 2,
        dropout: float = 0.0,
        convolutions: int = 1,
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require(1, image_shape=image_shape, channels=channels, pool=pool, convolutions=convolutions)
        whole = pool ** (len(channels) - 1)
        if any(side % whole for side in image_shape[1:]):
            raise ValueError(
                f"An image of {image_shape[1:]} pooled {len(channels) - 1} times by {pool}: its sides must "
                f"divide by {whole}, or a turned image is pooled in other blocks."
            )
        layers: list[nn.Module] = []
        c_in = image_shape[0]
        for block, c_out in enumerate(channels):
            if block:
                layers.append(nn.MaxPool3d((1, pool, pool)))
            for _ in range(convolutions):
                kind = GroupConvolution if layers else Lift
                layers += [kind(c_in, c_out, kernel_size), nn.BatchNorm3d(c_out), nn.ReLU()]
                c_in = c_out
        self.set_layers(*layers, Invariant(), nn.Dropout(dropout), nn.Linear(c_in, num_classes))
