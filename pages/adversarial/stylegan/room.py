"""StyleGAN: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, late

VIEWS = MIXING, NOISE, TRUNCATION, LAYERS = "Mixing", "Noise", "Truncation", "Layers"
CUTS = tuple(round(0.1 * i, 1) for i in range(11))  # ψ


def layered(state: Any) -> bool:
    return bool(state.show == LAYERS)


@dataclass(frozen=True, kw_only=True)
class State:
    show: Annotated[str, Choice("Show", VIEWS, as_list=True)] = MIXING
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    maps: Annotated[
        int | None, Slider("Layer", 1, late("lens", "count"), first=late("lens", "count"), when=layered)
    ] = None
    crossing: Annotated[int, Frame("Layers of the row", seconds=0.8, when=lambda s: s.show == MIXING)] = 4
    layer: Annotated[int | None, Frame("Noise in layer", seconds=0.8, when=lambda s: s.show == NOISE)] = None
    psi: Annotated[float, Frame("ψ", CUTS, seconds=0.6, when=lambda s: s.show == TRUNCATION)] = 1.0
    model: Annotated[str, Model("Model", ("stylegan-mnist",), when=False)] = "stylegan-mnist"
    reader: Annotated[str, Model("Reader", ("cnn-mnist",), when=False)] = "cnn-mnist"


ROOM = Room(
    title="StyleGAN",
    idea="Every picture starts from one constant; a style at every layer makes it.",
    place=210,
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
    state=State,
    scenes={
        "Which digit, which pen": Scene(
            "The row gives four layers, and with them the digit; the column the last two, and with them the "
            "pen.",
            State(),
        ),
        "Half and half": Scene(
            "Only the 4 × 4 layers are the row's: neither has its way.", State(crossing=2)
        ),
        "One column": Scene("All layers are the column's: rows do not differ.", State(crossing=0)),
        "Noise": Scene(
            "Noise in all layers: hardly anything of a digit is left to chance.", State(show=NOISE)
        ),
        "Fine noise": Scene(
            "The last layer's noise alone, on a scale of its own: single pixels.",
            State(show=NOISE, layer=5),
        ),
        "Cut off in W": Scene(
            "At ψ = 0.5 pictures are more alike, and the reader about as sure.",
            State(show=TRUNCATION, psi=0.5),
        ),
        "The mean": Scene(
            "At ψ = 0 all have the mean style: one picture, but for the noise.",
            State(show=TRUNCATION, psi=0.0),
        ),
        "The layers": Scene(
            "From 4 × 4 to 16 × 16; each map has the mean and the spread that w sets.", State(show=LAYERS)
        ),
    },
)
