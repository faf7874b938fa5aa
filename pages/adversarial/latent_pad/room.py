"""Latent pad: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Place, Room, Scene, Slider, keys

VIEWS = PAD, TRUNCATION = "Pad", "Truncation"
TAUS = (0.04, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 6.0)  # at 6 nothing is cut off in fact
STEPS = 11


def pad(state: Any) -> bool:
    return bool(state.view == PAD)


def truncates(state: Any) -> bool:
    return not pad(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("Show", VIEWS)] = PAD
    model: Annotated[str, Model("Model", ("dcgan-mnist", "dcgan-digits"), as_list=True, when=pad)] = (
        "dcgan-mnist"
    )
    a: Annotated[int, Number("Draw A, by its seed", 0, 999, when=pad)] = 0
    b: Annotated[int, Number("Draw B, by its seed", 0, 999, when=pad)] = 1
    reach: Annotated[float, Slider("Walk as far as t =", 0.25, 3.0, step=0.25, when=pad)] = 1.0
    seed: Annotated[int, Number("Seed", 0, 999, when=truncates)] = 0
    z: Annotated[tuple[float, float] | None, Place("z", when=pad)] = None
    step: Annotated[int, Frame("Step", seconds=0.25, when=pad)] = STEPS // 2
    tau: Annotated[float, Frame("τ", TAUS, seconds=0.6, when=truncates)] = 2.0
    judged: Annotated[str, Model("Judged", ("dcgan-digits",), when=False)] = "dcgan-digits"
    network: Annotated[str, Model("Judge", ("cnn-digits",), when=False)] = "cnn-digits"


(PLACE,) = keys(State, Place)


ROOM = Room(
    title="Latent pad",
    idea="Every place in the space of noise is a picture; near places are near pictures.",
    place=160,
    minutes=5,
    words="latent interpolation; truncation trick; BigGAN; slerp; spherical interpolation",
    references=(
        (
            "Radford et al. 2016, arXiv:1511.06434; White 2016, arXiv:1609.04468; "
            "Brock et al. 2019 (BigGAN), arXiv:1809.11096"
        ),
        "[UDL] §15.3, figs 15.10 and 15.12, problem 15.6 (whole samples are rejected there: that never ends)",
    ),
    lenses=("latent",),
    machine="gan",
    state=State,
    scenes={
        "Point": Scene(
            "Point anywhere: the direction decides the picture. Draws lie near the circle.", State()
        ),
        "Chord and arc": Scene(
            "Halfway the line is shorter than nearly all draws, the arc is not.",
            State(model="dcgan-digits", a=2, b=3),
        ),
        "A short way": Scene("A quarter of the way: eleven pictures that hardly differ.", State(reach=0.25)),
        "Beyond": Scene(
            "The line leaves all draws and hardly changes; the arc goes on to other digits.",
            State(reach=3.0, step=10),
        ),
        "Cut at 2": Scene(
            "Without the outermost numbers precision rises a little, recall falls a little.",
            State(view=TRUNCATION, tau=2.0),
        ),
        "Cut at a half": Scene(
            "Few kinds are left, and not better ones: here no draw of training lay.",
            State(view=TRUNCATION, tau=0.5),
        ),
        "Cut at nothing": Scene(
            "Forty times the same, which is no digit: both numbers are 0.", State(view=TRUNCATION, tau=0.04)
        ),
    },
)
