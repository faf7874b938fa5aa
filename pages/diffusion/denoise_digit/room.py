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
        int, Slider("Noise level t of the drawing", 50, 1000, step=50, when=lambda s: s.start == DRAWING)
    ] = 500
    digit: Annotated[str, Choice("Digit", ("each", "any", *map(str, range(10))), as_list=True)] = "each"
    w: Annotated[float, Slider("Guidance w", 0.0, 4.0, step=0.5)] = 0.0
    S: Annotated[int, Choice("Steps S", (5, 10, 40))] = 40
    eta: Annotated[float, Slider("Noise η", 0.0, 1.0, step=0.25)] = 0.0
    clip: Annotated[bool, Toggle("Clip x̂₀", help="Keep each prediction of x₀ between white and black.")] = (
        True
    )
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    drawing: Annotated[
        str | None,
        Drawing(
            "Your drawing",
            8,
            late("lab.lenses.diffusion", "digits"),
            when=lambda s: s.start == DRAWING and s.model == DIGITS,
        ),
    ] = None
    drawing28: Annotated[
        str | None,
        Drawing(
            "Your drawing",
            28,
            late("lab.lenses.drawing", "examples", (28,)),
            when=lambda s: s.start == DRAWING and s.model == MNIST,
        ),
    ] = None
    step: Annotated[int | None, Frame("t =", seconds=0.2)] = None

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
    idea="A network predicts the clean digit from noise; small steps towards its prediction end in a digit.",
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
        "Half-way": Scene(
            "xₜ on the left is still noisy; x̂₀ on the right already has the strokes of its digit.",
            State(model=MNIST, step=25),
        ),
        "First step": Scene(
            "Under pure noise the errors of the network are amplified: the first prediction x̂₀ is no digit.",
            State(model=MNIST, step=1),
        ),
        "x̂₀-clipping off": Scene(
            "Without clipping, the first x̂₀ leaves the range of greys, and no later step corrects it.",
            State(model=MNIST, clip=False),
        ),
        "Classifier-free guidance": Scene(
            "With guidance w = 3 the threes are more alike than without guidance.",
            State(model=MNIST, digit="3", w=3.0),
        ),
        "DDIM in five steps": Scene(
            "Five steps of DDIM already give digits; their strokes are softer than those of 40 steps.",
            State(S=5, step=5),
        ),
        "Stochastic sampling": Scene(
            "With η = 1 the sampler adds fresh noise at every step but the last.", State(eta=1.0)
        ),
        "SDEdit": Scene(
            "A 3 under noise is denoised as an 8, and the result stays closer to the 3 than from pure noise.",
            State(start=DRAWING, level=600, digit="8", w=2.0, drawing="3"),
        ),
        "8×8 digits": Scene(
            "The small model, each class in turn: at t = 0 both sides show the same digits.", State()
        ),
    },
    was={
        1: "8×8 digits",
        3: "Half-way",
        4: "x̂₀-clipping off",
        5: "Half-way",
        6: "Classifier-free guidance",
        7: "DDIM in five steps",
        8: "Stochastic sampling",
        9: "SDEdit",
        "All digits": "8×8 digits",
        "First guess": "First step",
        "No clip": "x̂₀-clipping off",
        "MNIST": "Half-way",
        "Guided": "Classifier-free guidance",
        "Five steps": "DDIM in five steps",
        "Noisy": "Stochastic sampling",
        "From a drawing": "SDEdit",
    },
)
