"""What the rooms of image flows share: the trained Glow, digits it has not seen, the reader's own."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import ui
from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from modules.flow.glow import Glow
from pages.flow.image_flow import lens

REFERENCES = [
    "Kingma, Dhariwal 2018, Glow, arXiv:1807.03039",
    "Dinh, Sohl-Dickstein, Bengio 2017, RealNVP, arXiv:1605.08803",
    "[UDL] §16.4, §16.5.2; [GM] §3.12.3",
]
START = "glow-digits"
SIDE = 8


def fits(entry: Experiment) -> bool:
    """Whether it is a Glow of the small digits."""
    return any_size(entry) and entry.datamodule == "datamodules.digits.Digits"


def any_size(entry: Experiment) -> bool:
    """Whether it is a Glow of all digits, small ones or MNIST's."""
    sides = {"datamodules.digits.Digits": SIDE, "datamodules.mnist.MNIST": 28}
    return (
        surfaces.is_a(entry, Glow)
        and surfaces.option(entry, "image_size", "data") == sides.get(entry.datamodule, 0)
        and surfaces.option(entry, "binarize", "data") == "levels"
        and surfaces.option(entry, "without", "data") is None
    )


class Own(NamedTuple):
    """The reader's digit: the picture (side, side) in [0, 1], its grey levels x (1, 1, side, side), words
    for x."""

    picture: Tensor
    x: Tensor
    program: str


def model(only: Callable[[Experiment], bool] = fits) -> tuple[str, Glow]:
    """The reader's choice of a trained Glow, in the rail."""
    name = ui.experiment("Model", family="flow", key="model", default=START, only=only)
    return name, ui.load(name)


@ui.cached
def digits(split: str = "held out") -> tuple[Tensor, Tensor]:
    """Grey levels (N, 1, 8, 8), 0 to 16, and labels: `train`, or those of validation and test."""
    data = Digits(binarize="levels")
    data.setup()
    sets = [data.train_set] if split == "train" else [data.val_set, data.test_set]
    parts = [one[torch.arange(len(one))] for one in sets]
    return torch.cat([x for x, _ in parts]), torch.cat([y for _, y in parts])


@ui.cached
def shelf(side: int = SIDE) -> list[tuple[str, Tensor]]:
    """One held-out small digit of each class, and a box, as pictures in [0, 1]; drawn larger for MNIST's
    frame."""
    x, y = digits()
    small = x[:, 0] / lens.WHITE
    return latent.examples(small if side == SIDE else latent.in_mnist_frame(small), y)


def digit(label: str, key: str, first: int = 0, of: Glow | None = None) -> Own:
    """The reader's digit, in the rail, in the size and the grey levels of a model; None is a small one."""
    side, white = (of.image_shape[-1], lens.white(of)) if of else (SIDE, lens.WHITE)
    chosen = shelf(side)
    picture = ui.draw(label, key=key, size=side, examples=[*chosen[first:], *chosen[:first]])
    more = "" if white == lens.WHITE else f", {white}"
    program = f"lens.levels(drawing.read({ui.ink(picture)!r}, {{}}, {side}) / drawing.LEVELS{more})"
    return Own(picture, lens.levels(picture, white), program)
