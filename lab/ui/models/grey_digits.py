"""A trained Glow and the reader's own digit for it, picked in the rail."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import glows, latent
from lab.ui.controls.drawing import draw, ink_code
from lab.ui.models.loading import cached, experiment, load
from modules.flow.glow import Glow


class Own(NamedTuple):
    """The reader's digit: the picture (side, side) in [0, 1], its grey levels x (1, 1, side, side), words
    for x."""

    picture: Tensor
    x: Tensor
    program: str


def model(only: Callable[[Experiment], bool] = glows.fits) -> tuple[str, Glow]:
    """The reader's choice of a trained Glow, in the rail."""
    name = experiment("Model", family="flow", key="model", default=glows.START, only=only)
    return name, load(name)


@cached
def shelf(side: int = glows.SIDE) -> list[tuple[str, Tensor]]:
    """One held-out small digit of each class, and a box, as pictures in [0, 1]; drawn larger for MNIST's
    frame."""
    x, y = glows.digits()
    small = x[:, 0] / glows.WHITE
    return latent.examples(small if side == glows.SIDE else latent.in_mnist_frame(small), y)


def digit(label: str, key: str, first: int = 0, of: Glow | None = None) -> Own:
    """The reader's digit, in the rail, in the size and the grey levels of a model; None is a small one."""
    side, white = (of.image_shape[-1], glows.white(of)) if of else (glows.SIDE, glows.WHITE)
    chosen = shelf(side)
    picture = draw(label, key=key, size=side, examples=[*chosen[first:], *chosen[:first]])
    more = "" if white == glows.WHITE else f", {white}"
    program = f"glows.levels({ink_code(picture)}{more})"
    return Own(picture, glows.levels(picture, white), program)
