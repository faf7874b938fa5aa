"""What the rooms of image flows share: the trained Glow, digits it has not seen, the reader's own."""

from typing import NamedTuple

import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import ui
from lab.experiments import Experiment
from lab.lenses import latent
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
    return entry.module == "modules.flow.glow.Glow" and entry.datamodule == "datamodules.digits.Digits"


class Own(NamedTuple):
    """The reader's digit: the picture (8, 8) in [0, 1], its grey levels x (1, 1, 8, 8), words for x."""

    picture: Tensor
    x: Tensor
    program: str


def model() -> tuple[str, Glow]:
    """The reader's choice of a trained Glow, in the rail."""
    name = ui.experiment("Model", family="flow", key="model", default=START, only=fits)
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
def shelf() -> list[tuple[str, Tensor]]:
    """One held-out digit of each class, and a box, as pictures in [0, 1]."""
    x, y = digits()
    return latent.examples(x[:, 0] / lens.WHITE, y)


def digit(label: str, key: str, first: int = 0) -> Own:
    """The reader's digit, in the rail."""
    chosen = shelf()
    picture = ui.draw(label, key=key, size=SIDE, examples=[*chosen[first:], *chosen[:first]])
    program = f"lens.levels(drawing.read({ui.ink(picture)!r}, {{}}, {SIDE}) / drawing.LEVELS)"
    return Own(picture, lens.levels(picture), program)
