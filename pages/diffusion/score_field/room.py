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
        float, Slider("Weight of the left mode", 0.1, 0.9, step=0.1, disabled=lambda s: s.source != TWO)
    ] = 0.8
    way: Annotated[str, Choice("Noise", (ONE, ANNEALED))] = ONE
    steps: Annotated[int, Slider("Steps a level", 3, 60, step=3)] = 30
    size: Annotated[float, Slider("Step size", 0.02, 0.3, step=0.02)] = 0.1
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    step: Annotated[int, Frame("σ =", range(31), seconds=0.15)] = 30

    @property
    def model(self) -> Annotated[str | None, Model("Network")]:
        """Whose score it is; None where the score is known."""
        return {DENOISING: "dsm-eight", SLICED: "ssm-eight"}.get(self.source)

    @property
    def annealed(self) -> bool:
        """Check whether the noise falls level by level."""
        return self.way == ANNEALED


ROOM = Room(
    title="Score field",
    idea="The score ∇ log p points to more probable data; Langevin dynamics follows it, with noise.",
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
    symbols={
        r"p_\sigma": "density of the data under noise",
    },
    state=State,
    scenes={
        "Annealed Langevin": Scene(
            "Arrows of the learned score lead particles to the eight modes while the noise σ falls.",
            State(source=DENOISING, way=ANNEALED, step=18),
        ),
        "Between modes": Scene(
            "Midway between the modes the arrows turn round; none tells which mode weighs more.",
            State(step=0),
        ),
        "Wrong shares": Scene(
            "At one small σ each particle stays near its mode: about half in each, not 4 to 1.",
            State(step=30),
        ),
        "Large σ": Scene(
            "Under much noise the density has one mode, and every arrow points to it.",
            State(way=ANNEALED, step=2),
        ),
        "Shares recovered": Scene(
            "While σ falls level by level, the shares of the particles come near 4 to 1.",
            State(way=ANNEALED, step=30),
        ),
        "Too few steps": Scene(
            "With three steps a level the particles do not reach the modes before σ falls.",
            State(way=ANNEALED, steps=3, step=30),
        ),
        "Denoising": Scene(
            "The score was learned by denoising; at the end the particles lie at all eight modes.",
            State(source=DENOISING, way=ANNEALED, step=30),
        ),
        "Sliced": Scene(
            "The score was learned from slopes along random directions; the field is the same.",
            State(source=SLICED, way=ANNEALED, step=30),
        ),
    },
    was={
        1: "Wrong shares",
        2: "Shares recovered",
        3: "Large σ",
        4: "Between modes",
        5: "Denoising",
        6: "Sliced",
        7: "Too few steps",
        "Stuck": "Wrong shares",
        "Annealed": "Shares recovered",
        "Much noise": "Large σ",
        "Between": "Between modes",
        "Hasty": "Too few steps",
        "Denoising score matching": "Denoising",
        "Sliced score matching": "Sliced",
        "Score between modes": "Between modes",
    },
)
