"""Residual network of dense layers: how deep a stack still trains.

    h_0 = Ω_0 x + β_0,   h_k = h_{k−1} + λ f_k[h_{k−1}],   logits = Ω_K h_K + β_K

It starts and ends with a linear layer, as the blocks of order v2 begin with a ReLU ([UDL] §11.2.1).

References: [UDL] §11.1–11.4, figures 11.4–11.6.
"""

from math import prod
from typing import Any, Literal

from torch import nn

from modules.base import require
from modules.convolution.classifier import Classifier
from modules.convolution.residual import Order, Scale, dense_block, start_blocks


class ResidualMLP(Classifier):
    """Dense layer, K blocks of D units, dense layer.

    Args:
        image_shape: shape (C, ...) of the input.
        num_classes: number of classes.
        width: D.
        blocks: K.
        block_depth: dense layers in each block.
        order: of norm, ReLU and linear layer, see `residual`.
        shortcut: "none" is the plain network.
        norm: inside of the blocks.
        scale: of the sum, see `residual`.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, ...) → logits (B, num_classes).
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 40),
        num_classes: int = 10,
        width: int = 50,
        blocks: int = 16,
        block_depth: int = 1,
        order: Order = "v2",
        shortcut: Literal["identity", "none"] = "identity",
        norm: Literal["batch", "layer", "none"] = "batch",
        scale: Scale = "none",
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require(1, image_shape=image_shape, blocks=blocks)
        stack = [dense_block(width, order, shortcut, norm, scale, blocks, block_depth) for _ in range(blocks)]
        first = nn.Linear(prod(image_shape), width)  # (B, C, ...) -> (B, D)
        self.set_layers(nn.Flatten(), first, *stack, nn.Linear(width, num_classes))
        start_blocks(self.layers)
