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
    laws: Annotated[str, Choice("Distributions", (HILLS, MODES))] = HILLS
    d: Annotated[float, Slider("Distance of the means", 0.0, 12.0, step=0.5, when=hills)] = 4.5
    w: Annotated[float, Slider("Generator's weight of the left mode", 0.05, 0.95, step=0.05, when=modes)] = (
        0.9
    )
    show: Annotated[str, Choice("Chart below", lambda s: (PARTS, SLOPES) if modes(s) else (PARTS,))] = PARTS
    hidden: Annotated[int, Slider("Hidden units per layer of D", 2, 32)] = 16
    lr: Annotated[float, Choice("Learning rate", (0.001, 0.003, 0.01, 0.03))] = 0.01
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    step: Annotated[int | None, Frame("Training step", seconds=0.25)] = None


ROOM = Room(
    title="Optimal discriminator",
    idea="The optimal discriminator is D* = p/(p + q); its loss is 2 log 2 − 2 JS(p, q).",
    place=20,
    minutes=6,
    words="optimal discriminator; density ratio; Jensen-Shannon; minimax; Bayes classifier; binary "
    "cross-entropy",
    references=(
        "Goodfellow et al. 2014, Generative adversarial networks, arXiv:1406.2661",
        "[UDL] §15.2.1, eqs 15.6–15.9",
    ),
    symbols={
        "L[D]": "loss of the discriminator",
    },
    state=State,
    scenes={
        "D converging to D*": Scene(
            "After 16 steps D is flatter than D*; play to see its loss fall to 2 log 2 − 2 JS.", State(step=6)
        ),
        "Converged": Scene("After 600 steps D lies close to D* wherever there are examples.", State()),
        "No overlap": Scene(
            "Hardly any overlap: D is certain, its loss is near 0, and JS saturates at log 2.", State(d=10.0)
        ),
        "Equal distributions": Scene(
            "p = q: D* is ½ everywhere, and what D deviates from it is noise of its sample.", State(d=0.0)
        ),
        "Small discriminator": Scene(
            "Two hidden units and a small learning rate: after 600 steps D is still off D*.",
            State(hidden=2, lr=0.001),
        ),
        "Missing mode": Scene(
            "The gradient of the mode's weight is large; that of moving its samples is nearly zero.",
            State(laws=MODES, w=0.9, show=SLOPES),
        ),
    },
    was={
        "Learning": "D converging to D*",
        "On it": "Converged",
        "Far apart": "No overlap",
        "Equal laws": "Equal distributions",
        "Small and slow": "Small discriminator",
        "A missing mode": "Missing mode",
    },
)
