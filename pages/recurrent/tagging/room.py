"""Bidirectional tagging: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Frame, Room, Scene, Text, late

SHOWN = STATE, RESET, UPDATE = "state h", "reset gate r", "update gate z"
LOAN = "the bank , they say , approved the loan ."
RIVER = "the bank , they say , of the river was quiet ."
PLANT = "we saw that the old plant was thirsty ."
MOUSE = "the mouse clicked twice ."
FAR = "today the crane , of course , i think , they say , of course , lifted the steel ."
BOTH = "the bat flew home , of course , hit the ball ."
EXAMPLES = {"Loan": LOAN, "River": RIVER, "Plant": PLANT, "Mouse": MOUSE, "Far": FAR, "Contradiction": BOTH}


@dataclass(frozen=True, kw_only=True)
class State:
    text: Annotated[
        str,
        Text(
            "Sentence",
            200,
            reads=late("lens", "sentence"),
            says=late("lens", "says"),
            examples=EXAMPLES,
            area=False,
            help="With one of the homographs bank, bat, crane, mouse, plant.",
        ),
    ] = LOAN
    show: Annotated[
        str, Choice("Show", SHOWN, help="Of both directions of the bidirectional tagger, 16 units each.")
    ] = STATE
    step: Annotated[int | None, Frame("Read up to", seconds=0.8)] = None
    both: Fixed = "tagger-homographs"
    left: Fixed = "left-tagger-homographs"


ROOM = Room(
    title="Bidirectional tagging",
    idea="The tag of a word may depend on words to its right: a second network reads from there.",
    place=40,
    minutes=4,
    words="bidirectional RNN; BiRNN; BiGRU; tagger; part of speech; homograph; word sense; GRU; forward "
    "state; backward state",
    references=(
        "Schuster & Paliwal 1997, Bidirectional recurrent neural networks",
        "Cho et al. 2014 (GRU), arXiv:1406.1078",
        "[GM] 1.6.2 and 1.6.3",
    ),
    machine="recurrent",
    lenses=("receptive_field",),
    state=State,
    symbols={
        r"\overrightarrow{v}": "difference of the head's two rows, the forward half",
        r"\overleftarrow{v}": "difference of the head's two rows, the backward half",
        "b": "difference of the two biases",
    },
    scenes={
        "Deciding word": Scene(
            "At “quiet” the backward states change, and the tag of bank with them: it is place now.",
            State(text=RIVER, step=9),
        ),
        "Other sense": Scene(
            "The same beginning, then “approved”: company. From the left nothing moves behind bank.",
            State(step=5),
        ),
        "Fair coin": Scene(
            "Read up to bank, both taggers are near ½: the two senses go on from here equally often.",
            State(text=RIVER, step=0),
        ),
        "Next word": Scene(
            "Here the very next word decides: at “clicked” the mouse becomes a tool.",
            State(text=MOUSE, step=1),
        ),
        "Four asides": Scene(
            "Four asides lie between, twice the longest gap of training: “lifted” still turns the tag.",
            State(text=FAR, step=14),
        ),
        "Update gate": Scene(
            "Where z is near 1 a unit keeps its state: so the sense is carried back over the asides.",
            State(text=FAR, show=UPDATE),
        ),
        "Contradiction": Scene(
            "“flew” says animal, “hit” says tool: the later word wins, though it lies farther away.",
            State(text=BOTH, step=7),
        ),
    },
)
