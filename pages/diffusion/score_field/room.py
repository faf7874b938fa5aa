"""Score field: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider

TWO, DENOISING, SLICED = "two modes", "denoising", "sliced"
ONE, ANNEALED = "one level", "annealed"


@dataclass(frozen=True, kw_only=True)
class State:
    source: Annotated[str, Choice("Score", (TWO, "eight modes", DENOISING, SLICED), as_list=True)] = TWO
    share: Annotated[
        float, Slider("Left hill's weight", 0.1, 0.9, step=0.1, disabled=lambda s: s.source != TWO)
    ] = 0.8
    way: Annotated[str, Choice("Noise", (ONE, ANNEALED))] = ONE
    steps: Annotated[int, Slider("Steps a level", 3, 60, step=3)] = 30
    size: Annotated[float, Slider("Step size", 0.02, 0.3, step=0.02)] = 0.1
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    step: Annotated[int, Frame("Frame", range(31), seconds=0.15)] = 30

    @property
    def model(self) -> Annotated[str | None, Model("Network")]:
        """Whose score it is; None where the score is known."""
        return {DENOISING: "dsm-eight", SLICED: "ssm-eight"}.get(self.source)

    @property
    def annealed(self) -> bool:
        """Whether the noise falls level by level."""
        return self.way == ANNEALED


ROOM = Room(
    title="Score field",
    idea="Arrows point uphill on log p; particles follow them, and shake.",
    place=140,
    minutes=5,
    words=(
        "score matching; Langevin dynamics; denoising score matching; sliced score matching; annealed "
        "Langevin; NCSN; score-based model"
    ),
    references=(
        "Song & Ermon 2019, arXiv:1907.05600",
        "Hyvärinen 2005; Vincent 2011; Song et al. 2019, arXiv:1905.07088 (sliced)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    state=State,
    scenes={
        "Stuck": Scene(
            "At one small noise each particle climbs the nearer hill: about half, not 4 to 1.", State(step=30)
        ),
        "Annealed": Scene(
            "Down a ladder of noise the hills meet first: the shares come out near 4 to 1.",
            State(way="annealed", step=30),
        ),
        "Much noise": Scene(
            "Under much noise there is one hill, and every arrow points to it.", State(way="annealed", step=2)
        ),
        "Between": Scene(
            "Midway between the hills the arrows turn round; none tells which is higher.", State(step=0)
        ),
        "Denoising": Scene(
            "A network that has learned to take noise away leads to all eight.",
            State(source="denoising", way="annealed", step=30),
        ),
        "Sliced": Scene(
            "Fitted by slopes along random directions, no noise to name: the same field.",
            State(source="sliced", way="annealed", step=30),
        ),
        "Hasty": Scene(
            "Few steps a level: the particles don't settle before the noise falls.",
            State(way="annealed", steps=3, step=30),
        ),
    },
)
