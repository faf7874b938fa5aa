"""A classifier: a stack of layers, a softmax, cross-entropy.

    Pr(y = k | x) = softmax_k[f(x)]        loss = −log Pr(y | x)    in nats

Every classifier of this family keeps its network in one `nn.Sequential` called `layers`, in the
order in which it runs: whoever wants to look inside (receptive fields, feature maps) walks it.

References: [UDL] §5.5 (multiclass loss), §7.5 and problem 10.19 (He initialisation; He et al. 2015,
arXiv:1502.01852).
"""

from copy import deepcopy
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchmetrics import Metric
from torchmetrics.classification import MulticlassAccuracy

from modules.base import Mean, Module, Split, require

HEAD_GAIN = 0.1  # of the He scale: the first prediction is nearly uniform, the first loss ln(num_classes)


def initialize_he(layers: nn.Sequential) -> None:
    """He initialisation for ReLU, in place: biases 0, Var ω = 2 / fan_in, fan_in = C_in·K·K.

    The size of the image plays no part ([UDL] P10.19). The last layer, which no ReLU follows, gets
    `HEAD_GAIN` times that standard deviation.
    """
    weighted = [m for m in layers.modules() if isinstance(m, nn.Linear | nn.Conv1d | nn.Conv2d)]
    for layer in weighted:
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    weighted[-1].weight.data.mul_(HEAD_GAIN)


class Classifier(Module):
    """Base of the classifiers: a subclass builds `layers` and hands them to `set_layers`.

    Measures `nll` (nats per example) and `acc` (share of right answers).

    Args:
        num_classes: number of classes.
        training: optimizer and scheduler, see `Module`.
    """

    OF_LOGITS: ClassVar[tuple[str, ...]] = ("acc",)  # metrics that take logits and classes
    layers: nn.Sequential

    def __init__(self, num_classes: int = 10, **training: Any) -> None:
        require(1, num_classes=num_classes)
        super().__init__(_measures=self.measures(num_classes), **training)

    @staticmethod
    def measures(num_classes: int) -> dict[str, Metric]:
        """Metrics by name; a subclass may have more."""
        accuracy = MulticlassAccuracy(num_classes, average="micro", validate_args=False)
        return {"nll": Mean(), "acc": accuracy}

    def set_layers(self, *layers: nn.Module) -> None:
        """Keep the layers in order and initialise them."""
        self.layers = nn.Sequential(*layers)
        initialize_he(self.layers)

    def predict(self, x: Tensor) -> Tensor:
        """Logits f(x) (B, num_classes) of inputs x (B, C, ...)."""
        return self.layers(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.predict(x)

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, y = batch  # (B, C, ...), (B,)
        logits = self.predict(x)
        nll = F.cross_entropy(logits, y, reduction="none")  # (B,) nats
        self.log_metric(split, "nll", nll.detach())
        for name in self.OF_LOGITS:
            self.log_metric(split, name, logits.detach(), y)
        return nll.mean()


def flat_size(shape: tuple[int, ...], layers: list[nn.Module]) -> int:
    """Number of values that `layers` make of one input of `shape`.

    Raises:
        ValueError: when a kernel is larger than what is left of the input.
    """
    network = nn.Sequential(*deepcopy(layers)).to("meta").eval()  # shapes only, nothing is computed
    try:
        return network(torch.empty(1, *shape, device="meta")).numel()
    except RuntimeError as error:
        raise ValueError(
            f"An input of {shape} is too small for these layers: use fewer layers or pad."
        ) from error
