"""Missing links: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_11
from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, late

GRAPHS = COMMUNITIES, KARATE, OWN = "Four communities", "Karate club", "My own graph"
VIEWS = RANKING, MATRIX = "Ranking", "All pairs"


def is_own(state: Any) -> bool:
    return bool(state.graph == OWN)


def ranked(state: Any) -> bool:
    return bool(state.view == RANKING)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = RANKING
    graph: Annotated[str, Choice("Graph", GRAPHS, as_list=True)] = COMMUNITIES
    own: Annotated[
        str,
        Text("Edges", 600, reads=late("lab.lenses.graphs", "typed"), area=False, when=is_own,
             examples=late("lab.lenses.graphs", "examples")),
    ] = FIGURE_13_11  # fmt: skip
    hide: Annotated[float, Slider("Share of edges hidden", 0.05, 0.5, step=0.05)] = 0.1
    dim: Annotated[int, Slider("Dimensions", 1, 16, help="Of the embedding z of a node.")] = 8
    negatives: Annotated[
        int, Slider("Non-edges per edge", 1, 5, help="Pairs that are none, drawn anew in each step.")
    ] = 1
    seed: Annotated[int, Number("Seed", 0, 99)] = 0
    pair: Annotated[int | None, Frame("Pairs called linked", seconds=0.3, when=ranked)] = None


ROOM = Room(
    title="Missing links",
    idea="Nodes get embeddings from the edges that are left; a large product says that an edge is missing.",
    place=100,
    minutes=6,
    words="link prediction; graph auto-encoder; GAE; ROC curve; AUC; negative sampling; "
    "area under the curve; inner product decoder; hidden edges; embeddings of nodes; low rank",
    references=(
        "Kipf & Welling 2016, arXiv:1611.07308 (graph auto-encoders)",
        "[UDL] §13.3.1 (edge prediction)",
    ),
    state=State,
    symbols={
        r"\Pr": "probability", "y": "1 if the two nodes are joined", "z": "embedding of a node",
        "m": "one node", "n": "the other", r"\operatorname{sig}": "logistic function",
    },
    scenes={
        "Ranking": Scene(
            "Hidden edges come first: the curve rises steeply before it goes to the right.",
            State(pair=30),
        ),
        "One dimension": Scene(
            "With one number for a node two groups can be told apart, not four: the area shrinks.",
            State(dim=1, pair=30),
        ),
        "Four blocks": Scene(
            "Probabilities of all pairs, by community: four blocks on the diagonal, as in the edges beside.",
            State(view=MATRIX),
        ),
        "Rank one": Scene(
            "One dimension: the products have rank 1, signs of z make two blocks where there are four.",
            State(view=MATRIX, dim=1),
        ),
        "Half hidden": Scene(
            "Half of the edges are gone, and the other half still ranks most of them above other pairs.",
            State(hide=0.5, pair=120),
        ),
        "Own graph": Scene(
            "Four dense parts and seven edges between: pairs within a part rank first.",
            State(graph=OWN, hide=0.3, pair=8),
        ),
    },
)  # fmt: skip
