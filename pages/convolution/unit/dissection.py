"""Units held against exact concepts: where they are above their thresholds, and how well that fits."""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.textured_shapes import TEXTURES
from modules.convolution.visualization import excited, overlaps
from pages.convolution.unit.networks import SIDE, Subject, pictures
from pages.convolution.unit.room import SHARES

SHOWN = 6  # pictures
TAKEN = [share / 100 for share in SHARES]


@dataclass(frozen=True)
class Table:
    """Concepts of a layer's units, by the shares of SHARES.

    Attributes:
        both, either: (F, K, M), pixels of intersection and of union.
    """

    both: Tensor
    either: Tensor

    @property
    def iou(self) -> Tensor:
        return self.both / self.either.clamp(min=1)

    @property
    def textures(self) -> Tensor:
        """The best IoU of each unit with a texture, (F, K)."""
        return self.iou[..., : len(TEXTURES)].amax(-1)

    @property
    def shapes(self) -> Tensor:
        """The best IoU of each unit with a shape, (F, K)."""
        return self.iou[..., len(TEXTURES) :].amax(-1)


@torch.no_grad()
def maps_of(subject: Subject, layer: str) -> Tensor:
    return subject.chain(layer)(pictures().x)  # (N, K, h, w)


def table(subject: Subject, layer: str) -> Table:
    """Units of a layer against all concepts."""
    pairs = [
        overlaps(on, pictures().concepts) for on in excited(maps_of(subject, layer), TAKEN, (SIDE, SIDE))
    ]
    both, either = (torch.stack(part) for part in zip(*pairs, strict=True))
    return Table(both, either)


def tables(subject: Subject) -> dict[str, Table]:
    """Of every layer with maps."""
    return {layer: table(subject, layer) for layer in subject.names[:-1]}


@dataclass(frozen=True)
class Dissected:
    """A unit against the concepts.

    Attributes:
        x: (P, s, s), the pictures that hold its largest values. on: (F, P, s, s) bool, where it is above T.
        both, either: (F, M).
    """

    x: Tensor
    on: Tensor
    both: Tensor
    either: Tensor

    @property
    def iou(self) -> Tensor:
        return self.both / self.either.clamp(min=1)

    def best(self, frame: int) -> int:
        return int(self.iou[frame].argmax())


def dissect(subject: Subject, layer: str, unit: int) -> Dissected:
    """One unit of a layer."""
    maps = maps_of(subject, layer)[:, unit : unit + 1]
    top = maps.flatten(1).amax(1).topk(SHOWN).indices
    on = excited(maps, TAKEN, (SIDE, SIDE))[:, 0]  # (F, N, s, s)
    both, either = overlaps(on, pictures().concepts)
    return Dissected(pictures().x[top, 0], on[:, top], both, either)
