"""ResNet: stages of residual blocks, each at half the grid and twice the channels of the one before.

    stem → blocks of stage 1 → ↓2, blocks of stage 2 → … → global average pooling → dense

Stem 7×7 with stride 2 and max pooling for ImageNet's 224², 3×3 with stride 1 for pictures of 32² and less.
The CIFAR pair has depth 6n + 2: three stages of n blocks of two 3×3 convolutions, with shortcuts or plain.
ResNet-200 has 3, 24, 36, 3 bottlenecks: 3·66 + 2 = 200 layers.

References: [UDL] §11.5.1, figures 11.2, 11.7, 11.8; He et al. 2016, arXiv:1512.03385 (v1) and
arXiv:1603.05027 (v2).
"""

from collections.abc import Sequence
from typing import Any, Literal

from torch import nn

from modules.base import require, require_one_of, require_picture
from modules.convolution.classifier import Classifier
from modules.convolution.residual import (
    Norm,
    Order,
    Scale,
    Shortcut,
    convolution_block,
    norm2d,
    start_blocks,
)

EXPANSION = 4  # channels after a bottleneck, of those within
DEPTHS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
    200: (3, 24, 36, 3),
}
Stem = Literal["3x3", "7x7"]


def stem_layers(stem: Stem, channels: int, width: int, norm: Norm) -> list[nn.Module]:
    """First convolution with norm and ReLU; of 7×7 with stride 2, and max pooling: a quarter of the grid."""
    require_one_of(Stem, stem=stem)
    kernel, stride = (7, 2) if stem == "7x7" else (3, 1)
    first = nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=norm == "none")
    pool = [nn.MaxPool2d(3, 2, 1)] if stem == "7x7" else []
    return [first, *norm2d(norm)(width), nn.ReLU(), *pool]


class ResNet(Classifier):
    """Residual classifier of pictures.

    Args:
        image_shape: (C, H, W) of the input.
        num_classes: number of classes.
        blocks: of each stage.
        widths: channels of the 3×3 convolutions of each stage; after a bottleneck four times as many.
        bottleneck: blocks of 1×1, 3×3, 1×1 in place of two 3×3.
        order: of norm, ReLU and convolution, see `residual`.
        stem: "3x3" keeps the grid, "7x7" divides it by four.
        shortcut: where channels or grid change; "none" is the plain network.
        norm: between the layers.
        scale: of the sum, see `residual`.
        stride_at: which convolution of a bottleneck has the stride.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes).

    Example:
        >>> ResNet(image_shape=(3, 32, 32), **cifar(20)).num_parameters
        269722
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (3, 32, 32),
        num_classes: int = 10,
        blocks: Sequence[int] = (3, 3, 3),
        widths: Sequence[int] = (16, 32, 64),
        bottleneck: bool = False,
        order: Order = "v2",
        stem: Stem = "3x3",
        shortcut: Shortcut = "projection",
        norm: Norm = "batch",
        scale: Scale = "none",
        stride_at: Literal["1x1", "3x3"] = "3x3",
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require_picture(image_shape)
        require(1, blocks=blocks, widths=widths)
        if len(blocks) != len(widths):
            raise ValueError(f"{len(blocks)} blocks for {len(widths)} widths: give one of each per stage.")
        layers = stem_layers(stem, image_shape[0], widths[0], norm)
        now = widths[0]
        for stage, (count, width) in enumerate(zip(blocks, widths, strict=True)):
            after = EXPANSION * width if bottleneck else width
            for number in range(count):
                layers.append(
                    convolution_block(
                        now,
                        after,
                        stride=2 if stage and not number else 1,
                        bottleneck=width if bottleneck else 0,
                        order=order,
                        shortcut=shortcut,
                        norm=norm,
                        scale=scale,
                        blocks=sum(blocks),
                        stride_at=stride_at,
                    )
                )
                now = after
        if order == "v2":  # the trunk is linear so far
            layers += [*norm2d(norm)(now), nn.ReLU()]
        # (B, C', H', W') -> (B, C')
        self.set_layers(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(now, num_classes))
        start_blocks(self.layers)


def cifar(depth: int, plain: bool = False) -> dict[str, Any]:
    """Arguments of the CIFAR network of this depth, of blocks v1 with zeros appended, or plain.

    Raises:
        ValueError: the depth isn't 6n + 2.
    """
    if depth < 8 or (depth - 2) % 6:
        raise ValueError(f"depth is {depth}: three stages of n blocks of two layers make 6n + 2.")
    n = (depth - 2) // 6
    return {"blocks": (n, n, n), "order": "v1", "shortcut": "none" if plain else "zeros"}


def imagenet(depth: int, order: Order = "v1", shortcut: Shortcut = "projection") -> dict[str, Any]:
    """Arguments of the network of this depth for 224² and 1,000 classes.

    Raises:
        ValueError: the depth is none of those published.
    """
    if depth not in DEPTHS:
        raise ValueError(f"depth is {depth}: give one of {', '.join(map(str, DEPTHS))}.")
    return {
        "image_shape": (3, 224, 224),
        "num_classes": 1000,
        "blocks": DEPTHS[depth],
        "widths": (64, 128, 256, 512),
        "bottleneck": depth >= 50,
        "order": order,
        "shortcut": shortcut,
        "stem": "7x7",
    }
