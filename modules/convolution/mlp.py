"""The dense counterpart of the CNN: every hidden unit sees every input through a weight of its own.

    h_l = ReLU[β_l + Ω_l h_{l−1}],   logits = β_L + Ω_L h_{L−1}

With 285 = 15·19, 135 = 15·9 and 60 = 15·4 hidden units it contains the text's CNN for MNIST-1D as a
special case (its weights tied and mostly zero): `from_convolution` builds exactly that special case.
Training doesn't find it: both fit the training data, the MLP generalises far worse.

References: [UDL] §10.2.7, figures 10.4 and 10.8; 11,685+38,610+8,160+610 = 59,065 parameters.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import require
from modules.convolution.classifier import Classifier
from modules.convolution.cnn1d import CNN1d
from modules.mlp import mlp


class MLP(Classifier):
    """Flatten → dense layers with ReLU → dense.

    Args:
        image_shape: shape (C, ...) of the input.
        num_classes: number of classes.
        hidden: units of each hidden layer.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, ...) → logits (B, num_classes).

    Example:
        >>> MLP(image_shape=(1, 40)).num_parameters
        59065
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 40),
        num_classes: int = 10,
        hidden: Sequence[int] = (285, 135, 60),
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require(1, image_shape=image_shape, hidden=[1, *hidden])
        self.set_layers(
            nn.Flatten(), *mlp([prod(image_shape), *hidden, num_classes])
        )  # (B, C, ...) -> (B, D)

    @classmethod
    def from_convolution(cls, cnn: CNN1d) -> "MLP":
        """The MLP that computes the same function as `cnn`, dense layer by dense layer."""
        image_shape = tuple(cnn.hparams["image_shape"])
        dense: list[nn.Linear] = []
        shape = image_shape
        for layer in cnn.layers:
            if isinstance(layer, nn.Conv1d):
                dense.append(as_linear(layer, shape[-1]))
                shape = (layer.out_channels, dense[-1].out_features // layer.out_channels)
            elif isinstance(layer, nn.Linear):
                dense.append(layer)
        hidden = [layer.out_features for layer in dense[:-1]]
        dense_model = cls(image_shape=image_shape, num_classes=dense[-1].out_features, hidden=hidden)
        dense_model.to(dense[0].weight.dtype)
        for mine, theirs in zip(
            (m for m in dense_model.layers if isinstance(m, nn.Linear)), dense, strict=True
        ):
            mine.load_state_dict(theirs.state_dict())
        return dense_model


def as_linear(convolution: nn.Conv1d, width: int) -> nn.Linear:
    """The convolution as the dense layer that it is: flattened (C_in·W) → flattened (C_out·W').

    Its matrix is banded with tied entries ([UDL] figure 10.4): column j is the answer to the unit
    impulse at input j, so one convolution of the identity finds all of them.
    """
    size = convolution.in_channels * width
    weight = convolution.weight
    impulses = torch.eye(size, dtype=weight.dtype).reshape(size, convolution.in_channels, width)
    with torch.no_grad():
        bias = convolution(torch.zeros_like(impulses[:1])).flatten()  # (C_out·W',)
        matrix: Tensor = (convolution(impulses).flatten(1) - bias).T  # (C_out·W', C_in·W)
        linear = nn.utils.skip_init(nn.Linear, size, len(bias), dtype=weight.dtype)  # no weights are drawn
        linear.weight.copy_(matrix)
        linear.bias.copy_(bias)
    return linear
