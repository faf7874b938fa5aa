"""CycleGAN: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Fixed, Room, Scene, late

SIDE = 32
OUTLINES, DIGITS = WAYS = ("digit → outline", "outline → digit")
ALL, NO_CONTENT, NO_CYCLE = "all terms", "no content", "no cycle"
TRAININGS = {
    ALL: "cyclegan-digits",
    NO_CONTENT: "cyclegan-nocontent-digits",
    NO_CYCLE: "cyclegan-nocycle-digits",
}


@dataclass(frozen=True, kw_only=True)
class State:
    digit: Annotated[
        str | None, Drawing("Draw a digit", SIDE, late("lab.lenses.drawing", "examples", (SIDE,)))
    ] = None
    way: Annotated[str, Choice("Direction", WAYS, as_list=True)] = OUTLINES
    trained: Annotated[str, Choice("Training loss", tuple(TRAININGS), as_list=True)] = ALL
    whole: Fixed = TRAININGS[ALL]
    no_content: Fixed = TRAININGS[NO_CONTENT]
    no_cycle: Fixed = TRAININGS[NO_CYCLE]


ROOM = Room(
    title="CycleGAN",
    idea="A GAN in each domain and a cycle-consistency loss learn a translation without any pairs.",
    place=170,
    minutes=4,
    words="CycleGAN; cycle consistency; unpaired translation; domain transfer; image-to-image translation",
    references=(
        "Zhu et al. 2017, CycleGAN, arXiv:1703.10593",
        "[UDL] §15.5.3, fig. 15.18 (one θ is printed for both generators; they have weights of their own)",
    ),
    machine="gan",
    symbols={
        "g": "generator from a to b",
        "g'": "generator from b to a",
        "a": "a picture to translate",
        "b": "its true translation",
        "n": "number of pixels",
    },
    state=State,
    scenes={
        "Digit to outline": Scene(
            "g(a) is the outline of the digit a, although no pair was ever shown in training.", State()
        ),
        "Outline to digit": Scene(
            "An outline is filled; translated back it is nearly the outline it was.", State(way=DIGITS)
        ),
        "Without identity loss": Scene(
            "The cycle closes, yet the outline is not that of its partner: the cycle does not fix it.",
            State(trained=NO_CONTENT),
        ),
        "Without cycle loss": Scene(
            "The output g(a) has collapsed, so that g′(g(a)) cannot restore the digit.",
            State(trained=NO_CYCLE),
        ),
        "Mode collapse": Scene(
            "Another digit gets the same output g(a) without cycle loss; compare its g′(g(a)).",
            State(digit="2", trained=NO_CYCLE),
        ),
        "No way back": Scene(
            "Without cycle loss outlines are still filled, but g′(g(a)) is not the outline any more.",
            State(way=DIGITS, trained=NO_CYCLE),
        ),
    },
    was={
        "There": "Digit to outline",
        "And back": "Outline to digit",
        "No content": "Without identity loss",
        "No cycle": "Without cycle loss",
        "Any other": "Mode collapse",
        "One way good": "No way back",
    },
)
