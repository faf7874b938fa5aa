"""What the rooms of the latent space share: the examples, the reader's digits, and words for codes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from datamodules import fetch
from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab import ui
from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from modules.latent.vae import VAE

DRAWN, DIGITS, IMAGES = "drawn by MADE", "small digits", "MNIST"
COUNT, FEW = 500, 300  # examples
START = "vae2d-mnist"
REFERENCES = [
    "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
    "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
]


SIDES = {"datamodules.digits.Digits": 8, "datamodules.mnist.MNIST": 28}


def surface(entry: Experiment, *methods: str) -> bool:
    """Whether it is a VAE of digits whose `methods` are those of `VAE`: of other data and sizes these rooms
    have no examples."""
    side = SIDES.get(entry.datamodule)
    return (
        side is not None
        and surfaces.option(entry, "image_size", "data") == side
        and surfaces.keeps(entry, VAE, *methods)
    )


def fits(entry: Experiment) -> bool:
    """Whether its q(z|x) is the encoder's Gaussian, its prior N(0, I), and a code alone makes a picture."""
    return surface(entry, "encode_parameters", "encode", "guess", "prior", "decode", "unpack")


def weighs(entry: Experiment) -> bool:
    """Whether p(x) can be weighed by draws of one layer of codes, whatever its posterior and prior."""
    return surface(entry, "log_weights", "decode", "outputs", "unpack") or fits(entry)


class Shelf(NamedTuple):
    """The examples that a model is shown with.

    Attributes:
        pictures: (N, side, side) that no model of these was trained on; labels (N,).
        seen: their codes, and the plane through them.
        chosen: one of each class by name, and a box.
    """

    side: int
    kind: str
    pictures: torch.Tensor
    labels: torch.Tensor
    seen: latent.Overview
    chosen: list[tuple[str, torch.Tensor]]


class Own(NamedTuple):
    """The reader's digit: the picture, the model's x (1, ...), its code (K,), a program's words for x."""

    picture: torch.Tensor
    x: torch.Tensor
    code: torch.Tensor
    program: str


@ui.cached
def examples(kind: str, side: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures and labels that no model of these was trained on."""
    if kind == DRAWN:
        return latent.drawn_digits(ui.load("made-mnist"), ui.load("cnn-mnist"), FEW)
    if kind == IMAGES:
        images = MNIST(binarize="none")
        images.setup("fit")
        return latent.held_out([images.val_set], COUNT)
    data = Digits(binarize="none")
    data.setup()
    small, classes = latent.held_out([data.val_set, data.test_set], COUNT)
    return (latent.in_mnist_frame(small) if side == 28 else small), classes


class Bits(NamedTuple):
    """The reader's small digit made black and white: picture (8, 8) in [0, 1], x (1, 64) of 0 and 1, a
    program's
    words for x."""

    picture: torch.Tensor
    x: torch.Tensor
    program: str


@ui.cached
def small_bits(split: str = "test") -> tuple[torch.Tensor, torch.Tensor]:
    """Small digits as the models of bits see them, x (N, 64), and labels; `split` is train, val or test."""
    data = Digits(binarize="threshold")
    data.setup()
    chosen = getattr(data, f"{split}_set")
    x, labels = chosen[torch.arange(len(chosen))]
    return x.flatten(1), labels


def small_digit(key: str, label: str = "Your digit", first: int = 0) -> Bits:
    """The reader's digit for a model of 8 × 8 bits, in the rail; it starts with the class `first`."""
    chosen = latent.examples(*examples(DIGITS, 8))
    picture = ui.draw(label, key=key, size=8, examples=[*chosen[first:], *chosen[:first]])
    program = f"(drawing.read({ui.ink(picture)!r}, {{}}, 8) / drawing.LEVELS > 0.5).float().reshape(1, 64)"
    return Bits(picture, (picture > 0.5).float().reshape(1, 64), program)


@ui.cached
def overview(name: str, kind: str) -> latent.Overview:
    """Codes of the examples and the plane through them."""
    model = ui.load(name)
    return latent.overview(model, latent.as_input(model, examples(kind, latent.side_of(model))[0]))


def kinds(side: int) -> list[str]:
    """What the examples can be; MNIST itself only where its files are."""
    here = any(row["present"] for row in fetch.status() if row["dataset"] == "MNIST")
    return [DRAWN, DIGITS, *([IMAGES] if here else [])] if side == 28 else [DIGITS]


@ui.cached
def readied(name: str, kind: str) -> latent.Overview:
    """The overview that a page of this model asks for first, if the examples are now of this kind."""
    here = kinds(latent.side_of(ui.load(name)))
    return overview(name, kind if kind in here else here[0])


def shelf(name: str, only: Callable[[Experiment], bool] = fits) -> Shelf:
    """The reader's choice of examples, in the rail; `only` are the models that the page admits."""
    side = latent.side_of(ui.load(name))
    kind = ui.choice(
        "Examples",
        kinds(side),
        key="examples",
        as_list=True,
        help="Digits that the model has not been trained on. Those that made-mnist draws and "
        "cnn-mnist names with certainty need no file; MNIST's own (validation split) are offered where the "
        "data is; scikit-learn's small digits are strange to a model of MNIST: upright and thick.",
    )
    pictures, labels = examples(kind, side)
    others = [(other, kind) for other in ui.trained("latent", only) if other != name]
    ui.ahead(readied, *((name, other) for other in kinds(side) if other != kind), *others)
    return Shelf(side, kind, pictures, labels, overview(name, kind), latent.examples(pictures, labels))


def digit(letter: str, name: str, shown: Shelf) -> Own:
    """The reader's digit A or B, in the rail; B starts with another class than A."""
    first = 0 if letter == "a" else 1
    chosen = [*shown.chosen[first:], *shown.chosen[:first]]
    picture = ui.draw(f"Digit {letter.upper()}", key=letter, size=shown.side, examples=chosen)
    model: Any = ui.load(name)
    x = latent.as_input(model, picture)
    program = (
        f"latent.as_input(model, drawing.read({ui.ink(picture)!r}, {{}}, {shown.side}) / drawing.LEVELS)"
    )
    return Own(picture, x, latent.codes(model, x)[0], program)


def vector(values: torch.Tensor, limit: int = 3) -> str:
    """Numbers of a code in LaTeX, the first few of many."""
    shown = [f"{v:.2f}" for v in values[:limit].tolist()]
    return "(" + ",\\ ".join(shown + ([r"\dots"] if len(values) > limit else [])) + ")"


def dimension(index: int) -> str:
    """The name of a dimension of the code, counted from 1."""
    return f"z{subscript(index + 1)}"


def subscript(number: int) -> str:
    """A whole number as subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
