"""Labels spread: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_11
from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = DENSE, ACCURACY, LOSS = "Nodes", "Accuracy", "Loss"
GRAPHS = KARATE, COMMUNITIES, OWN = "Karate club", "Four communities", "My own graph"
STEPS = range(61)
MOST = 40  # words of labelled nodes


def is_own(state: Any) -> bool:
    return bool(state.graph == OWN)


def draws(state: Any) -> bool:
    return not state.labels.strip() and not is_own(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("Dense network", VIEWS, help="What stands beside the graph network.")] = DENSE
    graph: Annotated[str, Choice("Graph", GRAPHS, as_list=True)] = KARATE
    own: Annotated[
        str,
        Text("Edges", 600, reads=late("lab.lenses.graphs", "typed"), area=False, when=is_own,
             examples=late("lab.lenses.graphs", "examples")),
    ] = FIGURE_13_11  # fmt: skip
    labels: Annotated[
        str,
        Text("Labelled nodes", 300, reads=late("lens", "told"), area=False,
             help="0 33 tells the classes of nodes 0 and 33; 33:1 says class 1, true or not. A click on a "
             "node does, too. Empty: some of each class."),
    ] = ""  # fmt: skip
    each: Annotated[int, Slider("Labels per class", 1, 10, when=draws)] = 1
    layers: Annotated[int, Slider("Layers K", 1, 8)] = 2
    kept: Annotated[float, Slider("Share of edges kept", 0.0, 1.0, step=0.1)] = 1.0
    hide: Annotated[
        bool, Toggle("Hide test nodes in training", help="Inductive: they join when the weights are learned.")
    ] = False
    rate: Annotated[float, Slider("Learning rate", 0.005, 0.1, step=0.005)] = 0.03
    seed: Annotated[int, Number("Seed", 0, 99, help="Of weights, labels, test nodes and edges left out.")] = 0
    step: Annotated[int | None, Frame("Step", STEPS, seconds=0.15)] = None


ROOM = Room(
    title="Labels spread",
    idea="A few nodes have labels. A graph network carries them along the edges; a dense one cannot.",
    place=50,
    minutes=6,
    words="semi-supervised learning; node classification; transductive; inductive; label propagation; "
    "multilayer perceptron; few labels; karate club; stochastic block model; homophily; label noise",
    references=(
        "Kipf & Welling 2017, arXiv:1609.02907 (appendix A: the karate club)",
        "Hamilton et al. 2017, arXiv:1706.02216 (inductive)",
        "[UDL] §13.6-13.7",
    ),
    state=State,
    symbols={
        "L": "loss, nats per labelled node", "n": "a labelled node", "y": "class",
        "X": "features of all nodes", "A": "the graph", r"\Pr": "probability",
        r"\mathcal{B}": "the labelled nodes",
    },
    scenes={
        "Few labels": Scene(
            "Four labels, thick rings: colours run along the edges, and the far nodes are paler.",
            State(step=14),
        ),
        "Edges removed": Scene(
            "Without edges both networks are the same, and the nodes without a label stay at chance.",
            State(kept=0.0),
        ),
        "One layer": Scene(
            "One layer: a label reaches two edges far, and the nodes beyond stay pale.",
            State(graph=OWN, labels="1:0 22:1", layers=1),
        ),
        "Features alone": Scene(
            "Noisy features, four labels: the graph network averages the noise away, the dense one lags.",
            State(view=ACCURACY, graph=COMMUNITIES),
        ),
        "More labels": Scene(
            "With forty labels the dense network gains, and the graph network with four is still ahead.",
            State(view=ACCURACY, graph=COMMUNITIES, each=10),
        ),
        "Inductive": Scene(
            "Test nodes hidden in training: a little lower, and still far above the dense network.",
            State(view=ACCURACY, graph=COMMUNITIES, each=2, hide=True),
        ),
        "Wrong label": Scene(
            "Node 33 is told the wrong class, and its neighbours follow: their thin rings turn red.",
            State(labels="0 4 8 24 33:1"),
        ),
        "Deep": Scene(
            "Eight layers average almost everything, and both networks find little in sixty steps.",
            State(view=ACCURACY, layers=8),
        ),
        "Own graph": Scene(
            "Two labels at two ends, no truth: the colours meet where few edges lead across.",
            State(graph=OWN, labels="1:0 22:1"),
        ),
    },
)  # fmt: skip
