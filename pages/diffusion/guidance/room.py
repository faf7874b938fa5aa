"""Guidance: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Number, Room, Scene, Slider

VIEWS = GAUSSIANS, DIGITS, ROWS = "Gaussians", "Digits", "MNIST"
LEDS = OPINIONS, NOISY, CLEAN = (
    "its two opinions",
    "a classifier of noisy data",
    "a classifier of clean data",
)
WAYS = FREE, GUIDED = "classifier-free guidance", "classifier guidance"  # to lead digits
WEIGHTS = tuple(round(-1 + 0.25 * i, 2) for i in range(21))  # −1 … 4
LEANS = -1.0, 0.0, 0.5, 1.0, 2.0, 4.0
ROW_WEIGHTS = 0.0, 1.0, 3.0, 8.0  # of the rows of MNIST


def gaussian(state: Any) -> bool:
    return bool(state.view == GAUSSIANS)


def drawn(state: Any) -> bool:
    return bool(state.view == DIGITS)


def in_rows(state: Any) -> bool:
    return bool(state.view == ROWS)


def solved(state: Any) -> bool:
    """Check whether the solver's steps are chosen: what no noise is known to takes them all."""
    return gaussian(state) and bool(state.led != CLEAN)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Fixed = "ddpm-digits"
    classifier: Fixed = "noisy-classifier-digits"
    judge: Fixed = "cnn-digits"
    mnist: Fixed = "ddpm-mnist"
    referee: Fixed = "cnn-mnist"
    view: Annotated[str, Choice("Show", VIEWS, as_list=True)] = GAUSSIANS
    m: Annotated[float, Slider("Mean of the class", 0.2, 2.0, step=0.1, when=gaussian)] = 1.0
    s: Annotated[float, Slider("Spread of the class", 0.3, 0.9, step=0.1, when=gaussian)] = 0.5
    led: Annotated[str, Choice("Guided by", LEDS, as_list=True, when=gaussian)] = OPINIONS
    steps: Annotated[int, Choice("Steps of the solver", (5, 20, 200), when=solved)] = 200
    w: Annotated[float, Frame("w =", WEIGHTS, seconds=0.3, when=gaussian)] = 1.0
    way: Annotated[str, Choice("Guidance", WAYS, as_list=True, when=drawn)] = FREE
    digit: Annotated[int, Choice("Class", tuple(range(10)), as_list=True, when=in_rows)] = 7
    seed: Annotated[int, Number("Seed", 0, 999, when=lambda s: not gaussian(s))] = 0
    lean: Annotated[float, Frame("w =", LEANS, seconds=1.0, when=drawn)] = 0.0
    step: Annotated[int | None, Frame("t =", seconds=0.5, when=in_rows)] = None


ROOM = Room(
    title="Guidance",
    idea="A larger guidance weight w trades diversity for fidelity to the class.",
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
        "Guidance weight": Scene(
            "A column starts from one noise: at w = 3 all digits are sevens, and more alike than at w = 0.",
            State(view=ROWS),
        ),
        "Guided digits": Scene(
            "At w = 2 nearly every digit is of its column's class; turn w down and they vary more.",
            State(view=DIGITS, lean=2.0),
        ),
        "Unconditional": Scene(
            "At w = −1 the class has no influence: the sampled density is that of all data.", State(w=-1.0)
        ),
        "Tilted density": Scene(
            "At w = 1 the sampled density is narrower, and further out, than the tilted one.", State()
        ),
        "Lost diversity": Scene(
            "At w = 3 the sampled density is a narrow peak: hardly any diversity is left.", State(w=3.0)
        ),
        "Few steps": Scene(
            "Five steps have an error of their own: at w = 0 the samples miss the class.",
            State(steps=5, w=0.0),
        ),
        "Classifier guidance": Scene(
            "A classifier of noisy data, weighted by 1 + w, gives the same density.", State(led=NOISY)
        ),
        "Clean classifier": Scene(
            "A classifier that knows no noise is overconfident: at w = 0 all samples are one point.",
            State(led=CLEAN, w=0.0),
        ),
    },
    was={
        1: "Tilted density",
        2: "Tilted density",
        3: "Unconditional",
        4: "Lost diversity",
        5: "Few steps",
        6: "Tilted density",
        7: "Classifier guidance",
        8: "Clean classifier",
        9: "Guided digits",
        "Conditional": "Tilted density",
        "Wide class": "Tilted density",
        "Leaning": "Tilted density",
        "Too much": "Lost diversity",
        "A classifier": "Classifier guidance",
        "Clean data alone": "Clean classifier",
        "Digits": "Guided digits",
        "Classifier of clean data": "Clean classifier",
        "Discretisation error": "Few steps",
        "Not the tilted density": "Tilted density",
    },
)
