"""DDIM inversion: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, late

MODELS = DIGITS, MNIST = "ddpm-digits", "ddpm-mnist"
VIEWS = WALK, TRIP = "Walk", "There and back"
SIZES = 5, 10, 20, 50  # of the way there and back


def walks(state: Any) -> bool:
    return bool(state.view == WALK)


def small(state: Any) -> bool:
    return bool(state.model == DIGITS)


def large(state: Any) -> bool:
    return not small(state)


def travels(state: Any) -> bool:
    return bool(state.view == TRIP)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Model", MODELS)] = DIGITS
    view: Annotated[str, Choice("Show", VIEWS)] = WALK
    steps: Annotated[int, Choice("Steps S", (10, 20, 40), when=walks)] = 20
    level: Annotated[int, Slider("Noise on the mixed pixels, t", 50, 1000, step=50, when=walks)] = 500
    seed: Annotated[int, Number("Seed", 0, 9999, when=walks)] = 0
    a: Annotated[str | None, Drawing("Digit A", 8, late("lens", "shelf", (8, "3")), when=small)] = None
    b: Annotated[str | None, Drawing("Digit B", 8, late("lens", "shelf", (8, "8")), when=small)] = None
    a28: Annotated[str | None, Drawing("Digit A", 28, late("lens", "shelf", (28, "0")), when=large)] = None
    b28: Annotated[str | None, Drawing("Digit B", 28, late("lens", "shelf", (28, "4")), when=large)] = None
    place: Annotated[int, Frame("s =", seconds=0.3, when=walks)] = 5
    S: Annotated[int, Frame("S =", SIZES, seconds=0.8, when=travels)] = 20

    @property
    def first(self) -> Annotated[str | None, Drawing("Digit A")]:
        """The digit at s = 0, of the model's size."""
        return self.a if small(self) else self.a28

    @property
    def second(self) -> Annotated[str | None, Drawing("Digit B")]:
        """The digit at s = 1."""
        return self.b if small(self) else self.b28


ROOM = Room(
    title="DDIM inversion",
    idea="DDIM run from data to noise gives every digit a latent code; codes can be interpolated.",
    place=120,
    minutes=5,
    words="codes of noise; DDIM inversion; latent interpolation; slerp; DDIM; encoding",
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
    symbols={
        "s": "share of the way from A to B",
        "z_s": "latent code on the way",
        r"\ell_s": "its length",
        "z_A": "latent code of the first digit",
        "z_B": "latent code of the second digit",
        r"\hat{z}_A": "its direction, of length 1",
        r"\hat{z}_B": "its direction, of length 1",
        "S": "number of steps",
        "x": "a pixel of the digit",
        r"\hat{x}": "the pixel after encoding and decoding",
    },
    state=State,
    scenes={
        "Latent interpolation": Scene(
            "The arc (slerp) from the code of a 0 to that of a 4 passes through codes that decode to a 9.",
            State(model=MNIST, place=2),
        ),
        "Slerp and lerp": Scene(
            "Half-way the line's code (lerp) is shorter than the arc's, and its digit is paler.",
            State(a="2", b="0"),
        ),
        "Equal ends": Scene(
            "A and B are the same digit: arc and line do not change along the walk.", State(a="3", b="3")
        ),
        "Pixels mixed at t = 900": Scene(
            "Under much noise the mixed pixels are lost: even at the ends the result differs from A and B.",
            State(model=MNIST, level=900, place=0),
        ),
        "Pixels mixed at t = 100": Scene(
            "Under little noise the mixed pixels stay a double exposure of both digits.",
            State(model=MNIST, level=100, place=3),
        ),
        "Reconstruction": Scene(
            "Fifty steps of DDIM each way reconstruct both digits to less than 0.01 per pixel.",
            State(view=TRIP, S=50),
        ),
        "Five steps": Scene(
            "Five steps each way lose much more, and the codes are shorter than draws of N(0, I).",
            State(view=TRIP, S=5),
        ),
    },
    was={
        "Two digits": "Latent interpolation",
        "The line is short": "Slerp and lerp",
        "The same twice": "Equal ends",
        "Mixed under noise": "Pixels mixed at t = 900",
        "Hardly noised": "Pixels mixed at t = 100",
        "There and back": "Reconstruction",
    },
)
