"""AlexNet: five convolutions and three dense layers, in which 94 % of its parameters are.

    conv 11×11 s4 96 → pool → conv 5×5 256 → pool → conv 3×3 384, 384, 256 → pool → 4096 → 4096 → 1000

The first dense layer reads 6·6·256 = 9,216 features. Which sizes lead there: with pools of 3×3 and stride 2
the first convolution must leave 55, as it does of 227, or of 224 padded by 2; 224 without padding ends at
5×5. With pools of 2×2, 54 and 55 both do. [UDL] says "about 60 million" parameters: it is 62,378,344, or
60,965,224 in the two groups of the original, which ran on two processors.

References: [UDL] §10.5.1, figure 10.16; Krizhevsky et al. 2012.
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from modules.base import require, require_picture
from modules.convolution.classifier import Classifier, flat_size


class AlexNet(Classifier):
    """Convolutions with ReLU, pooling after the first, the second and the last; dense layers with dropout.

    Args:
        image_shape: (C, H, W) of the input.
        num_classes: number of classes.
        channels: of the five convolutions.
        hidden: units of the dense layers.
        kernel: side of the first convolution.
        stride: of the first convolution.
        padding: of the first convolution.
        pool: side of the pooling, whose stride is 2.
        groups: of the second, the fourth and the fifth convolution.
        dropout: probability of dropping a value before each hidden dense layer.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes).
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (3, 224, 224),
        num_classes: int = 1000,
        channels: Sequence[int] = (96, 256, 384, 384, 256),
        hidden: Sequence[int] = (4096, 4096),
        kernel: int = 11,
        stride: int = 4,
        padding: int = 2,
        pool: int = 3,
        groups: int = 1,
        dropout: float = 0.5,
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require_picture(image_shape)
        require(1, channels=channels, hidden=[1, *hidden], kernel=kernel, stride=stride, groups=groups)
        require(2, pool=pool)
        require(0, padding=padding)
        require(0, below=1, dropout=dropout)
        if len(channels) != 5:
            raise ValueError(f"channels has {len(channels)} entries: AlexNet has five convolutions.")
        if any(count % groups for count in channels):
            raise ValueError(f"channels {list(channels)} don't divide by {groups} groups.")
        first = nn.Conv2d(image_shape[0], channels[0], kernel, stride, padding)
        layers: list[nn.Module] = [first, nn.ReLU(), nn.MaxPool2d(pool, 2)]
        for number in range(1, 5):
            side = 5 if number == 1 else 3
            inside = 1 if number == 2 else groups  # the third reads both groups
            convolution = nn.Conv2d(
                channels[number - 1], channels[number], side, padding=side // 2, groups=inside
            )
            layers += [convolution, nn.ReLU()]
            if number in (1, 4):
                layers.append(nn.MaxPool2d(pool, 2))
        layers.append(nn.Flatten())  # (B, C', H', W') -> (B, C'·H'·W')
        now = flat_size(image_shape, layers)
        for width in hidden:
            layers += [nn.Dropout(dropout), nn.Linear(now, width), nn.ReLU()]
            now = width
        self.set_layers(*layers, nn.Linear(now, num_classes))
