"""Optimal discriminator: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider

HILLS, MODES = "two hills", "two modes"
PARTS, SLOPES = "parts", "slopes"


def hills(state: Any) -> bool:
    return bool(state.laws == HILLS)


def modes(state: Any) -> bool:
    return bool(state.laws == MODES)


@dataclass(frozen=True, kw_only=True)
class State:
    laws: Annotated[str, Choice("Laws", (HILLS, MODES))] = HILLS
    d: Annotated[float, Slider("Distance of the means", 0.0, 12.0, step=0.5, when=hills)] = 4.5
    w: Annotated[float, Slider("Generator's weight of the left mode", 0.05, 0.95, step=0.05, when=modes)] = (
        0.9
    )
    show: Annotated[str, Choice("Below", lambda s: (PARTS, SLOPES) if modes(s) else (PARTS,))] = PARTS
    hidden: Annotated[int, Slider("Units a layer of D", 2, 32)] = 16
    lr: Annotated[float, Choice("Learning rate", (0.001, 0.003, 0.01, 0.03))] = 0.01
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    step: Annotated[int | None, Frame("Step", seconds=0.25)] = None


ROOM = Room(
    title="Optimal discriminator",
    idea="The best D is p/(p + q), and its loss measures how far q is from p.",
    place=20,
    minutes=6,
    words="optimal discriminator; density ratio; Jensen-Shannon; minimax; Bayes classifier; binary "
    "cross-entropy",
    references=(
        "Goodfellow et al. 2014, Generative adversarial networks, arXiv:1406.2661",
        "[UDL] §15.2.1, eqs 15.6–15.9",
    ),
    state=State,
    scenes={
        "Learning": Scene("Play: D bends onto D*, and its loss comes down to 2 log 2 − 2 JS.", State(step=0)),
        "On it": Scene("After 600 steps D lies on D* wherever there are examples.", State()),
        "Far apart": Scene(
            "No overlap: D is certain, its loss near 0, and JS stops at log 2.", State(d=10.0)
        ),
        "Equal laws": Scene("p = q: D* is ½ everywhere; what D finds beyond it is chance.", State(d=0.0)),
        "Small and slow": Scene(
            "Two units at a small rate: after 600 steps D is still off D*.", State(hidden=2, lr=0.001)
        ),
        "A missing mode": Scene(
            "The weight's slope is large, coverage included; moving samples gains next to nothing.",
            State(laws="two modes", w=0.9, show="slopes"),
        ),
    },
)
