"""A convolutional classifier of images: stacks of (convolution, normalisation, ReLU, max pooling).

    h_ij = ReLU[β + Σ_c Σ_{m,n<K} ω_{cmn} x_{c, i+m−p, j+n−p}]     "same": p = (K−1)/2
    pool: the largest of each 2×2 block, so the grid halves and the receptive field doubles its step

Batch normalisation stands between convolution and ReLU (mean and variance over batch and positions,
one pair per channel; frozen running averages at test), so the convolution needs no bias of its own. The dense
layer reads all positions of the last maps, or with `mean_pool` their mean: the position then plays no part.

References: [UDL] §10.3–10.4 and notebook 10.5, §11.4 (batch normalisation; Ioffe & Szegedy 2015,
arXiv:1502.03167); Kingma & Ba 2015 and Loshchilov & Hutter 2019, arXiv:1711.05101 (optimizer).
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from modules.base import require
from modules.convolution.classifier import Classifier, flat_size
from modules.convolution.cnn1d import per_layer


class CNN2d(Classifier):
    """Blocks of (convolution → batch norm → ReLU) × n, max pooling between blocks, then a dense layer.

    Args:
        image_shape: (C, H, W) of the input.
        num_classes: number of classes.
        channels: C_out of each block.
        kernel_sizes: odd K of each block; one entry serves all. Padding keeps the grid ("same").
        pool: block size of the max pooling between blocks.
        dropout: probability of dropping a value before the dense layer.
        convolutions: convolution → batch norm → ReLU of each block, one after the other.
        mean_pool: the dense layer reads the mean of each map.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes).

    Raises:
        ValueError: for an even kernel, lists of different length, or an image too small to pool.
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 28, 28),
        num_classes: int = 10,
        channels: Sequence[int] = (16, 32, 64),
        kernel_sizes: Sequence[int] = (3,),
        pool: int = 2,
        dropout: float = 0.5,
        convolutions: int = 1,
        mean_pool: bool = False,
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require(1, image_shape=image_shape, channels=channels, kernel_sizes=kernel_sizes, pool=pool)
        require(1, convolutions=convolutions)
        kernels = per_layer(kernel_sizes, len(channels))
        if any(kernel % 2 == 0 for kernel in kernels):
            raise ValueError(f"kernel_sizes {kernels}: only an odd kernel has a centre to keep the grid.")
        layers: list[nn.Module] = []
        c_in = image_shape[0]
        for block, (c_out, kernel) in enumerate(zip(channels, kernels, strict=True)):
            if block:
                layers.append(nn.MaxPool2d(pool))
            for _ in range(convolutions):
                convolution = nn.Conv2d(c_in, c_out, kernel, padding=kernel // 2, bias=False)
                layers += [convolution, nn.BatchNorm2d(c_out), nn.ReLU()]
                c_in = c_out
        if mean_pool:
            layers.append(nn.AdaptiveAvgPool2d(1))  # (B, C, H', W') -> (B, C, 1, 1)
        layers += [nn.Flatten(), nn.Dropout(dropout)]  # (B, C, H', W') -> (B, C·H'·W')
        self.set_layers(*layers, nn.Linear(flat_size(image_shape, layers), num_classes))
