"""Spectral view: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.known_graphs import FIGURE_13_11, PATH
from lab.room import Choice, Frame, Room, Scene, Slider, Text, late

VIEWS = EIGENVECTORS, FILTER = "Eigenvectors", "Filter"
LAPLACIANS = PLAIN, NORMALISED = "D − A", "normalised"
FILTERS = LOW, HEAT, BAND, KIPF, IDENTITY = "Low pass", "Heat", "Band", "Kipf", "Identity"
TERMS = range(1, 13)
IMPULSE = "0 0 0 0 0 1"
NOISE = "1 -1 2 0 1 -2 1 0 -1 2 -1 1 0 2 -2 1 -1 0 1 -1 2 -2 1"
SIGNALS = {"Impulse": IMPULSE, "Noise": NOISE}


def vectors(state: Any) -> bool:
    return bool(state.view == EIGENVECTORS)


def filters(state: Any) -> bool:
    return bool(state.view == FILTER)


def cuts(state: Any) -> bool:
    return filters(state) and state.kind in (LOW, BAND)


def warms(state: Any) -> bool:
    return filters(state) and state.kind == HEAT


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = EIGENVECTORS
    matrix: Annotated[str, Choice("Laplacian", LAPLACIANS, when=vectors)] = PLAIN
    kind: Annotated[str, Choice("Filter g", FILTERS, as_list=True, when=filters)] = LOW
    cut: Annotated[
        float, Slider("At frequency λ", 0.1, 1.9, step=0.1, when=cuts, help="Where it ends, or its middle.")
    ] = 0.5
    time: Annotated[float, Slider("Time t", 0.5, 10.0, step=0.5, when=warms)] = 2.0
    x: Annotated[
        str,
        Text("Signal x, node by node", 300, reads=late("lens", "signal"), examples=SIGNALS, area=False,
             when=filters, help="Nodes without a number have 0."),
    ] = NOISE  # fmt: skip
    a: Annotated[
        str,
        Text("Edges", 600, reads=late("lab.lenses.graphs", "typed"), area=False,
             examples=late("lab.lenses.graphs", "examples")),
    ] = FIGURE_13_11  # fmt: skip
    k: Annotated[int, Frame("Eigenvector k =", seconds=0.6, when=vectors)] = 1
    terms: Annotated[int, Frame("Terms K =", TERMS, seconds=0.8, when=filters)] = 4


ROOM = Room(
    title="Spectral view",
    idea="Eigenvectors of the Laplacian are a graph's frequencies; a polynomial filters them hop by hop.",
    place=110,
    minutes=6,
    words="spectral graph convolution; graph Laplacian; eigenvectors; graph Fourier transform; ChebNet; "
    "Chebyshev polynomials; heat kernel; low-pass filter; Kipf; graph signal processing",
    references=(
        "Bruna et al. 2014, arXiv:1312.6203; Defferrard et al. 2016, arXiv:1606.09375 (ChebNet)",
        "Kipf & Welling 2017, arXiv:1609.02907; [UDL] §13 notes",
    ),
    state=State,
    symbols={
        r"\lambda": "frequency, an eigenvalue of the Laplacian", "u": "eigenvector",
        "d": "neighbours of a node",
        r"\theta": "coefficient of a Chebyshev polynomial", "T_k": "Chebyshev polynomial k",
        r"\tilde{L}": "normalised Laplacian, from −1 to 1", "x": "signal on the nodes",
        "y": "filtered signal",
        "k": "number of the term or eigenvector", "K": "number of terms", "n": "a node that it is joined to",
        "E": "edges",
    },
    scenes={
        "Low frequency": Scene(
            "Eigenvector 1 is smooth: its sign changes along 4 of 41 edges, between parts of the graph.",
            State(k=1),
        ),
        "High frequency": Scene(
            "The last eigenvector changes sign along 29 of 41 edges, and its λ is the largest.",
            State(k=22),
        ),
        "Low pass": Scene(
            "A low pass keeps λ < 0.5: the noise becomes smooth; with 12 terms the curve still ripples.",
            State(view=FILTER, terms=12),
        ),
        "Hops": Scene(
            "Four terms carry the impulse at node 5 exactly three hops, to nodes 2 and 8.",
            State(view=FILTER, kind=HEAT, x=IMPULSE, a=PATH, terms=4),
        ),
        "Band": Scene(
            "A band around λ = 1 needs many terms: with four the curve is far from g.",
            State(view=FILTER, kind=BAND, cut=1.0, terms=4),
        ),
        "Kipf": Scene(
            "Kipf's filter 2 − λ is a line: two terms are exact, and reach one hop.",
            State(view=FILTER, kind=KIPF, x=IMPULSE, a=PATH, terms=2),
        ),
    },
)  # fmt: skip
