"""Recurrence: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Room, Scene, Slider, Text, Toggle, late

VIEWS = UNROLLED, FIND = "Unrolled", "Find a unit"
NOTHING = "nothing"
CAPITALS, LINES, QUOTES, BRACKETS, OWN = (
    "capital letters", "starts of lines", "inside quotes", "inside brackets", "own text",
)  # fmt: skip
KINDS = CAPITALS, LINES, QUOTES, BRACKETS, OWN
WORDS = {
    "h": "state h", "cell": "memory cell", "i": "input gate i", "f": "forget gate f", "o": "output gate o",
    "candidate": "candidate g", "r": "reset gate r", "z": "update gate z",
}  # fmt: skip
NAMES = {words: name for name, words in WORDS.items()}  # as `Recurrent.unroll` has them
SHAKESPEARE, PYDOCS = "lstm-shakespeare", "lstm-pydocs"
ROMEO = "ROMEO:\nBut, soft! what light"
QUOTE = 'which "if" clause a following "else'


def unrolled(state: Any) -> bool:
    return bool(state.view == UNROLLED)


def finds(state: Any) -> bool:
    return bool(state.view == FIND)


def marks_own(state: Any) -> bool:
    return finds(state) and state.kind == OWN


def freezes(state: Any) -> bool:
    return unrolled(state) and state.freeze != NOTHING


def clamps(state: Any) -> bool:
    return unrolled(state) and bool(state.clamp)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = UNROLLED
    model: Annotated[
        str, Model("Model", family="recurrent", only=late("lens", "fits"), first=(SHAKESPEARE,), as_list=True)
    ] = SHAKESPEARE
    text: Annotated[
        str,
        Text("Text", 500, examples={"Romeo": ROMEO, "Quotes": QUOTE}, when=unrolled,
             help="Its first 40 characters are read."),
    ] = ROMEO  # fmt: skip
    show: Annotated[str, Choice("Show", late("lens", "shown"), as_list=True, when=unrolled)] = WORDS["h"]
    unit: Annotated[int, Slider("Unit", 0, late("lens", "last_unit"), when=unrolled)] = 0
    freeze: Annotated[str, Choice("Freeze gate", late("lens", "gates"), when=unrolled)] = NOTHING
    frozen: Annotated[float, Slider("Frozen at", 0.0, 1.0, step=0.1, when=freezes)] = 1.0
    clamp: Annotated[bool, Toggle("Clamp the unit's h", when=unrolled)] = False
    value: Annotated[float, Slider("Clamped at", -1.0, 1.0, step=0.1, when=clamps)] = 1.0
    kind: Annotated[str, Choice("Mark", KINDS, as_list=True, when=finds)] = QUOTES
    own: Annotated[str, Text("Characters to mark", 20, when=marks_own, area=False)] = "::="
    rank: Annotated[int, Slider("Rank of the unit", 1, 8, when=finds)] = 1
    step: Annotated[int | None, Frame("Read up to", seconds=0.5, when=unrolled)] = None
    piece = late("finding", "piece")


ROOM = Room(
    title="Recurrence",
    idea="One cell reads character after character: its state is all that it knows of those before.",
    place=10,
    minutes=6,
    words="RNN; LSTM; GRU; recurrent neural network; hidden state; memory cell; gate; forget gate; character "
    "model; interpretable unit; quote unit",
    references=(
        "Hochreiter & Schmidhuber 1997, Long short-term memory",
        "Gers, Schmidhuber & Cummins 2000, Learning to forget",
        "Karpathy, Johnson & Li 2016, Visualizing and understanding recurrent networks, arXiv:1506.02078",
        "[LLM] definitions 1.3 and 1.4, [GM] 1.6.2 and 1.6.3",
    ),
    machine="recurrent",
    state=State,
    scenes={
        "Quote unit": Scene(
            "Unit 149 is low inside quotes and high outside; at the end a closing quote is expected.",
            State(model=PYDOCS, text=QUOTE, unit=149),
        ),
        "Clamped unit": Scene(
            "Held at 1, it says “outside quotes” all along: no closing quote is expected any more.",
            State(model=PYDOCS, text=QUOTE, unit=149, clamp=True),
        ),
        "Find it": Scene(
            "Of all units one tells inside quotes from outside best, and does so on the next text too.",
            State(view=FIND, model=PYDOCS),
        ),
        "Capital letters": Scene(
            "The best unit for capital letters is low right after one, in this text as in that before.",
            State(view=FIND, model=PYDOCS, kind=CAPITALS),
        ),
        "Chance": Scene(
            "Four commas are few: a unit that looked almost perfect is far worse on the next text.",
            State(view=FIND, model=PYDOCS, kind=OWN, own=",", rank=3),
        ),
        "Forget gate 0": Scene(
            "With f = 0 the memory cell holds what the last character wrote, and nothing older.",
            State(freeze="f", frozen=0.0, show=WORDS["cell"], step=20),
        ),
        "Forget gate 1": Scene(
            "With f = 1 nothing is forgotten: what is written adds up, and the memory cells grow.",
            State(freeze="f", show=WORDS["cell"], step=20),
        ),
    },
)
