"""Vanishing gradient: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, Slider


@dataclass(frozen=True, kw_only=True)
class State:
    turns: Annotated[int, Choice("Turns before G freezes", (10, 100, 300, 1000))] = 100
    steps: Annotated[int, Choice("Steps of D alone", (100, 300, 1000))] = 100
    width: Annotated[int, Choice("Width of D", (8, 32, 128))] = 128
    noise: Annotated[float, Slider("Noise on D's input", 0.0, 1.0, step=0.25)] = 0.0
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Step", seconds=0.2)] = None


ROOM = Room(
    title="Vanishing gradient",
    idea="The better D tells made from real, the less the printed loss teaches G.",
    place=40,
    minutes=3,
    words="vanishing gradient; saturating loss; instance noise; non-saturating; perfect discriminator",
    references=(
        "Arjovsky & Bottou 2017, arXiv:1701.04862 (the experiment, and noise as a cure)",
        "Goodfellow et al. 2014, arXiv:1406.2661; Gulrajani et al. 2017, arXiv:1704.00028",
        "[UDL] §15.2.2, figs 15.6–15.7 (laws that do not overlap: D_JS is log 2, not infinite)",
    ),
    machine="gan",
    state=State,
    scenes={
        "Frozen early": Scene("G stands still, D learns on: one gradient falls, −log D's rises.", State()),
        "A thousand steps": Scene(
            "To below a hundredth of what it was; the critic stays level.", State(steps=1000)
        ),
        "Frozen at once": Scene(
            "A beginner is told apart at once: the gradient falls as fast.", State(turns=10)
        ),
        "Frozen late": Scene(
            "A better G is told apart a little later; the end is the same.", State(turns=1000, steps=1000)
        ),
        "Small D": Scene(
            "Two layers of eight units: enough to tell the two apart.", State(width=8, steps=1000)
        ),
        "Noise": Scene(
            "Noise on both inputs: they overlap, and a gradient is left.", State(noise=1.0, steps=300)
        ),
    },
)
