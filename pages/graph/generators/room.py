"""A graph grows node by node: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Text, late

VIEWS = GROWTH, GALLERY, MEASURES, EMBEDDINGS = "Growth", "Gallery", "Measures", "VGAE"
SOURCES = MEANS, PRIOR = "this graph", "the prior"
STARTS = {"Nothing": "", "Square": "0-1 0-2 1-3 2-3", "Triangle": "0-1 0-2 1-2", "Star": "0-1 0-2 0-3 0-4"}


def grows(state: Any) -> bool:
    return bool(state.view == GROWTH)


def made(state: Any) -> bool:
    return bool(state.view != EMBEDDINGS)


def embedded(state: Any) -> bool:
    return bool(state.view == EMBEDDINGS)


def seeded(state: Any) -> bool:
    return made(state) or bool(state.origin == PRIOR)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = GROWTH
    model: Annotated[
        str, Model("Model", family="graph", only=late("lens", "fits"), as_list=True, when=made)
    ] = "graphrnn-grids"
    vgae: Annotated[
        str, Model("Model", family="graph", only=late("lens", "has_prior"), as_list=True, when=embedded)
    ] = "vgae-communities"
    origin: Annotated[str, Choice("Embeddings of", SOURCES, when=embedded)] = MEANS
    start: Annotated[
        str,
        Text("Edges to begin with", 300, reads=late("lens", "beginning"), area=False, when=grows,
             examples=STARTS, help="The model goes on from this graph; nodes take other numbers."),
    ] = ""  # fmt: skip
    temperature: Annotated[
        float, Slider("Temperature", 0.2, 2.0, step=0.1, when=made, help="Logits are divided by it.")
    ] = 1.0
    seed: Annotated[int, Number("Seed", 0, 99, when=seeded)] = 0
    node: Annotated[int | None, Frame("Node", seconds=0.8, when=grows)] = None


ROOM = Room(
    title="A graph grows node by node",
    idea="A recurrent network says of each new node to which earlier ones it is joined.",
    place=120,
    minutes=6,
    words="graph generation; GraphRNN; VGAE; variational graph auto-encoder; autoregressive; breadth-first "
    "search; Erdős–Rényi; maximum mean discrepancy; MMD; orbits; clustering coefficient; validity",
    references=(
        "You et al. 2018, arXiv:1802.08773 (GraphRNN)",
        "Kipf & Welling 2016, arXiv:1611.07308 (VGAE)",
    ),
    state=State,
    symbols={
        "s": "row of a node: 1 for each earlier node that it is joined to", "p": "probability",
        r"\Sigma": "sum over the rows so far", r"\Pr": "probability", "A": "adjacency matrix",
        "z": "embedding of a node", "m": "one node", "n": "the other", "b": "how sparse the graph is",
        r"\operatorname{sig}": "logistic function", r"\text{MMD}": "maximum mean discrepancy",
        "k": "Gaussian kernel of a distance", "x": "graphs of one set", "y": "graphs of the other",
        "E": "mean over pairs", "i": "number of a row",
    },
    scenes={
        "Growth": Scene(
            "Row 8 of A holds probabilities, the drawn edges are lit: node 8 closes a square of the grid.",
            State(node=8, seed=1),
        ),
        "Tree": Scene(
            "Each row has a single 1: entries are drawn in turn, and after the first 1 none is likely.",
            State(model="graphrnn-trees", node=8),
        ),
        "Independent entries": Scene(
            "Entries are independent: a node gets two parents, or none and the graph ends. Red: no trees.",
            State(model="graphrnn-s-trees", view=GALLERY),
        ),
        "Gallery": Scene(
            "Samples stand below graphs of training: most are grids, green; red ones lack or add a corner.",
            State(view=GALLERY),
        ),
        "Measures": Scene(
            "Bars of the model are far below those of Erdős–Rényi, and near those of two halves of training.",
            State(view=MEASURES),
        ),
        "Continue a square": Scene(
            "The square is given; the model goes on from it to a whole grid.",
            State(start=STARTS["Square"], node=6),
        ),
        "Prior": Scene(
            "Embeddings drawn from the prior make a new graph, about as sparse: one band for four blocks.",
            State(view=EMBEDDINGS, origin=PRIOR),
        ),
    },
)  # fmt: skip
