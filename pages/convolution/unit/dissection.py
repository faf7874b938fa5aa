"""Units held against exact concepts: where they are above their thresholds, and how well that fits."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from datamodules.textured_shapes import CONCEPTS, SHAPES, TEXTURES, concepts, drawn
from modules.convolution.visualization import excited, overlaps
from pages.convolution.unit.room import SHARES

if TYPE_CHECKING:
    from pages.convolution.unit.lens import Subject

SIDE, NOISE, COUNT, TEST, SHOWN = 32, 0.05, 64, 3, 6  # pictures; seed of a test split; of them shown
TAKEN = [share / 100 for share in SHARES]


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
def maps_of(subject: "Subject", layer: str) -> Tensor:
    return subject.chain(layer)(pictures().x)  # (N, K, h, w)


def table(subject: "Subject", layer: str) -> Table:
    """Units of a layer against all concepts."""
    pairs = [
        overlaps(on, pictures().concepts) for on in excited(maps_of(subject, layer), TAKEN, (SIDE, SIDE))
    ]
    both, either = (torch.stack(part) for part in zip(*pairs, strict=True))
    return Table(both, either)


def tables(subject: "Subject") -> dict[str, Table]:
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


def dissect(subject: "Subject", layer: str, unit: int) -> Dissected:
    """One unit of a layer."""
    maps = maps_of(subject, layer)[:, unit : unit + 1]
    top = maps.flatten(1).amax(1).topk(SHOWN).indices
    on = excited(maps, TAKEN, (SIDE, SIDE))[:, 0]  # (F, N, s, s)
    both, either = overlaps(on, pictures().concepts)
    return Dissected(pictures().x[top, 0], on[:, top], both, either)


def name_of(concept: int) -> str:
    return CONCEPTS[concept]
