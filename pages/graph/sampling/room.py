"""Reach, sampling and partition: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_10, FIGURE_13_11
from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, late

VIEWS = SAMPLES, PARTS, SOFT, NOISE = "Sample", "Parts", "Soft", "Noise"
STEPS = range(0, 101, 5)
METHODS = SWAPS, SPECTRAL, RANDOM = "Kernighan-Lin", "spectral", "random"
COUNTS = "2", "4", "8"
SINGLE, PAIRS = "one part", "two parts"


def samples(state: Any) -> bool:
    return bool(state.view == SAMPLES)


def parts(state: Any) -> bool:
    return bool(state.view == PARTS)


def soft(state: Any) -> bool:
    return bool(state.view == SOFT)


def divides(state: Any) -> bool:
    return parts(state) or soft(state)


def whole(state: Any) -> bool:
    return not divides(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = SAMPLES
    own: Annotated[
        str, Text("Edges", 600, reads=late("lab.lenses.graphs", "typed"), area=False, when=whole)
    ] = FIGURE_13_10
    divided: Annotated[
        str,
        Text("Edges", 600, reads=late("lab.lenses.graphs", "typed"), area=False, when=divides,
             examples=late("lab.lenses.graphs", "examples")),
    ] = FIGURE_13_11  # fmt: skip
    node: Annotated[int, Number("Node", 0, late("lens", "last_node"), when=samples)] = 0
    hops: Annotated[int, Slider("Layers K", 1, 4, when=samples)] = 2
    most: Annotated[
        int, Slider("Neighbours kept s", 1, 6, when=samples, help="Of each node, in each layer.")
    ] = 3
    count: Annotated[str, Choice("Parts", COUNTS, when=divides)] = "4"
    method: Annotated[str, Choice("Method", METHODS, as_list=True, when=parts)] = SWAPS
    batch: Annotated[str, Choice("A batch is", (SINGLE, PAIRS), when=parts)] = SINGLE
    entropy: Annotated[
        float,
        Slider("Weight of the entropy λ", 0.0, 1.0, step=0.05, when=soft, help="What undecided nodes cost."),
    ] = 0.1
    seed: Annotated[int, Number("Draw", 0, 99, help="Another number draws again.")] = 0
    hop: Annotated[int | None, Frame("Steps back", seconds=0.8, when=samples)] = None
    turn: Annotated[int, Frame("Batch", seconds=0.8, when=parts)] = 0
    look: Annotated[int, Frame("Steps", STEPS, seconds=0.4, when=soft)] = 100


ROOM = Room(
    title="Reach, sampling and partition",
    idea="A few layers reach most of a graph: sample it, or cut it into parts.",
    place=115,
    minutes=6,
    words="neighbourhood sampling; GraphSAGE; Cluster-GCN; graph partitioning; k-hop neighbourhood; "
    "receptive field; mini-batch; computation graph; Kernighan-Lin; spectral clustering; edge cut; "
    "gradient variance; neighbour explosion; DiffPool; soft clusters; graph pooling; coarsening",
    references=(
        "Hamilton et al. 2017, arXiv:1706.02216 (GraphSAGE)",
        "Chiang et al. 2019, arXiv:1905.07953 (Cluster-GCN)",
        "Kernighan & Lin 1970; Karypis & Kumar 1998 (partition)",
        "Ying et al. 2018, arXiv:1806.08804 (DiffPool)",
        "[UDL] §13.7.1, figures 13.9-13.11",
    ),
    state=State,
    symbols={
        "R": "nodes that are needed", "s": "neighbours kept of each node", "k": "steps back",
        "A": "adjacency matrix",
        "S": "shares of the nodes in the parts, one-hot if sure", r"\mathrm{cut}": "edges between parts",
        "g": "gradient of the first layer", r"\top": "transposed",
        "L": "loss of the soft parts", "N": "number of nodes", r"\lambda": "weight of the entropy",
        "H": "mean entropy of the rows of S",
    },
    scenes={
        "Sampled tree": Scene(
            "Two layers need 18 of 23 nodes, left; with three neighbours of each about ten, right.",
            State(node=16, hop=2),
        ),
        "Three layers": Scene(
            "Three layers reach 21 of 23 nodes: the receptive field is nearly the whole graph.",
            State(node=16, hops=3),
        ),
        "One neighbour": Scene(
            "One neighbour of each node: a thin tree, another one with every draw.",
            State(node=16, hops=4, most=1),
        ),
        "Partition": Scene(
            "Four parts, few edges cut, dotted: each part is a batch, with the edges inside it alone.",
            State(view=PARTS, turn=1),
        ),
        "Spectral parts": Scene(
            "Spectral clustering finds the four parts of the figure: 7 edges are cut.",
            State(view=PARTS, method=SPECTRAL),
        ),
        "Pairs of parts": Scene(
            "Two parts make a batch, the edges between them restored: six pairs of four parts.",
            State(view=PARTS, method=SPECTRAL, batch=PAIRS, turn=3),
        ),
        "Random parts": Scene(
            "Random parts cut four times as many edges: hardly any message stays inside a batch.",
            State(view=PARTS, method=RANDOM),
        ),
        "DiffPool": Scene(
            "Half-way: nodes pass from mixed colours to one each, and SᵀAS, the pooled graph, to a diagonal.",
            State(view=SOFT, look=15),
        ),
        "Gradient noise": Scene(
            "The fewer neighbours are kept, the noisier the gradient: on this graph, and on Cora.",
            State(view=NOISE),
        ),
    },
)  # fmt: skip
