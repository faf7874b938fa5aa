"""Digits out of noise: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Literal

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, Toggle, late

NOISE, DRAWING = "noise", "a drawing"
DIGITS, MNIST = "ddpm-digits", "ddpm-mnist"


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Model", (DIGITS, MNIST))] = DIGITS
    start: Annotated[str, Choice("Start from", (NOISE, DRAWING))] = NOISE
    level: Annotated[
        int, Slider("Noise on it, level t", 50, 1000, step=50, when=lambda s: s.start == DRAWING)
    ] = 500
    digit: Annotated[str, Choice("Digit", ("each", "any", *map(str, range(10))), as_list=True)] = "each"
    w: Annotated[float, Slider("Guidance w", 0.0, 4.0, step=0.5)] = 0.0
    S: Annotated[int, Choice("Steps S", (5, 10, 40))] = 40
    eta: Annotated[float, Slider("Noise η", 0.0, 1.0, step=0.25)] = 0.0
    clip: Annotated[bool, Toggle("Clip the guess", help="Keep each guess of x₀ between white and black.")] = (
        True
    )
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    drawing: Annotated[
        str | None,
        Drawing(
            "Your drawing", 8, late("lab.lenses.diffusion", "digits"),
            when=lambda s: s.start == DRAWING and s.model == DIGITS,
        ),
    ] = None  # fmt: skip
    drawing28: Annotated[
        str | None,
        Drawing(
            "Your drawing", 28, late("lab.lenses.drawing", "examples", (28,)),
            when=lambda s: s.start == DRAWING and s.model == MNIST,
        ),
    ] = None  # fmt: skip
    step: Annotated[int | None, Frame("Step", seconds=0.2)] = None

    @property
    def wanted(self) -> int | Literal["any"] | None:
        """The class that is asked for; None is each in turn."""
        return None if self.digit == "each" else "any" if self.digit == "any" else int(self.digit)

    @property
    def ink(self) -> str | None:
        """The drawing to start from."""
        return self.drawing if self.model == DIGITS else self.drawing28


ROOM = Room(
    title="Digits out of noise",
    idea="Take away a little noise, guess again: a digit comes forth.",
    place=80,
    minutes=6,
    words="DDPM; DDIM; denoising; sampling; denoising diffusion; SDEdit",
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "Ho & Salimans 2022, arXiv:2207.12598 (guidance without a classifier)",
        "Meng et al. 2022, arXiv:2108.01073 (SDEdit: starting from a drawing)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    state=State,
    scenes={
        "All digits": Scene("Each class in turn: at the end both sides show the same digits.", State()),
        "First guess": Scene(
            "Under pure noise small errors grow large: the guess is no digit.", State(step=1)
        ),
        "Half-way": Scene(
            "The guess has its shape already while the left is still half noise.", State(step=20)
        ),
        "No clip": Scene(
            "Nothing bounds the first guess, which is a thousand off: the end is blots.", State(clip=False)
        ),
        "MNIST": Scene(
            "28 × 28 pixels, twelve times as many numbers: the strokes come first here too.",
            State(model=MNIST, step=25),
        ),
        "Guided": Scene("With w = 3 the threes are surer, and more alike.", State(digit="3", w=3.0)),
        "Five steps": Scene("Five steps already give digits.", State(S=5, step=5)),
        "Noisy": Scene("η = 1 adds fresh noise at every step but the last.", State(eta=1.0)),
        "From a drawing": Scene(
            "A 3 under noise, led to 8: eights nearer to the 3 than from noise alone.",
            State(start=DRAWING, level=600, digit="8", w=2.0, drawing="3"),
        ),
    },
)
