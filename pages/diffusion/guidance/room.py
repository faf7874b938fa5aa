"""Guidance: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider

VIEWS = GAUSSIANS, DIGITS = "Gaussians", "Digits"
LEDS = OPINIONS, NOISY, CLEAN = (
    "its two opinions",
    "a classifier of noisy data",
    "a classifier of clean data",
)
WAYS = FREE, GUIDED = "classifier-free guidance", "classifier guidance"  # to lead digits
WEIGHTS = tuple(round(-1 + 0.25 * i, 2) for i in range(21))  # −1 … 4
LEANS = -1.0, 0.0, 0.5, 1.0, 2.0, 4.0


def gaussian(state: Any) -> bool:
    return bool(state.view == GAUSSIANS)


def drawn(state: Any) -> bool:
    return bool(state.view == DIGITS)


def solved(state: Any) -> bool:
    """Whether the solver's steps are chosen: what no noise is known to takes them all."""
    return gaussian(state) and bool(state.led != CLEAN)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Denoiser", ("ddpm-digits",), when=False)] = "ddpm-digits"
    classifier: Annotated[str, Model("Classifier", ("noisy-classifier-digits",), when=False)] = (
        "noisy-classifier-digits"
    )
    judge: Annotated[str, Model("Judge", ("cnn-digits",), when=False)] = "cnn-digits"
    view: Annotated[str, Choice("Show", VIEWS)] = GAUSSIANS
    m: Annotated[float, Slider("Mean of the class", 0.2, 2.0, step=0.1, when=gaussian)] = 1.0
    s: Annotated[float, Slider("Spread of the class", 0.3, 0.9, step=0.1, when=gaussian)] = 0.5
    led: Annotated[str, Choice("Led by", LEDS, as_list=True, when=gaussian)] = OPINIONS
    steps: Annotated[int, Choice("Steps of the solver", (5, 20, 200), when=solved)] = 200
    w: Annotated[float, Frame("w =", WEIGHTS, seconds=0.3, when=gaussian)] = 1.0
    way: Annotated[str, Choice("Guidance", WAYS, as_list=True, when=drawn)] = FREE
    seed: Annotated[int, Number("Seed", 0, 999, when=drawn)] = 0
    lean: Annotated[float, Frame("w =", LEANS, seconds=1.0, when=drawn)] = 0.0


ROOM = Room(
    title="Guidance",
    idea="Leaning towards a class trades spread for faith.",
    place=180,
    minutes=3,
    words=(
        "classifier-free guidance; CFG; classifier guidance; guidance scale; conditional diffusion; "
        "fidelity and diversity"
    ),
    references=(
        "Ho & Salimans 2022, arXiv:2207.12598 (their s is 1 + w)",
        "Dhariwal & Nichol 2021, arXiv:2105.05233",
        "Bradley & Nakkiran 2024, arXiv:2408.09000",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    state=State,
    scenes={
        "Leaning": Scene(
            "At w = 1 the sampled bell is narrower, and further out, than the tilted one.", State()
        ),
        "Conditional": Scene(
            "At w = 0 guidance does nothing: both bells are the class itself.", State(w=0.0)
        ),
        "Unconditional": Scene("At w = −1 the class is forgotten: all data come back.", State(w=-1.0)),
        "Too much": Scene("At w = 3 hardly any spread is left: all samples are alike.", State(w=3.0)),
        "Few steps": Scene(
            "Five steps have an error of their own: even w = 0 misses the class.", State(steps=5, w=0.0)
        ),
        "Wide class": Scene("A wide class is told from all data by its mean alone.", State(s=0.9, w=2.0)),
        "A classifier": Scene(
            "A classifier of noisy data, asked 1 + w times, leads to the same law.", State(led=NOISY)
        ),
        "Clean data alone": Scene(
            "One that knows no noise is far too sure: at w = 0 all samples are one.", State(led=CLEAN, w=0.0)
        ),
        "Digits": Scene(
            "From w = −1 to 2: from any digit to the one asked for, and more alike.",
            State(view=DIGITS, lean=2.0),
        ),
    },
)
