"""Earth mover: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Frame, Room, Scene, Slider, Text, late

P, Q = "5 3 2 1 8 7 5 9 2 1", "4 10 1 1 4 6 3 2 0 1"
WAY = tuple(round(0.05 * i, 2) for i in range(21))  # share of its way that all earth has gone
WEIGHTS = late("lens", "weights")


@dataclass(frozen=True, kw_only=True)
class State:
    p: Annotated[str, Text("Histogram p, one weight per bin", 200, reads=WEIGHTS)] = P
    q: Annotated[str, Text("Histogram q", 200, reads=WEIGHTS)] = Q
    power: Annotated[float, Slider("Cost |i − j| to the power", 1.0, 3.0, step=0.5)] = 1.0
    bound: Annotated[float, Slider("Lipschitz constant of f", 0.5, 1.0, step=0.1)] = 1.0
    way: Annotated[float, Frame("Transported", WAY, seconds=0.12)] = 0.5


ROOM = Room(
    title="Earth mover's distance",
    idea="The optimal transport plan costs as much as the optimal dual prices earn.",
    place=50,
    minutes=5,
    words="optimal transport; Wasserstein; earth mover's distance; Kantorovich; dual; linear programming; "
    "Kantorovich-Rubinstein; transport plan",
    references=(
        "[UDL] §15.2.4, problem 15.3 (15.12–15.13 hold for the cost |i − j| alone, and with ≤ 1 for < 1)",
        "Villani 2009, Optimal transport: old and new",
    ),
    symbols={
        "P": "transport plan: mass moved from i to j",
        "p": "mass that is there",
        "q": "mass that is wanted",
        "i": "a place",
        "j": "a place",
        "f": "price of mass at its origin",
        "h": "price of mass where it arrives",
    },
    state=State,
    scenes={
        "Optimal transport": Scene(
            "Half-way from p to q below: violet mass moves and costs its distance, grey mass stays.",
            State(),
        ),
        "Disjoint histograms": Scene(
            "Nothing overlaps: mass moves two bins on average, so W₁ is 2.",
            State(p="1 1 0 0", q="0 0 1 1"),
        ),
        "Partial overlap": Scene(
            "Mass in grey bands stays in its bin: W₁ is 1, half that of the disjoint histograms.",
            State(p="1 2 3 4", q="4 3 2 1"),
        ),
        "Equal histograms": Scene(
            "Equal histograms: every band is grey, and the cost is 0.",
            State(p="1 2 3 2 1", q="1 2 3 2 1"),
        ),
        "Squared cost": Scene(
            "Squared distances: the dual prices still earn the cost; the dotted Lipschitz f does not.",
            State(power=2.0),
        ),
        "Lipschitz constant 0.9": Scene(
            "An f with steps of at most 0.9 earns 0.9 of the cost: the optimum lies on the bound.",
            State(bound=0.9),
        ),
    },
    was={
        "Two heaps": "Optimal transport",
        "Far": "Disjoint histograms",
        "Mirror": "Partial overlap",
        "Equal": "Equal histograms",
        "Steps below 1": "Lipschitz constant 0.9",
    },
)
