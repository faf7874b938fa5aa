"""A convolutional classifier of signals: each layer looks at every position through one small window.

    h_i = ReLU[β + Σ_c Σ_{k<K} ω_{ck} x_{c, s·i + d·k − p}]        x = 0 outside, 0-based
    n_out = ⌊(n + 2p − d(K−1) − 1) / s⌋ + 1

The library and the texts compute this cross-correlation: the kernel isn't flipped.

The defaults are the text's network for MNIST-1D: three layers of 15 channels, K=3, s=2, "valid"
(p=0), then one dense layer: 40 → 19 → 9 → 4 positions and 60+690+690+610 = 2,050 parameters.

References: [UDL] §10.2, network of §10.2.7 and figure 10.7; Greydanus & Kobak 2020,
arXiv:2011.14439 (the benchmark and its own, stronger network).
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from modules.base import require
from modules.convolution.classifier import Classifier, flat_size


class CNN1d(Classifier):
    """Convolutions with ReLU → flatten → dense.

    One entry of `channels`, `kernel_sizes`, `strides`, `paddings`, `dilations` per layer; a list of
    one entry serves all layers.

    Args:
        image_shape: (C, W) of the input.
        num_classes: number of classes.
        channels: C_out of each layer.
        kernel_sizes: K of each layer.
        strides: s of each layer.
        paddings: p, zeros on each side.
        dilations: d of each layer, 1 = dense.
        dropout: probability of dropping a value before the dense layer; the text has none.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, W) → logits (B, num_classes).

    Raises:
        ValueError: when the lists disagree in length, or the input is too short for the layers.

    Example:
        >>> CNN1d(image_shape=(1, 40)).num_parameters
        2050
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 40),
        num_classes: int = 10,
        channels: Sequence[int] = (15, 15, 15),
        kernel_sizes: Sequence[int] = (3,),
        strides: Sequence[int] = (2,),
        paddings: Sequence[int] = (0,),
        dilations: Sequence[int] = (1,),
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require(
            1,
            image_shape=image_shape,
            channels=channels,
            kernel_sizes=kernel_sizes,
            strides=strides,
            dilations=dilations,
        )
        require(0, paddings=paddings)
        depth = len(channels)
        settings = [per_layer(values, depth) for values in (kernel_sizes, strides, paddings, dilations)]
        layers: list[nn.Module] = []
        c_in = image_shape[0]
        for c_out, kernel, stride, padding, dilation in zip(channels, *settings, strict=True):
            layers += [nn.Conv1d(c_in, c_out, kernel, stride, padding, dilation), nn.ReLU()]
            c_in = c_out
        layers.append(nn.Flatten())  # (B, C, W') -> (B, C·W')
        if dropout:
            layers.append(nn.Dropout(dropout))
        self.set_layers(*layers, nn.Linear(flat_size(image_shape, layers), num_classes))


def per_layer(values: Sequence[int], depth: int) -> list[int]:
    """One value per layer; a single value serves all."""
    if len(values) not in (1, depth):
        raise ValueError(f"{list(values)} has {len(values)} entries for {depth} layers: give 1 or {depth}.")
    return list(values) * (depth if len(values) == 1 else 1)
