"""Codes of noise: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, late

VIEWS = WALK, TRIP = "Walk", "There and back"
SIZES = 5, 10, 20, 50  # of the way there and back


def walks(state: Any) -> bool:
    return bool(state.view == WALK)


def travels(state: Any) -> bool:
    return bool(state.view == TRIP)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Denoiser", ("ddpm-digits",), when=False)] = "ddpm-digits"
    view: Annotated[str, Choice("Show", VIEWS)] = WALK
    steps: Annotated[int, Choice("Steps S", (10, 20, 40), when=walks)] = 20
    level: Annotated[int, Slider("Mix at t", 50, 1000, step=50, when=walks)] = 500
    seed: Annotated[int, Number("Seed", 0, 9999, when=walks)] = 0
    a: Annotated[str | None, Drawing("Digit A", 8, late("lens", "shelf", (1,)))] = None
    b: Annotated[str | None, Drawing("Digit B", 8, late("lens", "shelf", (6,)))] = None
    place: Annotated[int, Frame("Place", seconds=0.3, when=walks)] = 5
    S: Annotated[int, Frame("S =", SIZES, seconds=0.8, when=travels)] = 20


ROOM = Room(
    title="Codes of noise",
    idea="Run upwards, DDIM gives every digit a code, and codes can be joined.",
    place=120,
    minutes=5,
    words="DDIM inversion; latent interpolation; slerp; DDIM; encoding",
    references=(
        "Song, Meng, Ermon 2021, arXiv:2010.02502 (encoding by DDIM)",
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (mixing under noise)",
        "Shoemake 1985 (slerp)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=(
        "latent",
        "sampling",
    ),
    machine="diffusion",
    state=State,
    scenes={
        "Two digits": Scene("Halfway on the arc between two codes stands a digit that nobody drew.", State()),
        "The line is short": Scene(
            "Halfway the line's code is too short, and its digit paler.", State(a="2", b="0")
        ),
        "The same twice": Scene("No way to go: arc and line stand still.", State(a="3", b="3")),
        "Mixed under noise": Scene(
            "Under heavy noise the mix is drawn anew: other digits than the ends.", State(level=900)
        ),
        "Hardly noised": Scene("Under little noise the mix stays a double exposure.", State(level=100)),
        "There and back": Scene(
            "Fifty steps each way: less than a hundredth a pixel is lost.", State(view=TRIP, S=50)
        ),
        "Five steps": Scene(
            "Five steps each way lose much more, and the codes are far too short.", State(view=TRIP, S=5)
        ),
    },
)
