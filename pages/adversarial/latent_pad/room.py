"""Latent pad: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Model, Number, Place, Room, Scene, Slider, keys

VIEWS = PAD, WALK, TRUNCATION = "Pad", "Walk", "Truncation"
TAUS = (0.04, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 6.0)  # at 6 nothing is cut off in fact
STEPS = 11


def walks(state: Any) -> bool:
    return bool(state.view != TRUNCATION)


def truncates(state: Any) -> bool:
    return not walks(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = PAD
    model: Annotated[str, Model("Model", ("dcgan-mnist", "dcgan-digits"), as_list=True, when=walks)] = (
        "dcgan-mnist"
    )
    a: Annotated[int, Number("Seed of z_A", 0, 999, when=walks)] = 0
    b: Annotated[int, Number("Seed of z_B", 0, 999, when=walks)] = 1
    reach: Annotated[float, Slider("Interpolate up to t =", 0.25, 3.0, step=0.25, when=walks)] = 1.0
    seed: Annotated[int, Number("Seed", 0, 999, when=truncates)] = 0
    z: Annotated[tuple[float, float] | None, Place("z", when=lambda s: s.view == PAD)] = None
    step: Annotated[int, Frame("t", seconds=0.25, when=walks)] = STEPS // 2
    tau: Annotated[float, Frame("τ", TAUS, seconds=0.6, when=truncates)] = 2.0
    judged: Fixed = "dcgan-digits"
    network: Fixed = "cnn-digits"


(PLACE,) = keys(State, Place)


ROOM = Room(
    title="Latent pad",
    idea="Every z gives a picture; the pictures change continuously from one z to another.",
    place=140,
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
    symbols={
        "z_A": "latent code of the first picture",
        "z_B": "latent code of the second picture",
        "z_k": "one number of the latent code",
        "P": "probability",
        r"\mathrm{erf}": "error function",
    },
    state=State,
    scenes={
        "Extrapolation": Scene(
            "At t = 3 the line has left the prior and hardly changes; the arc passes through other digits.",
            State(view=WALK, reach=3.0, step=10),
        ),
        "Latent plane": Scene(
            "The direction of z decides the digit; draws of the prior lie near the grey circle, |z| = √K.",
            State(z=(0.8, 0.6)),
        ),
        "Lerp and slerp": Scene(
            "Half-way the straight line has a shorter z than nearly all draws; the great arc has not.",
            State(view=WALK, a=2, b=3),
        ),
        "A small step in z": Scene(
            "On a quarter of the way the pictures of either row hardly differ.", State(view=WALK, reach=0.25)
        ),
        "Truncation τ = 2": Scene(
            "Without the tails of the prior precision rises a little, and recall falls a little.",
            State(view=TRUNCATION, tau=2.0),
        ),
        "Truncation τ = 0.5": Scene(
            "Few modes are left, and precision falls as well: G was hardly trained on so short a z.",
            State(view=TRUNCATION, tau=0.5),
        ),
        "Truncation τ → 0": Scene(
            "All forty samples are alike and no digit: precision and recall are 0.",
            State(view=TRUNCATION, tau=0.04),
        ),
    },
    was={
        1: "Latent plane",
        2: "Lerp and slerp",
        3: "A small step in z",
        4: "Extrapolation",
        "Point": "Latent plane",
        "Chord and arc": "Lerp and slerp",
        "A short way": "A small step in z",
        "Beyond": "Extrapolation",
        "Cut at 2": "Truncation τ = 2",
        "Cut at a half": "Truncation τ = 0.5",
        "Cut at nothing": "Truncation τ → 0",
    },
)
