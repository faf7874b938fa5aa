"""DenseNet: every layer reads all earlier ones of its chain, concatenated.

    h_k = [h_{k−1}, f_k(h_{k−1})]          C + k·growth channels after k layers

f is norm → ReLU → 1×1 (a bottleneck) → norm → ReLU → 3×3. A chain ends where the grid is halved: a transition
of 1×1 and mean pooling, which also shrinks the channels, starts the next. Each layer's output reaches the
end of its chain unchanged, so a path of length 1 leads there from its gradient.

References: [UDL] §11.5.2, figure 11.9; Huang et al. 2017, arXiv:1608.06993.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import require, require_picture
from modules.convolution.classifier import Classifier
from modules.convolution.residual import norm2d, ordered
from modules.convolution.resnet import Stem, stem_layers


class DenseLayer(nn.Module):
    """[x, f(x)], (B, C, H, W) -> (B, C + growth, H, W).

    Args:
        bottleneck: channels of the 1×1 before, of the growth; 0 has none.
    """

    def __init__(self, channels: int, growth: int, bottleneck: int = 4) -> None:
        super().__init__()
        steps: list[tuple[nn.Module, int, int]] = []
        now = channels
        if bottleneck:
            now = bottleneck * growth
            steps.append((nn.Conv2d(channels, now, 1, bias=False), channels, now))
        steps.append((nn.Conv2d(now, growth, 3, padding=1, bias=False), now, growth))
        self.branch = ordered("v2", steps, norm2d("batch"))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.branch(x)], 1)


class DenseNet(Classifier):
    """Chains of dense layers, transitions between.

    Args:
        image_shape: (C, H, W) of the input.
        num_classes: number of classes.
        blocks: layers of each chain.
        growth: channels that each layer adds.
        bottleneck: channels of the 1×1 before each 3×3, of the growth; 0 has none.
        compression: share of the channels that a transition keeps.
        stem: "3x3" keeps the grid, "7x7" divides it by four.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes).
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (3, 32, 32),
        num_classes: int = 10,
        blocks: Sequence[int] = (6, 6, 6),
        growth: int = 12,
        bottleneck: int = 4,
        compression: float = 0.5,
        stem: Stem = "3x3",
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require_picture(image_shape)
        require(1, blocks=blocks, growth=growth)
        require(0, bottleneck=bottleneck)
        if not 0 < compression <= 1:
            raise ValueError(f"compression is {compression}: it must be above 0 and at most 1.")
        now = 2 * growth
        layers = stem_layers(stem, image_shape[0], now, "batch")
        for number, count in enumerate(blocks):
            if number:
                kept = max(1, int(compression * now))
                layers += [*norm2d("batch")(now), nn.ReLU(), nn.Conv2d(now, kept, 1, bias=False)]
                layers.append(nn.AvgPool2d(2, ceil_mode=True))
                now = kept
            for _ in range(count):
                layers.append(DenseLayer(now, growth, bottleneck))
                now += growth
        layers += [*norm2d("batch")(now), nn.ReLU()]
        # (B, C', H', W') -> (B, C')
        self.set_layers(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(now, num_classes))


def densenet_121() -> dict[str, Any]:
    """Arguments of DenseNet-BC-121 for 224² and 1,000 classes."""
    return {
        "image_shape": (3, 224, 224),
        "num_classes": 1000,
        "blocks": (6, 12, 24, 16),
        "growth": 32,
        "stem": "7x7",
    }
