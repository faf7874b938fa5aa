"""VGG: stacks of 3×3 convolutions, max pooling after each, three dense layers.

Two 3×3 layers see 5×5, three see 7×7, with fewer weights than one such layer and a ReLU between. VGG-19 has
2, 2, 4, 4, 4 convolutions, VGG-16 2, 2, 3, 3, 3: 19 and 16 layers with weights, the last of which is the
output ([UDL] calls all 19 hidden, and later 18).

References: [UDL] §10.5.1, figure 10.17, problem 10.18; Simonyan & Zisserman 2015, arXiv:1409.1556.
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from modules.base import require, require_picture
from modules.convolution.classifier import Classifier, flat_size

VGG_16, VGG_19 = (2, 2, 3, 3, 3), (2, 2, 4, 4, 4)


class VGG(Classifier):
    """Stacks of "same" convolutions with ReLU, halved by max pooling.

    Args:
        image_shape: (C, H, W) of the input.
        num_classes: number of classes.
        blocks: convolutions of each stack.
        channels: of each stack.
        hidden: units of the dense layers.
        dropout: probability of dropping a value after each hidden dense layer.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes).
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (3, 224, 224),
        num_classes: int = 1000,
        blocks: Sequence[int] = VGG_19,
        channels: Sequence[int] = (64, 128, 256, 512, 512),
        hidden: Sequence[int] = (4096, 4096),
        dropout: float = 0.5,
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require_picture(image_shape)
        require(1, blocks=blocks, channels=channels, hidden=[1, *hidden])
        require(0, below=1, dropout=dropout)
        if len(blocks) != len(channels):
            raise ValueError(
                f"{len(blocks)} blocks for {len(channels)} channels: give one of each per stack."
            )
        layers: list[nn.Module] = []
        now = image_shape[0]
        for count, width in zip(blocks, channels, strict=True):
            for _ in range(count):
                layers += [nn.Conv2d(now, width, 3, padding=1), nn.ReLU()]
                now = width
            layers.append(nn.MaxPool2d(2))
        layers.append(nn.Flatten())  # (B, C', H', W') -> (B, C'·H'·W')
        now = flat_size(image_shape, layers)
        for width in hidden:
            layers += [nn.Linear(now, width), nn.ReLU(), nn.Dropout(dropout)]
            now = width
        self.set_layers(*layers, nn.Linear(now, num_classes))
