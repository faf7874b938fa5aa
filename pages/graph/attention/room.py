"""Attention on graphs: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_4
from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Text, late

VIEWS = DRAWN, TRAINED = "One layer", "Trained network"
MODES = GCN, SELF, GAT, GATV2, DOT = (
    "GCN", "Self-attention", "GAT", "GATv2", "Dot product",
)  # fmt: skip
SENDERS = NEIGHBOURS, ALL = "neighbours", "all nodes"
WRITTEN = WEIGHTS, RANKS = "weights", "ranks"


def drawn(state: Any) -> bool:
    return bool(state.view == DRAWN)


def trained(state: Any) -> bool:
    return bool(state.view == TRAINED)


def free(state: Any) -> bool:
    return drawn(state) and state.mode in (GAT, GATV2)


def several(state: Any) -> bool:
    return trained(state) or state.mode != GCN


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = DRAWN
    mode: Annotated[str, Choice("Weights by", MODES, as_list=True, when=drawn)] = GAT
    over: Annotated[str, Choice("Softmax over", SENDERS, when=free)] = NEIGHBOURS
    slope: Annotated[
        float, Slider("Slope below 0", 0.0, 0.9, step=0.1, when=free, help="Of the LeakyReLU; 0 is a ReLU.")
    ] = 0.2
    model: Annotated[
        str, Model("Model", family="graph", only=late("lens", "fits"), as_list=True, when=trained)
    ] = "gat-karate"
    layer: Annotated[str, Choice("Layer", late("lens", "layers"), when=trained)] = "1"
    edits: Annotated[
        str,
        Text("Edits", 200, help="+0-9 joins nodes 0 and 9, -0-1 cuts the edge between 0 and 1.",
             when=trained),
    ] = ""  # fmt: skip
    head: Annotated[int, Slider("Head", 0, late("lens", "last_head"), when=several)] = 0
    written: Annotated[str, Choice("In the cells", WRITTEN, when=drawn)] = WEIGHTS
    seed: Annotated[int, Number("Seed of features and weights", 0, 99, when=drawn)] = 1
    a: Annotated[
        str,
        Text("Edges", 600, reads=late("lab.lenses.graphs", "typed"), area=False, when=drawn,
             examples=late("lab.lenses.graphs", "examples")),
    ] = FIGURE_13_4  # fmt: skip
    node: Annotated[int, Frame("Receiver n =", seconds=1.0)] = 4


ROOM = Room(
    title="Attention on graphs",
    idea="Who is heard is said by the edges, how much by the features: a softmax over the neighbours.",
    place=60,
    minutes=6,
    words="GAT; graph attention network; GATv2; static attention; dynamic attention; dot product; "
    "self-attention; multi-head; LeakyReLU; edge weights; dead attention",
    references=(
        "Veličković et al. 2018, arXiv:1710.10903; Brody et al. 2022, arXiv:2105.14491 (GATv2)",
        "[UDL] §13.8.6, figure 13.12, problem 13.10 (one vector φ: its halves score sender and receiver)",
    ),
    lenses=("attention",),
    machine="message passing",
    state=State,
    symbols={
        r"\alpha": "weight of a sender at the receiver", "s": "score of a sender at the receiver",
        "n": "the receiver", "a": "LeakyReLU", r"\phi": "vector that scores", r"\phi_s": "scores a sender",
        r"\phi_r": "scores a receiver", r"\Psi": "second weight matrix of GATv2", "q": "query of a receiver",
        "k": "key of a sender", "D'": "numbers of a head", "d": "neighbours of a node",
        "h'": "Ωh + β, what a node sends",
    },
    scenes={
        "Graph attention": Scene(
            "Node 4 hears five neighbours and itself: the widths of the edges are column 4, which sums to 1.",
            State(),
        ),
        "GCN": Scene(
            "A GCN weighs edges by degrees alone: another seed of the features changes no weight.",
            State(mode=GCN),
        ),
        "Self-attention": Scene(
            "Dot products over all nodes ignore the edges: this is the self-attention of a transformer.",
            State(mode=SELF),
        ),
        "Dead scores": Scene(
            "With a ReLU all scores of column 4 are 0: its six weights are 1/6, and no gradient flows.",
            State(slope=0.0),
        ),
        "Static ranking": Scene(
            "GAT over all nodes: every column ranks the senders alike, each row holds one number.",
            State(over=ALL, written=RANKS),
        ),
        "Dynamic ranking": Scene(
            "GATv2 on the same features: ranks in a row differ, 24 of 28 pairs of columns disagree.",
            State(mode=GATV2, over=ALL, written=RANKS),
        ),
        "Trained": Scene(
            "Trained on the karate club, node 8 gives .32 to node 30 of its community, .06 to node 0.",
            State(view=TRAINED, node=8),
        ),
    },
)  # fmt: skip
