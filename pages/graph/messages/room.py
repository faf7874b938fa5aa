"""Messages: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = MESSAGES, REACH, DEPTH = "Messages", "Reach", "Depth"
SELECTS, JOINS = "selects", "joins or cuts"
ROUNDS = range(33)


def messages(state: Any) -> bool:
    return bool(state.view == MESSAGES)


def deep(state: Any) -> bool:
    return bool(state.view == DEPTH)


def near(state: Any) -> bool:
    return not deep(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = MESSAGES
    model: Annotated[str, Model("Model", family="graph", only=late("lens", "fits"), as_list=True)] = (
        "gcn-karate"
    )
    node: Annotated[
        int, Number("Node", 0, late("lens", "last_node"), help="Or click one in the picture.")
    ] = 0
    layer: Annotated[
        str | None, Choice("Layer", late("lens", "layers"), first=late("lens", "last_layer"), when=near)
    ] = None
    click: Annotated[
        str,
        Choice(
            "A click",
            (SELECTS, JOINS),
            when=near,
            help="Selects a node; or joins the selected node to it, or cuts the edge between them.",
        ),
    ] = SELECTS
    edits: Annotated[
        str, Text("Edits", 200, help="+0-9 joins nodes 0 and 9, -0-1 cuts the edge between 0 and 1.")
    ] = ""
    unit: Annotated[
        int,
        Slider(
            "Unit", 0, late("lens", "last_unit"), help="Which of the state's numbers is shown.", when=messages
        ),
    ] = 0
    step: Annotated[int, Frame("Sender", seconds=0.6, when=messages)] = 0
    rounds: Annotated[int, Frame("Layers", ROUNDS, seconds=0.3, when=deep)] = 2
    train: Annotated[bool, Toggle("Train a net of each depth now (a few seconds)", when=deep, at="below")] = (
        False
    )
    seed: Annotated[int, Number("Seed", 0, 99, when=late("lens", "trains"), at="below")] = 0


ROOM = Room(
    title="Messages",
    idea="A node's new state is a weighted sum of what its neighbours send; one rule for all.",
    place=10,
    minutes=6,
    words="message passing; GCN; graph convolutional network; GNN; graph neural network; GAT; graph "
    "attention; over-smoothing; node classification; Cora",
    references=(
        "Kipf & Welling 2017, arXiv:1609.02907",
        "Li, Han & Wu 2018 (over-smoothing), arXiv:1801.07606",
        "[UDL] §13.4, §13.8.4",
    ),
    lenses=("receptive_field",),
    machine="message passing",
    state=State,
    scenes={
        "Message passing": Scene(
            "Node 0 adds up the weighted messages of its sixteen neighbours and its own, one by one.",
            State(step=8),
        ),
        "Degree normalisation": Scene(
            "Node 11 has a single neighbour, of high degree: its own message has the larger weight.",
            State(node=11, layer="1"),
        ),
        "Removed edge": Scene(
            "With edge 2–32 node 2 is misclassified; without it the prediction is its true class.",
            State(node=2, edits="-2-32"),
        ),
        "Receptive field": Scene(
            "Two layers reach the nodes within two hops; the gradient fades with distance and degree.",
            State(view=REACH, node=16),
        ),
        "Isolated node": Scene(
            "Without its only edge node 11 receives no message but its own.",
            State(view=REACH, node=11, edits="-0-11"),
        ),
        "Over-smoothing": Scene(
            "After 32 layers the states of all nodes point in one direction, whatever their class.",
            State(view=DEPTH, rounds=32),
        ),
    },
    was={
        "The instructor": "Message passing",
        "One friend only": "Degree normalisation",
        "Wrong, until an edge is cut": "Removed edge",
        "Two hops": "Receptive field",
        "All friends lost": "Isolated node",
        "Over-smoothed": "Over-smoothing",
    },
)
