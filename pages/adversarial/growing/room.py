"""Growing: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, late

NAME, MNIST = "progressive-digits", "progressive-mnist"
ALPHAS = tuple(round(0.05 * i, 2) for i in range(21))
FADE, LEVELS, TRAINING = "Fade", "Levels", "Training"
PHASES = (100, 200)  # turns of D at rest, and as many of the fade, then two such at rest again


def fade(state: Any) -> bool:
    return bool(state.view == FADE)


def levels(state: Any) -> bool:
    return bool(state.view == LEVELS)


def training(state: Any) -> bool:
    return bool(state.view == TRAINING)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("Show", (FADE, LEVELS, TRAINING))] = FADE
    phase: Annotated[int, Choice("Turns of a phase", PHASES, when=training)] = PHASES[0]
    model: Annotated[
        str | None,
        Choice(
            "Model",
            (NAME, MNIST),
            as_list=True,
            first=lambda s: MNIST if levels(s) else NAME,
            when=lambda s: not training(s),
        ),
    ] = None
    side: Annotated[
        int | None,
        Choice("Pixels along a side", late("lens", "larger"), first=late("lens", "largest"), when=fade),
    ] = None
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    alpha: Annotated[float, Frame("α", ALPHAS, seconds=0.15, when=fade)] = 0.0
    place: Annotated[float, Frame("Levels", when=levels)] = 0.0
    look: Annotated[int | None, Frame("Turn", seconds=0.2, when=training)] = None

    @property
    def game(self) -> Annotated[str | None, Model("Game")]:
        return self.model


ROOM = Room(
    title="Growing",
    idea="Learn small pictures first; fade each finer level in, and nothing jumps.",
    place=110,
    minutes=5,
    words="progressive growing; ProGAN; PGGAN; equalized learning rate; fade in",
    references=(
        "Karras et al. 2018, arXiv:1710.10196",
        "[UDL] §15.3, figs 15.9, 15.11",
    ),
    machine="gan",
    state=State,
    scenes={
        "Nothing changes": Scene("α = 0: the grown networks answer as before, to the bit.", State()),
        "Half faded": Scene("α = ½: each pixel lies between the two ways, strokes begin.", State(alpha=0.5)),
        "Grown": Scene("α = 1: the new way alone, 8 × 8 pixels.", State(alpha=1.0)),
        "From 4 to 32": Scene(
            "The same z from 4 × 4 pixels to 32 × 32: play it.", State(view=LEVELS, model=MNIST)
        ),
        "At 16 × 16": Scene(
            "Strokes stand: over nine tenths of the most that so few pixels can have.",
            State(view=LEVELS, model=MNIST, place=2.0),
        ),
        "To 32 × 32": Scene(
            "The last fade changes least: halved again, most pixels are as before.",
            State(model=MNIST, alpha=1.0),
        ),
        "As it goes": Scene(
            "A game of 800 turns, the same z: pixels come, content drifts, no jump.",
            State(view=TRAINING, phase=PHASES[1]),
        ),
    },
)
