"""Averaged weights: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, Toggle


@dataclass(frozen=True, kw_only=True)
class State:
    decay: Annotated[float, Choice("Decay a, at most", (0.9, 0.98, 0.998))] = 0.998
    warm: Annotated[bool, Toggle("Warm-up: a ≤ (1 + t)/(10 + t)")] = True
    rate: Annotated[float, Choice("Learning rate", (5e-4, 2e-3, 5e-3))] = 5e-3
    falls: Annotated[bool, Toggle("Rate falls to 0")] = False
    batch: Annotated[int, Choice("Batch size", (32, 128, 512))] = 32
    steps: Annotated[int, Choice("Steps", (300, 1000))] = 300
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("step", seconds=0.25)] = None


ROOM = Room(
    title="Averaged weights",
    idea="The last weights follow each noisy batch; their running average (EMA) samples more steadily.",
    place=100,
    minutes=4,
    words="EMA; exponential moving average; Polyak averaging; weight averaging; learning rate decay",
    references=(
        "Polyak & Juditsky 1992 (averages of the iterates)",
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (EMA of 0.9999); Song & Ermon 2020, arXiv:2006.09011 (why)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    symbols={
        "a": "share of the old average that a step keeps",
    },
    state=State,
    scenes={
        "EMA of the weights": Scene(
            "Samples of the last weights jump from look to look, over three times as far as the average's.",
            State(look=12),
        ),
        "A thousand steps": Scene(
            "At a constant learning rate the last weights' error keeps jumping; the average's is smaller.",
            State(steps=1000),
        ),
        "Short average": Scene(
            "With a = 0.9 the average spans about ten steps: its samples jump about half as far as the last.",
            State(decay=0.9),
        ),
        "Without warm-up": Scene(
            "Half of the average is still the untrained network: its samples miss the data.",
            State(warm=False),
        ),
        "Small noise in training": Scene(
            "With small steps and large batches the last weights jump little, and the average lags behind.",
            State(rate=0.0005, batch=512),
        ),
        "Learning rate decay": Scene(
            "A learning rate that falls to 0 steadies the last weights too: both end alike.",
            State(falls=True),
        ),
    },
    was={
        "Shaken": "EMA of the weights",
        "A thousand": "A thousand steps",
        "Ten steps' worth": "Short average",
        "No warm-up": "Without warm-up",
        "Calm steps": "Small noise in training",
        "Rate to zero": "Learning rate decay",
    },
)
