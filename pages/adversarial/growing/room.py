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
    phase: Annotated[int, Choice("Steps of a phase", PHASES, when=training)] = PHASES[0]
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
    place: Annotated[float, Frame("Level", when=levels)] = 0.0
    look: Annotated[int | None, Frame("Step", seconds=0.2, when=training)] = None

    @property
    def game(self) -> Annotated[str | None, Model("Game")]:
        return self.model


ROOM = Room(
    title="Progressive growing",
    idea="Both networks learn small pictures first; each finer resolution is faded in.",
    place=120,
    minutes=5,
    words="ProGAN; PGGAN; equalized learning rate; fade in",
    references=(
        "Karras et al. 2018, arXiv:1710.10196",
        "[UDL] §15.3, figs 15.9, 15.11",
    ),
    machine="gan",
    symbols={
        "x": "pixels of the generated picture",
        "h": "picture before tanh, of the block of that size",
        r"\mathrm{up}": "doubled in width and height",
        r"\alpha": "share of the new block",
    },
    state=State,
    was={
        1: "Start of a fade",
        2: "Half of a fade",
        3: "End of a fade",
        4: "From 4 × 4 to 32 × 32",
        5: "From 4 × 4 to 32 × 32",
        6: "Last fade",
        7: "Training",
        "Nothing changes": "Start of a fade",
        "Half faded": "Half of a fade",
        "Grown": "End of a fade",
        "From 4 to 32": "From 4 × 4 to 32 × 32",
        "At 16 × 16": "From 4 × 4 to 32 × 32",
        "To 32 × 32": "Last fade",
        "As it goes": "Training",
    },
    scenes={
        "From 4 × 4 to 32 × 32": Scene(
            "A row is one z: at 16 × 16 pixels the strokes are in place; 32 × 32 fades in on the right.",
            State(view=LEVELS, model=MNIST, place=2.5),
        ),
        "Start of a fade": Scene(
            "At α = 0 the grown networks give exactly the pictures and the answers of the smaller ones.",
            State(model=MNIST, side=16),
        ),
        "Half of a fade": Scene(
            "At α = ½ the old and the new way to pixels are mixed: every pixel lies between the two.",
            State(model=MNIST, side=16, alpha=0.5),
        ),
        "End of a fade": Scene(
            "At α = 1 the new layers alone make the picture, of 16 × 16 pixels.",
            State(model=MNIST, side=16, alpha=1.0),
        ),
        "Last fade": Scene(
            "The fade to 32 × 32 pixels changes least: halved again, most pixels are as before.",
            State(model=MNIST, alpha=1.0),
        ),
        "Training": Scene(
            "800 steps, always the same z: 8 × 8 pixels fade in (shaded), and the pictures do not jump.",
            State(view=TRAINING, phase=PHASES[1]),
        ),
    },
)
