"""CycleGAN: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Model, Room, Scene, late

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
    way: Annotated[str, Choice("Way", WAYS, as_list=True)] = OUTLINES
    trained: Annotated[str, Choice("Trained with", tuple(TRAININGS), as_list=True)] = ALL
    whole: Annotated[str, Model(ALL, (TRAININGS[ALL],), when=False)] = TRAININGS[ALL]
    no_content: Annotated[str, Model(NO_CONTENT, (TRAININGS[NO_CONTENT],), when=False)] = TRAININGS[
        NO_CONTENT
    ]
    no_cycle: Annotated[str, Model(NO_CYCLE, (TRAININGS[NO_CYCLE],), when=False)] = TRAININGS[NO_CYCLE]


ROOM = Room(
    title="CycleGAN",
    idea="Nobody shows a pair: a game in each domain, and a round trip that must come home.",
    place=180,
    minutes=4,
    words="CycleGAN; cycle consistency; unpaired translation; domain transfer; image-to-image translation",
    references=(
        "Zhu et al. 2017, CycleGAN, arXiv:1703.10593",
        "[UDL] §15.5.3, fig. 15.18 (one θ is printed for both generators; they have weights of their own)",
    ),
    machine="gan",
    state=State,
    scenes={
        "There": Scene("A digit gets its outline, though no pair was ever shown.", State()),
        "And back": Scene("An outline is filled; back again it is nearly what it was.", State(way=DIGITS)),
        "No content": Scene(
            "It comes home, and its outline is another's: a cycle does not say whose.",
            State(trained=NO_CONTENT),
        ),
        "No cycle": Scene(
            "One scrawl for every digit: nothing is left by which to come home.", State(trained=NO_CYCLE)
        ),
        "Any other": Scene(
            "The same scrawl: compare the picture that came home.", State(digit="2", trained=NO_CYCLE)
        ),
        "One way good": Scene(
            "Without the cycle outlines are filled all the same; the way home is lost.",
            State(way=DIGITS, trained=NO_CYCLE),
        ),
    },
)
