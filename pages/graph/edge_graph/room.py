"""Edge graph: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_4
from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, late

VIEWS = FORWARD, BACK, UPDATES, KINDS = "Edge graph", "Way back", "Updates", "Kinds"
SIGNS = "-=#"  # of an edge of the first, second and third kind
RELATED = "0-1 0-2 0=3 0=4 0#5 1-2 2#3 3=4 4-5 5#1"
RELATED_GRAPHS = {"Three kinds": RELATED, "A pair of two kinds": "0-1 0=1 1-2 2#3",
                  "A sender by each": "0-1 0=2 0#3", "Vinyl alcohol": "0=1 1-2"}  # fmt: skip
# receiver ← sender
WAYS = NODE_NODE, EDGE_NODE, NODE_EDGE, EDGE_EDGE, THERE_AND_BACK, LAYER = (
    "node ← node", "edge ← node", "node ← edge", "edge ← edge", "edge ← node, then node ← edge",
    "layer: node ← node, edges",
)  # fmt: skip
FIGURE_13_13 = "0-2 0-3 0-4 0-5 1-2 1-4 3-4 3-5"
HUB, RING = "0-1 0-2 0-3 0-4 0-5 0-6", "0-1 1-2 2-3 3-4 4-5 5-0"
PROBLEM = "0-1 0-2 1-2 1-3 2-4 2-5 3-5 4-5"  # figure 13.15b, with nodes that are edges
TRIANGLE, CLAW = "0-1 0-2 1-2", "0-1 0-2 0-3"
NODE_GRAPHS = {"Figure 13.13": FIGURE_13_13, "Figure 13.4": FIGURE_13_4, "Hub": HUB, "Ring": RING,
               "Path": "0-1 1-2 2-3 3-4"}  # fmt: skip
EDGE_GRAPHS = {"Figure 13.15": PROBLEM, "Triangle": TRIANGLE, "Claw": CLAW, "Ring": RING,
               "Wheel": "0-1 0-2 0-3 0-4 0-5 1-2 2-3 3-4 4-5 5-1"}  # fmt: skip


def goes_back(state: Any) -> bool:
    return bool(state.view == BACK)


def relates(state: Any) -> bool:
    return bool(state.view == KINDS)


def updates(state: Any) -> bool:
    return bool(state.view == UPDATES)


def forward(state: Any) -> bool:
    return not goes_back(state) and not relates(state)


def sums(state: Any) -> bool:
    return updates(state) or relates(state)


def builds(state: Any) -> bool:
    return not sums(state)


def layered(state: Any) -> bool:
    return updates(state) and bool(state.way == LAYER)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = FORWARD
    a: Annotated[
        str,
        Text("Edges", 400, reads=late("lens", "typed"), area=False, examples=NODE_GRAPHS, when=forward,
             help="0-1 joins nodes 0 and 1; up to 10 nodes and 16 edges."),
    ] = FIGURE_13_13  # fmt: skip
    back: Annotated[
        str,
        Text("Edge graph to go back from", 400, reads=late("lens", "given"), area=False,
             examples=EDGE_GRAPHS, when=goes_back,
             help="0-1: edges 0 and 1 share an end; up to 12 edges."),
    ] = PROBLEM  # fmt: skip
    related: Annotated[
        str,
        Text("Edges of three kinds", 400, reads=late("relations", "parse"), area=False,
             examples=RELATED_GRAPHS, when=relates,
             help="0-1, 0=1 and 0#1 are edges of the first, second and third kind; up to 16."),
    ] = RELATED  # fmt: skip
    bases: Annotated[
        int, Slider("Bases B", 0, 3, when=relates, help="Of which the matrices are summed; 0: all are free.")
    ] = 0
    way: Annotated[str, Choice("Receiver ← senders", WAYS, as_list=True, when=updates)] = EDGE_NODE
    seed: Annotated[int, Number("Seed of the numbers", 0, 99, when=sums)] = 0
    own: Annotated[float, Slider("ψ, the node's own state", -2.0, 2.0, step=0.5, when=layered)] = 1.0
    heard: Annotated[float, Slider("ω, its neighbours", -2.0, 2.0, step=0.5, when=layered)] = 0.5
    edges: Annotated[float, Slider("γ, its edges", -2.0, 2.0, step=0.5, when=layered)] = -1.0
    e: Annotated[int, Frame("Edge", seconds=0.9, when=builds)] = 2
    receiver: Annotated[int, Frame("Receiver", seconds=0.9, when=sums)] = 3


ROOM = Room(
    title="Edge graph",
    idea="Edges become nodes, joined where they share an end; back is one way, but for the triangle.",
    place=70,
    minutes=6,
    words="edge graph; line graph; adjoint graph; incidence matrix; edge embeddings; edge data; Whitney; "
    "Krausz; inverse line graph; claw; dual; message passing between nodes and edges; edge features; "
    "relational; R-GCN; kinds of edges; knowledge graph; basis decomposition",
    references=("[UDL] §13.9, figure 13.13, problems 13.11-13.14", "Whitney 1932", "Krausz 1943 (cliques)",
                "Schlichtkrull et al. 2018, arXiv:1703.06103 (kinds of edges)"),
    state=State,
    symbols={
        "A": "adjacency of nodes", r"A_\mathrm{edge}": "adjacency of edges: 1 where two share an end",
        "B": "incidence: 1 in row n, column e if n is an end of e", "I": "identity",
        "D": "degrees on the diagonal", "d": "degree of a node", "e": "an edge, and its number",
        "f": "another edge", "n": "a node", "m": "another node", "h": "number of a node",
        "H": "numbers of the nodes, in a row", "E": "numbers of the edges, in a row",
        r"\psi": "weight of the node's own number", r"\omega": "weight of its neighbours'",
        r"\gamma": "weight of its edges'", "N": "number of nodes",
        "K": "K₃ is a triangle, K₁,₃ a star of three rays", "b": "column of B",
        r"\Psi": "matrix of the node's own numbers", r"\Omega": "matrix of a kind of edges",
        r"\bar x": "mean of the senders by that kind", "x": "two numbers of a node",
        "x'": "its new numbers",
    },
    scenes={
        "Edge graph": Scene(
            "Edge 2 on the left is node 2 on the right, joined to the five edges that share an end with it.",
            State(e=2),
        ),
        "Hub": Scene(
            "A node of degree 6 becomes a clique: 15 edges, all in its colour, between the six squares.",
            State(a=HUB, e=0),
        ),
        "Way back": Scene(
            "Each clique of one colour is a node again: square 1 lies in two, its ends.",
            State(view=BACK, e=1),
        ),
        "Triangle": Scene(
            "Three edges that meet in pairs: a triangle or a star? Both have this edge graph.",
            State(view=BACK, back=TRIANGLE, e=0),
        ),
        "Claw": Scene(
            "A claw is no edge graph: edge 0 would need three ends.",
            State(view=BACK, back=CLAW, e=0),
        ),
        "Node to edge": Scene(
            "An edge hears of its two ends: column 2 of B has two ones, and the numbers of two nodes add up.",
            State(view=UPDATES, way=EDGE_NODE, receiver=2),
        ),
        "Edge to edge": Scene(
            "An edge hears of the edges that share an end with it: one column of A_edge.",
            State(view=UPDATES, way=EDGE_EDGE, receiver=2),
        ),
        "Kinds of edges": Scene(
            "Node 0 takes a mean over each kind of its edges; each kind has a matrix of its own.",
            State(view=KINDS, receiver=0),
        ),
        "Layer": Scene(
            "A layer with data of both: own number, its neighbours' and its edges', each with a weight.",
            State(view=UPDATES, way=LAYER, receiver=0),
        ),
    },
    was={"Ring": "Hub"},
)  # fmt: skip
