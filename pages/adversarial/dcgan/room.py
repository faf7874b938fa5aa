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
    player: Annotated[str, Choice("Network", (MADE, JUDGING), when=layers)] = MADE
    number: Annotated[int, Slider("Coordinate of z", 1, late("one_number", "last"), when=samples)] = 1
    switch: Annotated[
        str, Choice("Change on the right", late("recipe", "switches"), as_list=True, when=recipe)
    ] = "no batch norm"
    batches: Annotated[int, Choice("Batches", TURNS, when=recipe)] = TURNS[1]
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    layer: Annotated[int, Frame("Layer", seconds=1.0, when=layers)] = 1
    value: Annotated[float, Frame("z", VALUES, seconds=0.3, when=samples)] = 0.0
    look: Annotated[int | None, Frame("Batch", seconds=0.25, when=recipe)] = None

    @property
    def game(self) -> Annotated[str | None, Model("Game")]:
        """Trained; of the printed networks there is none."""
        return None if self.model == PRINTED else self.model


ROOM = Room(
    title="DCGAN",
    idea="Convolutions without pooling lead from z up to a picture, and from a picture down to one number.",
    place=100,
    minutes=3,
    words="deep convolutional GAN; transposed convolution; batch normalization; batch norm; LeakyReLU; "
    "deconvolution; upsampling",
    references=(
        "Radford et al. 2016, arXiv:1511.06434; Ioffe & Szegedy 2015, arXiv:1502.03167",
        "[UDL] §15.1.3, §15.1.4, figs 15.3–15.5 (kernels and middle widths are not printed)",
    ),
    machine="gan",
    symbols={
        r"\mathrm{rms}": "root of the mean square",
        r"\mu": "mean of the data's features",
        r"\mu^*": "mean of the samples' features",
        "S": "covariance of the data's features",
        "S^*": "covariance of the samples' features",
    },
    state=State,
    was={
        "Up": "Generator",
        "Down": "Discriminator",
        "As printed": "64 × 64",
        "One number": "One coordinate",
        "No batch norm": "Without batch norm",
        "Momentum": "Adam, β₁ = 0.9",
        "No convolutions": "Without convolutions",
    },
    scenes={
        "Generator": Scene(
            "Transposed convolutions lead from 64 numbers over maps of 4 × 4, 7 × 7 and 14 × 14 to a digit.",
            State(layer=4),
        ),
        "Discriminator": Scene(
            "Convolutions with stride 2 halve the picture three times; the last one gives one number.",
            State(player=JUDGING, layer=4),
        ),
        "64 × 64": Scene(
            "12.7 million parameters; two thirds of them are in the layer from 4 × 4 to 8 × 8.",
            State(model=PRINTED, layer=2),
        ),
        "One coordinate": Scene(
            "One of the 64 coordinates of z is set to 3: pixels change less than between two samples.",
            State(view=SAMPLES, value=3.0),
        ),
        "Without batch norm": Scene(
            "Left the whole recipe, right without batch norm: watch in which of them digits appear.",
            State(view=RECIPE),
        ),
        "Adam, β₁ = 0.9": Scene(
            "Right β₁ = 0.9, Adam's usual value, in place of 0.5: watch both Fréchet distances.",
            State(view=RECIPE, switch="β₁ = 0.9"),
        ),
        "Pooling": Scene(
            "Right pooling and resizing in place of strides: watch both Fréchet distances.",
            State(view=RECIPE, switch="pooling, not strides"),
        ),
        "Without convolutions": Scene(
            "Right a fully connected G of as many parameters: watch both Fréchet distances.",
            State(view=RECIPE, switch=CONNECTED),
        ),
    },
)
