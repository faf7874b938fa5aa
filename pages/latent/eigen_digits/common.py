"""Parts that the views share: which pictures, which model, and the reader's digit."""

from typing import NamedTuple

import torch

from lab import ui
from lab.lenses import latent
from lab.ui.controls.drawing import ink_code
from lab.ui.models import shelves
from modules.latent.pca import PCA
from pages.latent.eigen_digits import lens

MODELS = {"PCA": "pca", "PPCA": "ppca", "FA": "fa"}
SETS = {"small digits": ("digits", 8), "MNIST": ("mnist", 28)}


class Own(NamedTuple):
    """The reader's digit: x (D,) in [0, 1], and a program's words for it."""

    side: int
    x: torch.Tensor
    program: str


def pictures() -> tuple[str, int]:
    """Choose the digits, in the rail: the end of the models' names, and pixels a side."""
    return SETS[ui.choice("Pictures", list(SETS), key="pictures")]


def kind_of(side: int) -> str:
    """MNIST itself where its files are, else digits that a model has drawn."""
    return shelves.kinds(side)[-1] if side == 28 else shelves.DIGITS


def held_out(side: int) -> torch.Tensor:
    """Pictures (N, D) that no model has seen."""
    return shelves.examples(kind_of(side), side)[0].reshape(-1, side * side)


def digit(side: int, label: str = "Your digit") -> Own:
    """The reader's digit, in the rail."""
    chosen = latent.examples(*shelves.examples(kind_of(side), side))
    picture = ui.draw(label, key=f"digit{side}", size=side, examples=[*chosen[3:], *chosen[:3]])
    program = f"{ink_code(picture)}.flatten()"
    return Own(side, picture.flatten(), program)


@ui.cached
def basis(name: str) -> lens.Basis:
    return lens.Basis.of(ui.load(name))


@ui.cached
def losses(name: str, side: int) -> torch.Tensor:
    """Mean loss of held-out pictures for k = 0 … K."""
    return basis(name).lost(held_out(side))


@ui.cached
def readied(kind: str, data: str, side: int) -> torch.Tensor:
    """Ask first for what a page of other pictures, or of another model, needs."""
    latent.examples(*shelves.examples(kind_of(side), side))
    tail(data)
    return losses(f"{MODELS[kind]}-{data}", side)


@ui.cached
def tail(data: str) -> torch.Tensor:
    model = ui.load(f"pca-{data}")
    assert isinstance(model, PCA)
    return lens.tail(model)
