"""Why this answer: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Text, late

VIEWS = FIT, KEEP = "Fit the mask", "Keep the best"
WAYS = MASK, GRADIENT, RANDOM = "mask", "gradient", "random"
SIZES = 0.005, 0.1, 0.5
STEPS = range(0, 101, 2)  # of Adam that are shown
MOST = 24  # edges that are kept
MEAN, SUM, NODES, MOLECULES, KARATE = (
    "gin-mean-motifs", "gin-motifs", "gcn-houses", "gin-mutag", "gcn-karate",
)  # fmt: skip
OWN = "0-1 1-2 2-3 3-4 4-0 1-4 2-5 5-6 5-7 7-8 8-9 7-10 10-11"


def fits_now(state: Any) -> bool:
    return bool(state.view == FIT)


def keeps_now(state: Any) -> bool:
    return bool(state.view == KEEP)


def of_motifs(state: Any) -> bool:
    return bool(str(state.model).partition("/")[0] in (MEAN, SUM))


def given(state: Any) -> bool:
    return not (of_motifs(state) and state.drawn)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = FIT
    model: Annotated[str, Model("Model", family="graph", only=late("lens", "fits"), as_list=True)] = MEAN
    which: Annotated[int, Number("Test graph, or node", 0, late("lens", "last"), when=given)] = 3
    drawn: Annotated[
        str,
        Text("Your own graph", 400, reads=late("lens", "own"), area=False, when=of_motifs,
             examples={"House": OWN, "Ring": "0-1 1-2 2-3 3-4 4-0 2-5 5-6 6-7 6-8 8-9"},
             help="0-1 is an edge; empty takes the test graph."),
    ] = ""  # fmt: skip
    by: Annotated[str, Choice("Edges ranked by", WAYS, when=keeps_now)] = MASK
    size: Annotated[
        float, Choice("Size penalty α", SIZES, help="What a message with mask 1 costs, in nats.")
    ] = 0.5
    seed: Annotated[int, Number("Seed of first mask", 0, 99)] = 0
    step: Annotated[int | None, Frame("Step of Adam", STEPS, seconds=0.12, when=fits_now)] = None
    k: Annotated[int | None, Frame("Edges kept k =", range(MOST + 1), seconds=0.5, when=keeps_now)] = None


ROOM = Room(
    title="Why this answer",
    idea="A mask weighs the edges so that few remain and the network still gives its answer.",
    place=130,
    minutes=6,
    words="explanation; GNNExplainer; edge mask; feature mask; saliency; gradient; fidelity; sufficiency; "
    "attribution on graphs; motif; MUTAG; interpretability",
    references=(
        "Ying et al. 2019, arXiv:1903.03894 (GNNExplainer)",
        "Simonyan et al. 2014, arXiv:1312.6034 (gradients)",
    ),
    state=State,
    symbols={
        "M": "number behind the mask of an edge", r"\sigma": "logistic function", "e": "an edge",
        "p": "probability of the answer", "c": "the answer", r"\alpha": "size penalty", "H": "entropy",
        r"\mathcal{L}": "what the mask minimises", "k": "edges that are kept",
    },
    scenes={
        "House": Scene(
            "The answer is house: by step 40 the thickest edges are the house, the ringed nodes.",
            State(step=40),
        ),
        "Six edges": Scene(
            "The six best alone: as sure of a house, but so it is of no edges; without the six it says ring.",
            State(view=KEEP, k=6),
        ),
        "By gradient": Scene(
            "Ranked by gradient, the six best edges are not all of the house, and p is lower.",
            State(view=KEEP, by=GRADIENT, k=6),
        ),
        "Small penalty": Scene(
            "Where size costs next to nothing most edges stay thick: the mask says little.",
            State(size=0.005, step=100),
        ),
        "Missed motif": Scene(
            "Another house: the mask fades its edges, AUC .11; the gradient ranks all six first.",
            State(which=13, step=100),
        ),
        "Below chance": Scene(
            "A net that sums: p(house) stays .00 of the masked graph, and of the house alone; AUC .06.",
            State(model=SUM, step=100),
        ),
        "A node": Scene(
            "One node's place: five of its house's six edges stay thick, and two others; the rest fades.",
            State(model=NODES, which=294, step=100),
        ),
        "Karate club": Scene(
            "No planted truth: by six edges, by the others, and by none member 8 has the same community.",
            State(view=KEEP, model=KARATE, which=8, size=0.1, k=6),
        ),
        "Own graph": Scene(
            "A typed graph with a house: the mask is fitted to it as to any other.",
            State(drawn=OWN, step=100),
        ),
    },
)  # fmt: skip
