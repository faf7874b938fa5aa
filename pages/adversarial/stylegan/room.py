"""StyleGAN: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Number, Room, Scene, Slider, late

VIEWS = MIXING, NOISE, TRUNCATION, LAYERS = "Mixing", "Noise", "Truncation", "Layers"
CUTS = tuple(round(0.1 * i, 1) for i in range(11))  # ψ


def layered(state: Any) -> bool:
    return bool(state.show == LAYERS)


@dataclass(frozen=True, kw_only=True)
class State:
    show: Annotated[str, Choice("View", VIEWS, as_list=True)] = MIXING
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    maps: Annotated[
        int | None, Slider("Layer", 1, late("lens", "count"), first=late("lens", "count"), when=layered)
    ] = None
    crossing: Annotated[int, Frame("Layers of the row", seconds=0.8, when=lambda s: s.show == MIXING)] = 4
    layer: Annotated[int | None, Frame("Noise in", seconds=0.8, when=lambda s: s.show == NOISE)] = None
    psi: Annotated[float, Frame("ψ", CUTS, seconds=0.6, when=lambda s: s.show == TRUNCATION)] = 1.0
    model: Fixed = "stylegan-mnist"
    reader: Fixed = "cnn-mnist"


ROOM = Room(
    title="StyleGAN",
    idea="G starts from one constant; the style w enters at every layer, coarse features first.",
    place=130,
    minutes=6,
    words="StyleGAN; AdaIN; style mixing; mapping network; truncation trick; W space; noise injection",
    references=(
        "Karras et al. 2019, arXiv:1812.04948; Huang & Belongie 2017 (AdaIN), arXiv:1703.06868",
        (
            "[UDL] §15.6, figs 15.19–15.20 (a mapping of seven layers is printed there: paper and code have "
            "eight)"
        ),
    ),
    machine="gan",
    symbols={
        "x": "a generated picture",
        r"\overline{x}_r": "mean picture of one coarse style",
        r"\overline{x}_c": "mean picture of one fine style",
        "r": "row: a coarse style",
        "c": "column: a fine style",
        r"\overline{\mathrm{sd}}": "mean standard deviation of a pixel",
        r"\mathrm{noise}": "only the noise is drawn anew",
        r"\mathrm{style}": "only the style is drawn anew",
        "w'": "truncated style code",
        r"\bar{w}": "mean style code",
        "h": "feature map",
        r"\mathrm{mean}": "mean over the map",
        "y_b": "bias that the style sets",
        "y_s": "scale that the style sets",
    },
    state=State,
    scenes={
        "Style mixing": Scene(
            "Layers 1–4 take the row's style and set the digit; layers 5–6 take the column's: the stroke.",
            State(),
        ),
        "Coarse layers": Scene(
            "With two layers from the row, neither row nor column explains half of the variance.",
            State(crossing=2),
        ),
        "One style": Scene(
            "All six layers take the column's style, so that all rows look the same.", State(crossing=0)
        ),
        "Noise": Scene(
            "One style, twelve draws of the noise: pixels differ far less than between styles.",
            State(show=NOISE),
        ),
        "Noise, last layer": Scene(
            "Noise in layer 6 alone changes single pixels; the map on the right shows where.",
            State(show=NOISE, layer=5),
        ),
        "Truncation": Scene(
            "Half-way to the mean style samples are more alike; the classifier is about as certain of them.",
            State(show=TRUNCATION, psi=0.5),
        ),
        "Mean style": Scene(
            "At ψ = 0 every sample has the mean style: one picture, except for the noise.",
            State(show=TRUNCATION, psi=0.0),
        ),
        "Feature maps": Scene(
            "The maps of the last layer, 16 × 16: the style w sets the mean and the spread of each (AdaIN).",
            State(show=LAYERS),
        ),
    },
    was={
        "Which digit, which pen": "Style mixing",
        "Half and half": "Coarse layers",
        "One column": "One style",
        "Fine noise": "Noise, last layer",
        "Cut off in W": "Truncation",
        "The mean": "Mean style",
        "The layers": "Feature maps",
    },
)
