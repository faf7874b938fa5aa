"""Noising: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Number, Room, Scene, Slider, late

KINDS = DRAWING, DIGIT = "drawing, 16×16", "digit, 28×28"


@dataclass(frozen=True, kw_only=True)
class State:
    of: Annotated[str, Choice("Data x₀", KINDS)] = DRAWING
    drawing: Annotated[
        str | None,
        Drawing(
            "Your drawing", 16, late("lab.lenses.ink", "examples", (16,)), when=lambda s: s.of == DRAWING
        ),
    ] = None
    digit: Annotated[
        str | None,
        Drawing(
            "Your digit", 28, late("lab.lenses.drawing", "examples", (28,)), when=lambda s: s.of == DIGIT
        ),
    ] = None
    kind: Annotated[str, Choice("Schedule", ("linear", "cosine"))] = "linear"
    T: Annotated[int, Choice("Steps T", (10, 100, 1000))] = 1000
    way: Annotated[str, Choice("Noise", ("at once", "step by step"))] = "at once"
    pixel: Annotated[float, Slider("Value x₀ of the pixel on the right", -1.0, 1.0, step=0.25)] = 1.0
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    t: Annotated[int | None, Frame("t =", seconds=0.1, first=lambda s: s.T // 4)] = None


ROOM = Room(
    title="Noising",
    idea="Each step scales the data down and adds a little Gaussian noise, until only noise is left.",
    place=10,
    minutes=5,
    words="forward process; diffusion; DDPM; noise schedule; Markov chain; signal-to-noise ratio",
    references=(
        "Sohl-Dickstein et al. 2015, arXiv:1503.03585; Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "[BB] §5, thm 5.3 and ex. 5.6: images and sums of Gaussians",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    symbols={
        "x": "a pixel under noise",
        "x_0": "the pixel, without noise",
    },
    state=State,
    scenes={
        "Half-way": Scene(
            "The digit fades under the noise, and the density of one pixel widens towards N(0, 1).",
            State(of=DIGIT, t=300),
        ),
        "Linear schedule": Scene(
            "At t = 500 the linear schedule has left little of the digit.", State(of=DIGIT, t=500)
        ),
        "Cosine schedule": Scene(
            "At the same t = 500 the cosine schedule has left more of the digit.",
            State(of=DIGIT, kind="cosine", t=500),
        ),
        "Step by step": Scene(
            "Five hundred single steps have the same density as one draw; switch Noise to compare.",
            State(of=DIGIT, way="step by step", t=500),
        ),
        "Ten steps": Scene(
            "Ten large steps end in the same noise as a thousand small ones.",
            State(of=DIGIT, T=10, t=10, way="step by step"),
        ),
        "Background pixel": Scene(
            "A pixel of the background starts at −1, and its density also becomes N(0, 1).",
            State(of=DIGIT, pixel=-1.0, t=100),
        ),
        "Your drawing": Scene(
            "Draw and play: each step scales the drawing down and adds noise, until only noise is left.",
            State(t=0),
        ),
    },
    was={
        1: "Your drawing",
        2: "Linear schedule",
        "Cosine": "Cosine schedule",
        "Few steps": "Ten steps",
        "Paper": "Background pixel",
    },
)
