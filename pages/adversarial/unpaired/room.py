"""Unpaired: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Room, Scene, Slider, Toggle, late

NORMAL, OWN = "a normal", "your drawing"
TURNS = 25  # frames: φ from 0 to 360°
HALF = (TURNS - 1) // 2


@dataclass(frozen=True, kw_only=True)
class State:
    domain: Annotated[str, Choice("First domain", (NORMAL, OWN), as_list=True)] = NORMAL
    ink: Annotated[
        str | None,
        Drawing("Your ink", 20, late("lab.lenses.ink", "examples", (20,)), when=lambda s: s.domain == OWN),
    ] = None
    mirror: Annotated[bool, Toggle("Mirror")] = False
    scale: Annotated[float, Slider("Scale s", 0.25, 1.5, step=0.25)] = 1.0
    undoes: Annotated[bool, Toggle("Back undoes all of it", help="Else it undoes the shift alone.")] = True
    turn: Annotated[int, Frame("Turn", seconds=0.2)] = 0


ROOM = Room(
    title="Unpaired",
    idea="No pairs: games and cycles allow many maps, and the content picks one.",
    place=190,
    minutes=4,
    words="CycleGAN; cycle consistency; identity loss; unpaired translation; identifiability",
    references=(
        (
            "Zhu et al. 2017, CycleGAN, arXiv:1703.10593 (its optional content term is the identity on the "
            "target)"
        ),
        "[UDL] §15.5.3, fig. 15.18 (prints one θ for both generators; its content compares before and after)",
    ),
    machine="gan",
    state=State,
    scenes={
        "The shift": Scene("No turn: every colour meets its partner, and the content costs least.", State()),
        "Upside down": Scene("Turned by 180°: same law, same cycle of 0, wrong partners.", State(turn=HALF)),
        "A mirror": Scene("Mirrored: again neither the laws nor the cycle notice.", State(mirror=True)),
        "No way back": Scene(
            "Back undoes the shift alone: now the cycle sees every turn.", State(undoes=False, turn=HALF)
        ),
        "Shrunk": Scene("A cloud of half the size: its cycle is 0, its law is wrong.", State(scale=0.5)),
        "A wave": Scene(
            "A shape without symmetry: here the laws notice a half turn too.",
            State(domain=OWN, ink="wave", turn=HALF // 2),
        ),
    },
)
