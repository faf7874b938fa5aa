"""Vanishing gradient: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, Slider


@dataclass(frozen=True, kw_only=True)
class State:
    turns: Annotated[int, Choice("Training steps before G is frozen", (10, 100, 300, 1000))] = 100
    steps: Annotated[int, Choice("Steps of D with G frozen", (100, 300, 1000))] = 100
    width: Annotated[int, Choice("Width of D", (8, 32, 128))] = 128
    noise: Annotated[float, Slider("Instance noise on D's input", 0.0, 1.0, step=0.25)] = 0.0
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Step of D", seconds=0.2)] = None


ROOM = Room(
    title="Vanishing gradient",
    idea="The better D separates samples from data, the smaller the gradient of the saturating loss.",
    place=40,
    minutes=3,
    words="vanishing gradient; saturating loss; instance noise; non-saturating; perfect discriminator",
    references=(
        "Arjovsky & Bottou 2017, arXiv:1701.04862 (the experiment, and noise as a cure)",
        "Goodfellow et al. 2014, arXiv:1406.2661; Gulrajani et al. 2017, arXiv:1704.00028",
        "[UDL] §15.2.2, figs 15.6–15.7 (distributions that do not overlap: D_JS is log 2, not infinite)",
    ),
    machine="gan",
    state=State,
    scenes={
        "Vanishing gradient": Scene(
            "G is frozen while D trains: at its samples D falls, and with D the saturating gradient.", State()
        ),
        "A thousand steps": Scene(
            "The saturating gradient falls below a hundredth of its start; the critic's rises and stays.",
            State(steps=1000),
        ),
        "Untrained generator": Scene(
            "D separates the samples of a barely trained G within 20 steps; then the gradient vanishes.",
            State(turns=10),
        ),
        "Trained generator": Scene(
            "D separates also the samples of a G that trained ten times as long: the gradient vanishes.",
            State(turns=1000, steps=1000),
        ),
        "Small discriminator": Scene(
            "Two layers of eight units are enough for D to separate digits from samples.",
            State(width=8, steps=1000),
        ),
        "Instance noise": Scene(
            "Noise on both inputs makes the distributions overlap, so that a gradient remains.",
            State(noise=1.0, steps=300),
        ),
    },
    was={
        "Frozen early": "Vanishing gradient",
        "Frozen at once": "Untrained generator",
        "Frozen late": "Trained generator",
        "Small D": "Small discriminator",
        "Noise": "Instance noise",
    },
)
