"""Unpaired: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Room, Scene, Slider, Toggle, late

NORMAL, OWN = "a normal", "your drawing"
TURNS = 25  # frames: φ from 0 to 360°
HALF = (TURNS - 1) // 2


@dataclass(frozen=True, kw_only=True)
class State:
    domain: Annotated[str, Choice("Source domain", (NORMAL, OWN), as_list=True)] = NORMAL
    ink: Annotated[
        str | None,
        Drawing("Your ink", 20, late("lab.lenses.ink", "examples", (20,)), when=lambda s: s.domain == OWN),
    ] = None
    mirror: Annotated[bool, Toggle("Reflect")] = False
    scale: Annotated[float, Slider("Scale s", 0.25, 1.5, step=0.25)] = 1.0
    undoes: Annotated[bool, Toggle("Full inverse", help="Else the backward map inverts the shift alone.")] = (
        True
    )
    turn: Annotated[int, Frame("φ =", seconds=0.2)] = 0


ROOM = Room(
    title="Unpaired translation",
    idea="Adversarial and cycle losses allow many maps; a content loss selects one.",
    place=180,
    minutes=4,
    words="CycleGAN; cycle consistency; identity loss; unpaired translation; identifiability",
    references=(
        (
            "Zhu et al. 2017, CycleGAN, arXiv:1703.10593 (its optional content term is the identity on the "
            "target)"
        ),
        "[UDL] §15.5.3, fig. 15.18 (prints one θ for both generators; its content compares before and after)",
    ),
    symbols={
        "g": "generator from a to b",
        "g'": "generator from b to a",
        "a": "a point of one set",
        "b": "a point of the other set",
    },
    state=State,
    scenes={
        "Rotation by 180°": Scene(
            "The distribution is the target's and the cycle loss 0, yet outputs lie opposite their partners.",
            State(turn=HALF),
        ),
        "Intended map": Scene(
            "Without rotation each output is its partner (in the ring), and input and output differ least.",
            State(),
        ),
        "Reflection": Scene(
            "Reflected: again neither the distributions nor the cycle loss tell a difference.",
            State(mirror=True),
        ),
        "Incomplete inverse": Scene(
            "The backward map inverts the shift alone: now the cycle loss grows with the rotation.",
            State(undoes=False, turn=HALF),
        ),
        "Wrong scale": Scene(
            "Half the size: the cycle loss is 0, and only the distributions tell the difference.",
            State(scale=0.5),
        ),
        "Asymmetric distribution": Scene(
            "A shape without symmetry: here the distributions tell a rotation by 90° as well.",
            State(domain=OWN, ink="wave", turn=HALF // 2),
        ),
    },
    was={
        1: "Intended map",
        2: "Rotation by 180°",
        "The shift": "Intended map",
        "Upside down": "Rotation by 180°",
        "A mirror": "Reflection",
        "No way back": "Incomplete inverse",
        "Shrunk": "Wrong scale",
        "A wave": "Asymmetric distribution",
    },
)
