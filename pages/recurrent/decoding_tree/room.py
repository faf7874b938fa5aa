"""Decoding tree: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Place, Room, Scene, Slider, Text, keys, late

BESIDE = POOL, WEIGHTS = "Finished pool", "γ of a hypothesis"
DOG = "You see my dog but a small cat."
BOOK = "I have a new book and they sell the big table."
KEYS = "You sell a table but my blue cats but you buy the red keys."
FOUR = "We have my small table because you want two dogs because you want the new car and you have the table."
BIG = "I have a big cat but a small house."
FLOWERS = (
    "You see my flowers but the green key but two cars and my new flower and I see my books but my old book."
)
SIX = "I have a cat and a dog and a book and a car and a house and a table."
EXAMPLES = {
    "Small cat": DOG, "New book": BOOK, "Red keys": KEYS, "Four clauses": FOUR, "Big cat": BIG,
    "Six clauses": SIX,
}  # fmt: skip
SECOND = (3, 21)  # where the tree of FLOWERS has the end of its second hypothesis


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str,
        Model("Model", family="recurrent", only=late("lens", "fits"),
              first=("fixed-spanish", "attention-spanish"), as_list=True),
    ] = "fixed-spanish"  # fmt: skip
    text: Annotated[
        str,
        Text("Sentence", 300, examples=late("lens", "examples"), area=False,
             help="Of the English words of the grammar, or a German one, as the model reads it."),
    ] = DOG  # fmt: skip
    width: Annotated[int, Slider("Beam B", 1, 8)] = 2
    alpha: Annotated[float, Slider("Length power α", 0.0, 1.5, step=0.1)] = 0.0
    k: Annotated[
        int,
        Slider("Length offset k", 0, 5, disabled=lambda now: now.alpha == 0,
               help="Without a power α nothing is divided, whatever k is."),
    ] = 0  # fmt: skip
    beside: Annotated[str, Choice("Beside the tree", BESIDE, as_list=True)] = POOL
    node: Annotated[tuple[float, float] | None, Place("Node")] = None
    step: Annotated[int | None, Frame("Step", seconds=0.8)] = None


(NODE,) = keys(State, Place)

ROOM = Room(
    title="Decoding tree",
    idea="A decoder gives p of each next word; which sentence is written is decided by the search.",
    place=47,
    minutes=6,
    words="beam search; greedy decoding; hypothesis; finished pool; length normalization; length bias; "
    "search error; model error; translation; decoding",
    references=(
        "Sutskever, Vinyals & Le 2014, arXiv:1409.3215, section 3.2 (a beam of 2 for translation)",
        "Wu et al. 2016, arXiv:1609.08144, section 7 (length normalization)",
        "Koehn & Knowles 2017, arXiv:1706.03872, section 3.6 (wider beams translate worse)",
        "[DGM] deck 1 (asks for the most probable sentence and names no search)",
    ),
    machine="recurrent",
    lenses=("sampling",),
    state=State,
    symbols={
        "p": "probability", "x": "the source sentence", "y": "its translation",
        "n": "words of a sentence, the end included",
        "y_t": "target word t", r"y_{\le t}": "target words up to t", "y_{<t}": "target words before t",
        "k": "offset of the length", r"\alpha": "power of the length",
    },
    scenes={
        "Beam of 2": Scene(
            "“un perro” leads at first; B = 2 keeps “un gato” as well, and it ends likelier.",
            State(),
        ),
        "Greedy": Scene(
            "Greedy takes the likelier word “perro”, cuts “gato”, and ends in a less probable sentence.",
            State(width=1),
        ),
        "Likelier, yet wrong": Scene(
            "Greedy writes the gold translation; B = 2 finds a likelier one with the nouns swapped.",
            State(text=BOOK),
        ),
        "Wider is worse": Scene(
            "Two beginnings push out the one that greedy follows: B = 2 ends less probable than B = 1.",
            State(text=KEYS),
        ),
        "Short wins": Scene(
            "log p falls with every word: a sentence of three clauses wins, and one of the four is dropped.",
            State(text=FOUR),
        ),
        "Mean per word": Scene(
            "Divided by the number of words a sentence of four clauses wins, though its log p is lower.",
            State(text=FOUR, alpha=1.0),
        ),
        "A line": Scene(
            "With attention p is near 1 at each word: the tree is a line, and greedy is enough.",
            State(model="attention-spanish", text=BIG, width=3, beside=WEIGHTS),
        ),
        "γ at a fork": Scene(
            "Behind the fork γ follows its own words; green circles: where the best hypothesis looks.",
            State(model="attention-spanish", text=FLOWERS, beside=WEIGHTS, node=SECOND),
        ),
        "Too long": Scene(
            "Six clauses: gold lies far below what is found, so that no wider beam helps: a model error.",
            State(model="attention-spanish", text=SIX, width=5),
        ),
    },
)  # fmt: skip
