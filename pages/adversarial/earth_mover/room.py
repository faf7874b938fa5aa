"""Earth mover: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Frame, Room, Scene, Slider, Text, late

P, Q = "5 3 2 1 8 7 5 9 2 1", "4 10 1 1 4 6 3 2 0 1"
WAY = tuple(round(0.05 * i, 2) for i in range(21))  # share of its way that all earth has gone
WEIGHTS = late("lens", "weights")


@dataclass(frozen=True, kw_only=True)
class State:
    p: Annotated[str, Text("Heap p, one weight a bin", 200, reads=WEIGHTS)] = P
    q: Annotated[str, Text("Heap q", 200, reads=WEIGHTS)] = Q
    power: Annotated[float, Slider("Cost |i − j| to the power", 1.0, 3.0, step=0.5)] = 1.0
    bound: Annotated[float, Slider("Largest step of the dotted f", 0.5, 1.0, step=0.1)] = 1.0
    way: Annotated[float, Frame("Share of the way", WAY, seconds=0.12)] = 0.5


ROOM = Room(
    title="Earth mover",
    idea="What it costs to carry one heap to another is what the best prices earn.",
    place=80,
    minutes=5,
    words="optimal transport; Wasserstein; earth mover's distance; Kantorovich; dual; linear programming; "
    "Kantorovich-Rubinstein; transport plan",
    references=(
        "[UDL] §15.2.4, problem 15.3 (15.12–15.13 hold for the cost |i − j| alone, and with ≤ 1 for < 1)",
        "Villani 2009, Optimal transport: old and new",
    ),
    state=State,
    scenes={
        "Two heaps": Scene(
            "Play: the earth goes from p to q; discs near the diagonal are short ways.", State(way=0.0)
        ),
        "Far": Scene(
            "Nothing overlaps: earth goes two bins on average, and the cost is 2.",
            State(p="1 1 0 0", q="0 0 1 1"),
        ),
        "Mirror": Scene(
            "Half of the cost of Far: much of the earth lies right already.",
            State(p="1 2 3 4", q="4 3 2 1"),
        ),
        "Equal": Scene(
            "Equal heaps: the discs lie on the diagonal and nothing is paid.",
            State(p="1 2 3 2 1", q="1 2 3 2 1"),
        ),
        "Squared cost": Scene(
            "Squares: the prices still earn the cost; the dotted form with bounded steps does not.",
            State(power=2.0),
        ),
        "Steps below 1": Scene(
            "Steps of at most 0.9 earn 0.9 of the cost: the best lies on the bound.", State(bound=0.9)
        ),
    },
)
