"""Networks whose units are looked at, and pictures of their kind.

Shapes: N pictures, s pixels a side.
"""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from datamodules.textured_shapes import SHAPES, TEXTURES, concepts, drawn
from modules.convolution.classifier import Classifier
from modules.convolution.visualization import cuts
from pages.convolution.unit.room import LOGITS

SIDE, NOISE, COUNT, TEST = 32, 0.05, 64, 3  # of textured shapes; how many; seed of a test split


@dataclass(frozen=True)
class Subject:
    """A network whose units are looked at.

    Attributes:
        shelf: (N, 1, s, s), pictures of its kind. rest: grey level of what is not drawn on.
    """

    model: Classifier
    shelf: Tensor
    rest: float

    @property
    def side(self) -> int:
        return self.shelf.shape[-1]

    @property
    def names(self) -> list[str]:
        """Names of its layers, the logits last."""
        return [*(f"layer {k}" for k in range(1, len(cuts(self.model.layers)))), LOGITS]

    def chain(self, layer: str) -> nn.Sequential:
        """From the input to the units of a layer, before their ReLU."""
        return nn.Sequential(*list(self.model.layers)[: cuts(self.model.layers)[self.names.index(layer)]])

    @torch.no_grad()
    def units(self, layer: str) -> int:
        return int(self.chain(layer)(self.shelf[:1]).shape[1])


@dataclass(frozen=True)
class Pictures:
    """
    Attributes:
        x: (N, 1, s, s). y: (N,). concepts: (M, N, s, s) bool, those of CONCEPTS.
    """

    x: Tensor
    y: Tensor
    concepts: Tensor


@cache
def pictures() -> Pictures:
    """Textured shapes that no network was trained on."""
    x, y, mask = drawn(COUNT, TEST, SIDE, NOISE)
    return Pictures(x, y, concepts(y, mask))


def shelf() -> list[tuple[str, Tensor]]:
    """One picture of each class by its name."""
    found = pictures()
    firsts = [int((found.y == k).nonzero()[0]) for k in range(len(SHAPES) * len(TEXTURES))]
    return [(f"{TEXTURES[k % 3]}, {SHAPES[k // 3]}", found.x[i, 0]) for k, i in enumerate(firsts)]
