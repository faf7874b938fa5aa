"""Depth lab: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_11
from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = STATES, INFLUENCE, TRAINING = "States", "Influence", "Train"
GRAPHS = KARATE, TREE, RING, OWN = "Karate club", "Binary tree", "Ring of 24", "My own graph"
RESIDUALS = PLAIN, ADDED, APPENDED, JUMP = "none", "added", "appended", "jump"
LAYERS = GCN, AVERAGE = "gcn", "average"
STEPS = range(0, 101, 5)


def states(state: Any) -> bool:
    return bool(state.view == STATES)


def influences(state: Any) -> bool:
    return bool(state.view == INFLUENCE)


def trains(state: Any) -> bool:
    return bool(state.view == TRAINING)


def free(state: Any) -> bool:
    return not trains(state)


def is_own(state: Any) -> bool:
    return free(state) and bool(state.graph == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = STATES
    graph: Annotated[str, Choice("Graph", GRAPHS, as_list=True, when=free)] = KARATE
    own: Annotated[
        str,
        Text("Edges", 600, reads=late("lab.lenses.graphs", "typed"), area=False, when=is_own,
             examples=late("lab.lenses.graphs", "examples")),
    ] = FIGURE_13_11  # fmt: skip
    depth: Annotated[int, Slider("Layers K", 1, 64, when=states)] = 32
    hops: Annotated[int, Slider("Layers K", 1, 12, when=influences)] = 8
    layers: Annotated[int, Slider("Layers K", 2, 32, when=trains)] = 32
    propagation: Annotated[
        str, Choice("Layer", LAYERS, help="Kipf & Welling's symmetric weights, or the mean with oneself.")
    ] = GCN
    residual: Annotated[
        str,
        Choice("Input of a layer is", RESIDUALS, as_list=True,
               help="Added to its output, appended to it, or kept until the end: jumping knowledge."),
    ] = PLAIN  # fmt: skip
    pair: Annotated[bool, Toggle("PairNorm")] = False
    drop: Annotated[float, Slider("DropEdge p", 0.0, 0.8, step=0.1, help="Share of edges left out.")] = 0.0
    seed: Annotated[
        int, Number("Seed", 0, 99, row="numbers", help="Of weights, features and edges left out.")
    ] = 0
    node: Annotated[int, Number("Node", 0, late("lens", "last_node"), when=influences, row="numbers")] = 0
    layer: Annotated[int | None, Frame("Layer", seconds=0.3, when=states)] = None
    hop: Annotated[int | None, Frame("Layers", seconds=0.6, when=influences)] = None
    step: Annotated[int | None, Frame("Step", STEPS, seconds=0.3, when=trains)] = None


ROOM = Room(
    title="Depth lab",
    idea="Each layer averages: deep stacks make all nodes alike, and what is far away hardly arrives.",
    place=90,
    minutes=7,
    words="over-smoothing; over-squashing; Dirichlet energy; residual connections; jumping knowledge; "
    "PairNorm; DropEdge; deep graph networks; suspended animation; influence; bottleneck; depth",
    references=(
        "Li et al. 2018, arXiv:1801.07606; Oono & Suzuki 2020, arXiv:1905.10947 (over-smoothing)",
        "Xu et al. 2018, arXiv:1806.03536 (jumping knowledge); Alon & Yahav 2021, arXiv:2006.05205",
        "Zhao & Akoglu 2020, arXiv:1909.12223 (PairNorm); Rong et al. 2020, arXiv:1907.10903 (DropEdge)",
        "[UDL] §13 notes",
    ),
    state=State,
    symbols={
        "k": "layer", "K": "number of layers", "I_r": "share of all nodes r edges away in the influence",
        "n": "the node that is influenced", "i": "a feature of its state", "j": "an input feature",
        "r": "edges on the shortest path", r"\Omega_1": "weights of the first layer", "L": "loss",
    },
    scenes={
        "Over-smoothing": Scene(
            "At layer 8 the states of all communities already lie near one line: over-smoothing.",
            State(layer=8),
        ),
        "Second eigenvalue": Scene(
            "The graph alone falls along the rate λ₂ᵏ; on a tree, λ₂ = .986, it takes many more layers.",
            State(graph=TREE, layer=32),
        ),
        "Jumping knowledge": Scene(
            "The first layers are still read at the end: at layer 32 the curve stays near the top.",
            State(residual=JUMP, layer=32),
        ),
        "PairNorm": Scene(
            "PairNorm centres the states and fixes their mean length: at layer 32 most lies outside.",
            State(pair=True, layer=32),
        ),
        "Over-squashing": Scene(
            "Sixteen leaves share a twelfth of the root's influence; each level halves it: over-squashing.",
            State(view=INFLUENCE, graph=TREE, propagation=AVERAGE, hop=4),
        ),
        "Deep net fails": Scene(
            "Thirty-two plain layers do not even fit their training nodes; layer 1 gets hardly any gradient.",
            State(view=TRAINING),
        ),
        "Jump trains": Scene(
            "With jumping knowledge the same 32 layers fit all training nodes: layer 1 has a gradient.",
            State(view=TRAINING, residual=JUMP),
        ),
    },
)  # fmt: skip
