"""The reader's own digit for a model of digits, with the shelf of examples that it is shown among."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from lab.experiments import Experiment
from lab.lenses import drawing, latent, stock, vaes
from lab.ui.controls.drawing import draw, ink_code
from lab.ui.controls.widgets import choice
from lab.ui.models.loading import cached, load, trained
from lab.ui.scheduling.prefetch import prefetch

DRAWN, DIGITS, IMAGES = "drawn by MADE", "small digits", "MNIST"
COUNT, FEW = 500, 300  # examples


class Shelf(NamedTuple):
    """The examples that a model is shown with.

    Attributes:
        pictures: (N, side, side) that no model of these was trained on; labels (N,).
        overview: their codes, and the plane through them.
        chosen: one of each class by name, and a box.
    """

    side: int
    kind: str
    pictures: torch.Tensor
    labels: torch.Tensor
    overview: latent.Overview
    chosen: list[tuple[str, torch.Tensor]]


class Own(NamedTuple):
    """The reader's digit: the picture, the model's x (1, ...), its code (K,), a program's words for x."""

    picture: torch.Tensor
    x: torch.Tensor
    code: torch.Tensor
    program: str


@cached
def examples(kind: str, side: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures and labels that no model of these was trained on."""
    if kind == DRAWN:
        return latent.drawn_digits(load("made-mnist"), load("cnn-mnist"), FEW)
    return stock.grey(side, COUNT, kind == IMAGES)


def plain_digit(side: int) -> torch.Tensor:
    """The reader's digit, (side, side) in [0, 1], in the rail, where no model has a say in its shelf."""
    return draw("Draw a digit", key="digit", size=side, examples=drawing.examples(side))


class Bits(NamedTuple):
    """The reader's small digit made black and white: picture (8, 8) in [0, 1], x (1, 64) of 0 and 1, a
    program's words for x."""

    picture: torch.Tensor
    x: torch.Tensor
    program: str


def small_digit(key: str, label: str = "Your digit", first: int = 0) -> Bits:
    """The reader's digit for a model of 8 × 8 bits, in the rail; it starts with the class `first`."""
    chosen = latent.examples(*examples(DIGITS, 8))
    picture = draw(label, key=key, size=8, examples=[*chosen[first:], *chosen[:first]])
    program = f"({ink_code(picture)} > 0.5).float().reshape(1, 64)"
    return Bits(picture, (picture > 0.5).float().reshape(1, 64), program)


@cached
def overview(name: str, kind: str) -> latent.Overview:
    """Codes of the examples and the plane through them."""
    model = load(name)
    return latent.overview(model, latent.as_input(model, examples(kind, latent.side_of(model))[0]))


def kinds(side: int) -> list[str]:
    """Kinds of examples; MNIST itself only where its files are."""
    return [DRAWN, DIGITS, *([IMAGES] if stock.has_mnist() else [])] if side == 28 else [DIGITS]


@cached
def prepare_overview(name: str, kind: str) -> latent.Overview:
    """The overview that a page of this model asks for first, if the examples are now of this kind."""
    here = kinds(latent.side_of(load(name)))
    return overview(name, kind if kind in here else here[0])


def shelf(name: str, only: Callable[[Experiment], bool] = vaes.fits) -> Shelf:
    """The reader's choice of examples, in the rail; `only` are the models that the page admits."""
    side = latent.side_of(load(name))
    kind = choice(
        "Examples",
        kinds(side),
        key="examples",
        as_list=True,
        help="Digits that the model has not been trained on. Those that made-mnist draws and "
        "cnn-mnist names with certainty need no file; MNIST's own (validation split) are offered where the "
        "data is; scikit-learn's small digits are strange to a model of MNIST: upright and thick.",
    )
    pictures, labels = examples(kind, side)
    others = [(other, kind) for other in trained("latent", only) if other != name]
    prefetch(prepare_overview, *((name, other) for other in kinds(side) if other != kind), *others)
    return Shelf(side, kind, pictures, labels, overview(name, kind), latent.examples(pictures, labels))


def digit(letter: str, name: str, shown: Shelf) -> Own:
    """The reader's digit A or B, in the rail; B starts with another class than A."""
    first = 0 if letter == "a" else 1
    chosen = [*shown.chosen[first:], *shown.chosen[:first]]
    picture = draw(f"Digit {letter.upper()}", key=letter, size=shown.side, examples=chosen)
    model: Any = load(name)
    x = latent.as_input(model, picture)
    program = f"latent.as_input(model, {ink_code(picture)})"
    return Own(picture, x, latent.codes(model, x)[0], program)
