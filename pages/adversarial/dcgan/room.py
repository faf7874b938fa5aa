"""DCGAN: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, late

SHIPPED, PRINTED = ("dcgan-mnist", "dcgan-digits"), "64 × 64, as printed"
MADE, JUDGING = "G", "D"
LAYERS, SAMPLES, RECIPE = "Layers", "Samples", "Recipe"
VALUES = tuple(round(-3 + 0.5 * i, 1) for i in range(13))
CONNECTED = "G fully connected, of equal size"
TURNS = (100, 400, 1000)


def layers(state: Any) -> bool:
    return bool(state.view == LAYERS)


def samples(state: Any) -> bool:
    return bool(state.view == SAMPLES)


def recipe(state: Any) -> bool:
    return bool(state.view == RECIPE)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("Show", (LAYERS, SAMPLES, RECIPE), as_list=True)] = LAYERS
    model: Annotated[
        str,
        Choice(
            "Model",
            lambda s: (*SHIPPED, PRINTED) if layers(s) else SHIPPED,
            as_list=True,
            when=lambda s: not recipe(s),
        ),
    ] = SHIPPED[0]
    player: Annotated[str, Choice("Player", (MADE, JUDGING), when=layers)] = MADE
    number: Annotated[int, Slider("Number of z", 1, late("one_number", "last"), when=samples)] = 1
    switch: Annotated[str, Choice("Beside it", late("recipe", "switches"), as_list=True, when=recipe)] = (
        "no batch norm"
    )
    batches: Annotated[int, Choice("Batches", TURNS, when=recipe)] = TURNS[1]
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    layer: Annotated[int, Frame("Layer", seconds=1.0, when=layers)] = 1
    value: Annotated[float, Frame("Value", VALUES, seconds=0.3, when=samples)] = 0.0
    look: Annotated[int | None, Frame("Batch", seconds=0.25, when=recipe)] = None

    @property
    def game(self) -> Annotated[str | None, Model("Game")]:
        """Trained; of the printed networks there is none."""
        return None if self.model == PRINTED else self.model


ROOM = Room(
    title="DCGAN",
    idea="Convolutions without pooling: up from z to a picture, and down to one number.",
    place=100,
    minutes=3,
    words="deep convolutional GAN; transposed convolution; batch normalization; batch norm; LeakyReLU; "
    "deconvolution; upsampling",
    references=(
        "Radford et al. 2016, arXiv:1511.06434; Ioffe & Szegedy 2015, arXiv:1502.03167",
        "[UDL] §15.1.3, §15.1.4, figs 15.3–15.5 (kernels and middle widths are not printed)",
    ),
    machine="gan",
    state=State,
    scenes={
        "Up": Scene("From 64 numbers to maps of 4 × 4, 7 × 7 and 14 × 14, and to a picture.", State()),
        "Down": Scene(
            "The mirror: D halves the picture three times, and one convolution sees all of it.",
            State(player=JUDGING),
        ),
        "As printed": Scene(
            "12.7 million parameters; two thirds are in the step from 4 × 4 to 8 × 8.",
            State(model=PRINTED, layer=2),
        ),
        "One number": Scene(
            "One of 64 numbers at 3: it changes pixels less than another draw would.",
            State(view=SAMPLES, value=3.0),
        ),
        "No batch norm": Scene(
            "Left the whole recipe, right without batch norm: watch who draws digits.", State(view=RECIPE)
        ),
        "Momentum": Scene(
            "Right β₁ = 0.9, as Adam has it by itself: watch both distances.",
            State(view=RECIPE, switch="β₁ = 0.9"),
        ),
        "Pooling": Scene(
            "Right pooling and resizing for strides: watch both distances.",
            State(view=RECIPE, switch="pooling, not strides"),
        ),
        "No convolutions": Scene(
            "Right as many parameters, fully connected: watch both distances.",
            State(view=RECIPE, switch=CONNECTED),
        ),
    },
)
