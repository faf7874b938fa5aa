r"""Layers of images: squeeze, the invertible 1×1 convolution, and flows of several scales.

    squeeze       H×W×C → H/2 × W/2 × 4C: every 2×2 block becomes channels; ladj 0
    1×1 conv      one C×C matrix Ω at every place:                ladj = H·W·log |det Ω|
    multi-scale   normalizing, after each level but the last, half of the channels leave as z_n:
                  log p(x) = Σ_n log p_Z(z_n) + Σ ladj;  generating, they are appended again

A multi-scale flow is a flow without splits whose late levels act as the identity on what has left: the same
as a coupling whose conditioner ignores the other half, only cheaper. z is all pieces flattened into one
vector, the first to leave first.

Shapes: images (B, C, H, W); z (B, D).
References: Dinh et al. 2017, arXiv:1605.08803; Kingma & Dhariwal 2018, arXiv:1807.03039; Karami et al. 2019
(convolutions by Fourier transform); [UDL] 16.3.3, 16.4; [GM] 3.12.3.
"""

import math
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.linear import LU, substitute


class ImageLayer(FlowLayer):
    """Base of layers of images."""

    event_dims = 3


class Squeeze(ImageLayer):
    """Squeeze: normalizing makes four channels of each 2×2 block."""

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return F.pixel_shuffle(z, 2), self.zero_ladj(z)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return F.pixel_unshuffle(x, 2), self.zero_ladj(x)


class Conv1x1(ImageLayer):
    """One linear map of the channels at every place, in LU form: C² numbers, no bias.

    Normalizing multiplies: training needs no triangular solve. Starts as a frozen permutation.
    """

    def __init__(self, channels: int, seed: int = 0) -> None:
        super().__init__()
        self.linear = LU(channels, seed)
        self.linear.bias = None  # type: ignore[assignment]  # ActNorm has one

    def matrix(self) -> Tensor:
        """Ω of the normalizing direction, (C, C)."""
        return self.linear.matrix()

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x = self.linear.solve(z.movedim(-3, -1)).movedim(-1, -3)
        return x, self.expand_ladj(z, -math.prod(z.shape[-2:]) * self.linear.log_det())

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        z = F.conv2d(x, self.matrix()[:, :, None, None])
        return z, self.expand_ladj(x, math.prod(x.shape[-2:]) * self.linear.log_det())


class MultiScale(ImageLayer):
    """Levels of layers; after each but the last the first half of the channels leaves.

    Args:
        image_shape: (C, H, W) of x.
        levels: the stack of each level; its output has the shape that `shapes` says.
        shapes: (C, H, W) that each level gives, before the split.
    """

    def __init__(
        self,
        image_shape: Sequence[int],
        levels: Sequence[FlowStack],
        shapes: Sequence[tuple[int, int, int]],
    ) -> None:
        super().__init__()
        self.image_shape = tuple(image_shape)
        self.levels = nn.ModuleList(levels)
        self.pieces = piece_shapes(shapes)  # of each z_n
        if sum(map(math.prod, self.pieces)) != math.prod(self.image_shape):
            raise ValueError(f"The pieces {self.pieces} have not as many numbers as {self.image_shape}.")

    def extra_repr(self) -> str:
        return f"image_shape={self.image_shape}, pieces={self.pieces}"

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        left, total = [], self.zero_ladj(x)
        for piece, ladj in self.normalizing(x, context):
            left.append(piece.flatten(1))
            total = total + ladj
        return torch.cat(left, 1), total

    def normalizing(self, x: Tensor, context: Tensor | None = None) -> Iterator[ValueAndLogDet]:
        """The pieces (B, C_n, H_n, W_n) in the order in which they leave, and the ladj of each level."""
        last = len(self.levels) - 1
        for number, level in enumerate(self.levels):
            x, ladj = level.normalize(x, context)  # type: ignore[operator]
            if number < last:
                piece, x = x.chunk(2, 1)
                yield piece, ladj
            else:
                yield x, ladj

    def split(self, z: Tensor) -> list[Tensor]:
        """z (B, D) as pieces (B, C_n, H_n, W_n)."""
        parts = z.split([math.prod(shape) for shape in self.pieces], -1)
        return [part.reshape(-1, *shape) for part, shape in zip(parts, self.pieces, strict=True)]

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        *rest, h = self.split(z)
        total = z.new_zeros(len(z))
        for level in reversed(self.levels):
            h, ladj = level.generate(h, context)  # type: ignore[operator]
            total = total + ladj
            if rest:
                h = torch.cat([rest.pop(), h], 1)
        return h, total


def piece_shapes(shapes: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Shapes of what leaves after each level: half of the channels, at the last level all."""
    return [(c // 2, h, w) for c, h, w in shapes[:-1]] + [tuple(shapes[-1])]  # type: ignore[list-item]


def level_shapes(image_shape: Sequence[int], levels: int) -> list[tuple[int, int, int]]:
    """(C, H, W) that each level of squeeze and split works on.

    Raises:
        ValueError: the image cannot be halved so often.
    """
    require(1, levels=levels)
    channels, height, width = image_shape
    shapes = []
    for number in range(levels):
        if height % 2 or width % 2:
            raise ValueError(
                f"levels is {levels}: a picture of {image_shape[1]} by {image_shape[2]} pixels can be halved "
                f"{number} times."
            )
        channels, height, width = 4 * channels, height // 2, width // 2
        shapes.append((channels, height, width))
        channels //= 2
    return shapes


class PeriodicConv(ImageLayer):
    """Convolution on a torus: a product in the Fourier domain, ladj = Σ log |FFT(w)|.

    Args:
        image_shape: (C, H, W); each channel has a kernel of its own.
        kernel: side of the kernel.
    """

    def __init__(self, image_shape: Sequence[int], kernel: int = 3) -> None:
        super().__init__()
        self.image_shape = tuple(image_shape)
        require(1, below=1 + min(self.image_shape[1:]), kernel=kernel)
        weight = torch.zeros(self.image_shape[0], kernel, kernel)
        weight[:, 0, 0] = 1
        self.weight = nn.Parameter(weight)

    def extra_repr(self) -> str:
        return f"image_shape={self.image_shape}, kernel={self.weight.shape[-1]}"

    def spectrum(self) -> Tensor:
        """(C, H, W) complex."""
        return torch.fft.fft2(self.weight, s=self.image_shape[1:])

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        spectrum = self.spectrum()
        x = torch.fft.ifft2(torch.fft.fft2(z) * spectrum).real
        return x, self.expand_ladj(z, spectrum.abs().log().sum())

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        return torch.fft.ifft2(torch.fft.fft2(x) / self.spectrum()).real


class CausalConv(FlowLayer):
    """x_t = Σ_k w_k z_{t−k} on sequences (..., T): triangular, so ladj = T log |w_0|."""

    def __init__(self, kernel: int = 2) -> None:
        super().__init__()
        require(1, kernel=kernel)
        self.weight = nn.Parameter(torch.eye(kernel)[0])

    def extra_repr(self) -> str:
        return f"kernel={len(self.weight)}"

    def matrix(self, length: int) -> Tensor:
        """(T, T) lower triangular."""
        padded = F.pad(self.weight, (0, max(0, length - len(self.weight))))[:length]
        lag = torch.arange(length)[:, None] - torch.arange(length)
        return torch.where(lag >= 0, padded[lag.clamp(min=0)], 0.0)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x = z @ self.matrix(z.shape[-1]).T
        return x, self.expand_ladj(z, z.shape[-1] * self.weight[0].abs().log())

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        return substitute(self.matrix(x.shape[-1]), x, upper=False)
