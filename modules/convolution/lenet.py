"""LeNet: the first convolutional network that read digits, with sigmoids and mean pooling.

    conv 5×5 6 → σ → mean 2×2 → conv 5×5 16 → σ → mean 2×2 → 120 → σ → 84 → σ → 10

28² pictures are padded by 2 to the 32² of the original: 28 → 28 → 14 → 10 → 5, and 400 features. Without
padding, with 10 and 20 channels, ReLU, maxima and 50 units it is the text's network for MNIST, which reads
standardised pixels and drops whole maps after the second convolution: 28 → 24 → 12 → 8 → 4, 320 features,
21,840 parameters.

References: LeCun et al. 1998; [UDL] notes of chapter 10 and notebook 10.5.
"""

from collections.abc import Sequence
from typing import Any, Literal

from torch import nn

from modules.base import require, require_one_of, require_picture
from modules.convolution.classifier import Classifier, flat_size
from modules.convolution.initialization import xavier

ACTIVATIONS = {"sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "relu": nn.ReLU}
Activation = Literal["sigmoid", "tanh", "relu"]


class LeNet(Classifier):
    """Two convolutions with pooling, and a dense network.

    Args:
        image_shape: (C, H, W) of the input.
        num_classes: number of classes.
        channels: of the two convolutions.
        hidden: units of the dense layers.
        activation: after each layer but the last.
        pool: of blocks of 2×2.
        padding: zeros on each side of the first convolution.
        spatial_dropout: probability of dropping a map of the last convolution.
        standardize: pixels first get mean 0 and deviation 1 in each channel: of the batch in training, of
            the running averages after it.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes).

    Example:
        >>> LeNet().num_parameters
        61706
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 28, 28),
        num_classes: int = 10,
        channels: Sequence[int] = (6, 16),
        hidden: Sequence[int] = (120, 84),
        activation: Activation = "sigmoid",
        pool: Literal["mean", "max"] = "mean",
        padding: int = 2,
        spatial_dropout: float = 0.0,
        standardize: bool = False,
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require_picture(image_shape)
        require(1, channels=channels, hidden=[1, *hidden])
        require(0, padding=padding)
        require(0, below=1, spatial_dropout=spatial_dropout)
        require_one_of(Activation, activation=activation)
        require_one_of(Literal["mean", "max"], pool=pool)
        now = image_shape[0]
        layers: list[nn.Module] = [nn.BatchNorm2d(now, affine=False)] if standardize else []
        for number, width in enumerate(channels):
            convolution = nn.Conv2d(now, width, 5, padding=0 if number else padding)
            pooling = nn.AvgPool2d(2) if pool == "mean" else nn.MaxPool2d(2)
            layers += [convolution, ACTIVATIONS[activation](), pooling]
            now = width
        if spatial_dropout:
            layers.insert(-2, nn.Dropout2d(spatial_dropout))
        layers.append(nn.Flatten())  # (B, C', H', W') -> (B, C'·H'·W')
        now = flat_size(image_shape, layers)
        for width in hidden:
            layers += [nn.Linear(now, width), ACTIVATIONS[activation]()]
            now = width
        self.set_layers(*layers, nn.Linear(now, num_classes))
        if activation != "relu":  # Xavier's weights in place of He's, but for the last layer
            for layer in layers:
                if isinstance(layer, nn.Linear | nn.Conv2d):
                    xavier(layer.weight)
