"""Averaged weights: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, Toggle


@dataclass(frozen=True, kw_only=True)
class State:
    decay: Annotated[float, Choice("Decay a, at most", (0.9, 0.98, 0.998))] = 0.998
    warm: Annotated[bool, Toggle("Warm-up: a ≤ (1 + t)/(10 + t)")] = True
    rate: Annotated[float, Choice("Learning rate", (5e-4, 2e-3, 5e-3))] = 5e-3
    falls: Annotated[bool, Toggle("It falls to 0")] = False
    batch: Annotated[int, Choice("Batch", (32, 128, 512))] = 32
    steps: Annotated[int, Choice("Steps", (300, 1000))] = 300
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Step", seconds=0.25)] = None


ROOM = Room(
    title="Averaged weights",
    idea="Noisy steps shake the last weights; their running average stands still.",
    place=100,
    minutes=4,
    words="EMA; exponential moving average; Polyak averaging; weight averaging; learning rate decay",
    references=(
        "Polyak & Juditsky 1992 (averages of the iterates)",
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (EMA of 0.9999); Song & Ermon 2020, arXiv:2006.09011 (why)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    state=State,
    scenes={
        "Shaken": Scene(
            "Play: from one noise the last weights' samples jump; the averaged ones stay.", State(look=12)
        ),
        "A thousand": Scene(
            "Steps of one size stop helping the last weights; the average goes on.", State(steps=1000)
        ),
        "Ten steps' worth": Scene(
            "a = 0.9 averages ten steps or so: half as steady, still nearer.", State(decay=0.9)
        ),
        "No warm-up": Scene(
            "Half of the average is still the untrained network: its samples fly away.", State(warm=False)
        ),
        "Calm steps": Scene(
            "Small steps of large batches shake little: here the average only lags.",
            State(rate=0.0005, batch=512),
        ),
        "Rate to zero": Scene(
            "A rate that falls to 0 calms the last weights too: both end alike.", State(falls=True)
        ),
    },
)
