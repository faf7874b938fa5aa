"""Graph as matrices: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_4
from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = WALKS, LISTS, RELABELLED = "Walks", "A, X and E", "Relabelling"
CELLS = COUNTS, FIRST = "walks of length L", "first L that is not 0"
ENDS = TO, FROM = "to node n", "from node n"
LAYERS = SUM, MEAN, GCN, BROKEN = "sum", "mean", "gcn", "weights per node"
LENGTHS = range(7)
FIGURE_13_3 = "0-2 0-3 1-2 2-3 2-5 3-4 4-5"
LAYERED = "0-1 0-2 1-3 2-3 2-4 3-5 4-5 5-6"
PATH = "0-1 1-2 2-3 3-4 4-5 5-6 6-7"


def walks(state: Any) -> bool:
    return bool(state.view == WALKS)


def lists(state: Any) -> bool:
    return bool(state.view == LISTS)


def relabelled(state: Any) -> bool:
    return bool(state.view == RELABELLED)


def two_ways(state: Any) -> bool:
    return walks(state) and bool(state.directed)


def drawn(state: Any) -> bool:
    return not walks(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = WALKS
    a: Annotated[
        str,
        Text("Edges", 600, reads=late("lab.lenses.graphs", "arrows"), area=False,
             examples=late("lab.lenses.graphs", "examples"), help="0-1 joins nodes 0 and 1."),
    ] = FIGURE_13_4  # fmt: skip
    directed: Annotated[bool, Toggle("Directed", help="Then 0-1 is the edge from node 0 to node 1.")] = False
    cells: Annotated[str, Choice("In the cells", CELLS, as_list=True, when=walks)] = COUNTS
    ends: Annotated[str, Choice("Walks", ENDS, when=two_ways)] = TO
    node: Annotated[
        int, Slider("Node n", 0, late("lens", "last_node"), when=walks, help="Or click one in the picture.")
    ] = 0
    layer: Annotated[str, Choice("Layer", LAYERS, as_list=True, when=relabelled)] = SUM
    permutation: Annotated[int, Number("Seed of the permutation", 0, 99, when=relabelled)] = 0
    seed: Annotated[int, Number("Seed of features and weights", 0, 99, when=drawn)] = 0
    length: Annotated[int, Frame("Length L =", LENGTHS, seconds=1.2, when=walks)] = 2
    edge: Annotated[int, Frame("Edge", seconds=0.8, when=lists)] = 3
    swap: Annotated[int | None, Frame("Swaps", seconds=1.0, when=relabelled)] = None


ROOM = Room(
    title="Graph as matrices",
    idea="Powers of A count walks; other numbers for the nodes reorder rows and columns, and nothing else.",
    place=5,
    minutes=6,
    words="adjacency matrix; walks; distance; degree; node embeddings; edge embeddings; permutation; "
    "directed graph; permutation equivariance; permutation invariance; relabelling; powers of a matrix",
    references=("[UDL] §13.2, §13.4.1, figures 13.3-13.5, problems 13.2-13.7",),
    state=State,
    symbols={
        "A": "1 in row m, column n for an edge from m to n", "L": "number of edges of a walk",
        "e": "1 at one node, else 0", "n": "a node", "m": "another node",
        r"\mathrm{dist}": "fewest edges from one node to another",
        "X": "data of the nodes, a column each", "E": "data of the edges, a column each",
        "P": "permutation: 1 in row m, column n if node m becomes node n",
        "F": "a layer of a network", "h": "its output at a node",
        r"\omega": "weights of the pooled number", "N": "number of nodes",
    },
    scenes={
        "Walks": Scene(
            "Two steps along edges end at node 5: one walk from each coloured node, three from 5 and back.",
            State(node=5),
        ),
        "Degrees": Scene(
            "The diagonal of A² is the degree: node 4 has five neighbours, five ways out and back.",
            State(node=4),
        ),
        "Distance": Scene(
            "The first L with a number other than 0 is the distance: node 0 is 4 edges away from node 6.",
            State(cells=FIRST, node=6, length=4),
        ),
        "Exactly L": Scene(
            "On a path two steps end at no neighbour: A² holds walks of length 2, none of length 1.",
            State(a=PATH, node=3),
        ),
        "Directed": Scene(
            "Directed edges count one way: row 0 has the walks from node 0, column 0 is empty.",
            State(a=LAYERED, directed=True, ends=FROM, node=0, length=3),
        ),
        "A, X and E": Scene(
            "An edge is two ones in A, two columns of X, the data of its ends, and one column of E.",
            State(view=LISTS, a=FIGURE_13_3),
        ),
        "Relabelling": Scene(
            "Other numbers, same drawing: A, X and the outputs are reordered alike; the pooled number stays.",
            State(view=RELABELLED),
        ),
        "Broken layer": Scene(
            "With weights of its own for each number the outputs differ, and so does the pooled number.",
            State(view=RELABELLED, layer=BROKEN),
        ),
    },
)  # fmt: skip
