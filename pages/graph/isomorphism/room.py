"""Can they be told apart: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Text, late

OWN = "Your own two"
ISOMERS, TWINS, RINGS, PATH = (
    "2- and 3-methylhexane", "Hexagon and two triangles", "Decalin and bicyclopentyl", "Path and star"
)  # fmt: skip
COPIES, TWICE, MULTI, NUMBERS = (
    "A graph and two of it",
    "{a} and {a, a}",
    "{a, b} and {a, a, b}",
    "{1, 3} and {2, 2}",
)
# An edge is 0-1; 2:3 is node 2 with the label 3, all others have the label 1.
PAIRS = {
    ISOMERS: ("0-1 1-2 2-3 3-4 4-5 1-6", "0-1 1-2 2-3 3-4 4-5 2-6"),
    TWINS: ("0-1 1-2 2-3 3-4 4-5 5-0", "0-1 1-2 2-0 3-4 4-5 5-3"),
    RINGS: (
        "0-1 1-2 2-3 3-4 4-5 5-0 4-6 6-7 7-8 8-9 9-5", "0-1 1-2 2-3 3-4 4-0 4-5 5-6 6-7 7-8 8-9 9-5",
    ),
    PATH: ("0-1 1-2 2-3", "0-1 0-2 0-3"),
    COPIES: ("0-1 1-2 2-0 2-3", "0-1 1-2 2-0 2-3 4-5 5-6 6-4 6-7"),
    TWICE: ("0-1 0:1 1:2", "0-1 1-2 2-3 3-0 0:1 1:2 2:1 3:2"),
    MULTI: ("0-1 0-2 1:2 2:3", "0-1 0-2 0-3 1:2 2:2 3:3"),
    NUMBERS: ("0-1 0-2 0:5 1:1 2:3", "0-1 0-2 0:5 1:2 2:2"),
}  # fmt: skip
DATA = ONE_HOT, AS_NUMBERS, RANDOM, TRIANGLES = (
    "labels, one-hot", "labels as numbers", "and a random number", "and its triangles"
)  # fmt: skip
WAYS = SUM, MEAN, MAX = "sum", "mean", "max"


def own(state: Any) -> bool:
    return bool(state.pair == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    pair: Annotated[str, Choice("Pair", (*PAIRS, OWN), as_list=True)] = ISOMERS
    one: Annotated[
        str,
        Text("First graph", 300, reads=late("lens", "typed"), area=True, when=own,
             help="0-1 is an edge, 5 a node alone; 2:3 gives node 2 the label 3, where others have 1."),
    ] = "0-1 1-2 2-3 3-0"  # fmt: skip
    other: Annotated[str, Text("Second graph", 300, reads=late("lens", "typed"), area=True, when=own)] = (
        "0-1 1-2 2-0 2-3"
    )
    data: Annotated[str, Choice("A node's data", DATA, as_list=True)] = ONE_HOT
    aggregation: Annotated[str, Choice("Over neighbours", WAYS)] = SUM
    pooling: Annotated[str, Choice("Over nodes", WAYS)] = SUM
    seed: Annotated[int, Number("Seed of weights", 0, 99)] = 0
    step: Annotated[int, Frame("Round", seconds=1.2)] = 2


ROOM = Room(
    title="Can they be told apart?",
    idea="A sum tells multisets apart; means and maxima merge some; twins defeat every layer.",
    place=80,
    minutes=6,
    words="graph isomorphism; Weisfeiler-Lehman test; Weisfeiler and Leman; 1-WL; colour refinement; GIN; "
    "graph isomorphism network; expressive power; pooling; readout",
    references=(
        "Weisfeiler & Leman 1968",
        "Xu et al. 2019, How powerful are graph neural networks?, arXiv:1810.00826",
        "[UDL] §13 notes",
    ),
    state=State,
    symbols={
        "c": "colour of a node", "r": "round, and layer", "n": "a node", "m": "its neighbours",
        "G": "the first graph", "G'": "the second graph", r"\mathrm{pool}": "sum, mean or maximum over nodes",
    },
    scenes={
        "Colour refinement": Scene(
            "Same degrees, another place of the branch: in round 2 the multisets of colours differ.",
            State(step=2),
        ),
        "Twins": Scene(
            "Every node has two neighbours, all colours stay equal: no layer tells these two apart.",
            State(pair=TWINS, step=3),
        ),
        "Two molecules": Scene(
            "Two hydrocarbons, C₁₀H₁₈ both: colours part the atoms alike, and never the molecules.",
            State(pair=RINGS, step=3),
        ),
        "Mean aggregation": Scene(
            "The mean of equal states is that state: in the lower row path and star have one colour.",
            State(pair=PATH, aggregation=MEAN, step=1),
        ),
        "Maximum": Scene(
            "The maximum of {a, b} is that of {a, a, b}: below, the centres merge; above, they do not.",
            State(pair=MULTI, aggregation=MAX, pooling=MAX, step=1),
        ),
        "Mean pooling": Scene(
            "Two copies have the mean of one: with mean pooling the distance on the right is 0.",
            State(pair=COPIES, pooling=MEAN, step=3),
        ),
        "Sum of numbers": Scene(
            "1 + 3 = 2 + 2: after layer 1 the two centres share a colour below, and not above.",
            State(pair=NUMBERS, data=AS_NUMBERS, step=1),
        ),
        "Triangles counted": Scene(
            "Told in how many triangles it is, a node of the hexagon differs from the start.",
            State(pair=TWINS, data=TRIANGLES, step=0),
        ),
    },
)  # fmt: skip
