r"""Invertible residual block of images: x + f(x), f two convolutions that together contract.

    z = x + K_2 ∗ elu(K_1 ∗ x + b_1) + b_2,    each K scaled to an operator norm of at most c < 1

The norm that counts is that of the convolution as a map of whole padded pictures: it grows with the picture,
and the largest singular value of the reshaped kernel may lie below it, so that a block scaled by that one
need not be invertible. Everything else, the fixed point of the inverse, the series, the probes and the
roulette, is `Residual`'s, on pictures laid flat.

Shapes: (B, C, H, W), of one size.
References: Behrmann et al. 2019, arXiv:1811.00995; Gouk et al. 2021, arXiv:1804.04368; [UDL] 16.3.7.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.flow.iresnet import Residual
from modules.flow.layer import ValueAndLogDet
from modules.flow.tangent import Push, TangentMLP, conv_norm


class TangentConv(TangentMLP):
    """Two 3×3 convolutions on flat pictures (..., C·H·W) that can push tangents.

    Args:
        shape: C, H, W.
        channels: between the two.
        coefficient: c, of either.
    """

    def __init__(self, shape: Sequence[int], channels: int, coefficient: float = 0.9) -> None:
        nn.Module.__init__(self)
        require(1, shape=list(shape), channels=channels)
        require(1e-3, below=1, coefficient=coefficient)
        self.shape, self.coefficient, self.activation = tuple(shape), coefficient, "elu"
        sizes = [(shape[0], channels), (channels, shape[0])]
        self.layers = nn.ModuleList([nn.Conv2d(i, o, 3, padding=1) for i, o in sizes])

    def matrices(self) -> list[tuple[Tensor, Tensor]]:
        """Kernel and bias of both, as they are used."""
        results = []
        for layer in self.layers:
            kernel, bias = layer.weight, layer.bias
            norm = conv_norm(kernel, self.shape[1:])  # type: ignore[arg-type]
            results.append((kernel * (self.coefficient / norm.clamp(min=self.coefficient)), bias))  # type: ignore[operator]
        return results  # type: ignore[return-value]

    def linearise(
        self, h: Tensor, matrices: list[tuple[Tensor, Tensor]] | None = None
    ) -> tuple[Tensor, Push]:
        (first, bias), (last, end) = self.matrices() if matrices is None else matrices
        pictures = h.reshape(-1, *self.shape)
        inner, slope = self.act(F.conv2d(pictures, first, bias, padding=1))  # (B, channels, H, W)
        value = F.conv2d(inner, last, end, padding=1)

        def push(v: Tensor) -> Tensor:  # (..., n, D)
            n = v.shape[-2]
            moved = F.conv2d(v.reshape(-1, *self.shape), first, padding=1)
            moved = moved * slope.repeat_interleave(n, 0)
            return F.conv2d(moved, last, padding=1).reshape(v.shape)

        return value.reshape(h.shape), push


class ConvResidual(Residual):
    """`Residual` of images.

    Args:
        shape: C, H, W.
        channels: between the two convolutions.
        options: estimator, terms, probes and stop, as `Residual` has them.
    """

    event_dims = 3

    def __init__(
        self, shape: Sequence[int], channels: int = 16, coefficient: float = 0.9, **options: Any
    ) -> None:
        require(1, shape=list(shape))
        super().__init__(prod(shape), (1,), coefficient, **options)
        self.f = TangentConv(shape, channels, coefficient)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        z, ladj = super().normalize(x.flatten(-3))
        return z.reshape(x.shape), ladj

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x, ladj = super().generate(z.flatten(-3))
        return x.reshape(z.shape), ladj
