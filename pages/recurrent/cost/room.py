"""Sequential cost: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Room, Scene, Slider

VIEWS = GRAPH, CLOCK = "Dependencies", "Clock"
MODES = READING, GENERATING = "reading", "generating"
COUNTS = PRODUCTS, KEPT = "multiplications", "kept state"
ANY = 99  # as many nodes at once as are ready


def graph(state: Any) -> bool:
    return bool(state.view == GRAPH)


def clock(state: Any) -> bool:
    return bool(state.view == CLOCK)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = GRAPH
    length: Annotated[int, Slider("Length T", 2, 12, when=graph)] = 8
    layers: Annotated[int, Slider("Layers L", 1, 3, when=graph)] = 1
    mode: Annotated[str, Choice("The sequence", MODES, when=graph)] = READING
    cores: Annotated[
        int,
        Choice("States at once, at most", (1, 2, 4, ANY), when=graph,
               label_of=lambda n: "all" if n == ANY else str(n)),
    ] = ANY  # fmt: skip
    width: Annotated[int, Choice("Width H", (16, 64, 256), when=clock)] = 64
    count: Annotated[str, Choice("Beside it", COUNTS, when=clock)] = PRODUCTS
    step: Annotated[int | None, Frame("Step", seconds=0.8, when=graph)] = None


ROOM = Room(
    title="Sequential cost",
    idea="A state waits for the state before it, however many cores there are; attention does not wait.",
    place=60,
    minutes=6,
    words="parallel; sequential; dependency graph; critical path; time complexity; quadratic; KV cache",
    references=(
        "Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762, table 1",
        "[GM] §1.6.2, 1.6.4 (lays the waiting to additive scores: a recurrent decoder waits with any score)",
    ),
    state=State,
    symbols={
        "T": "length of the sequence", "H": "width of a state", "L": "layers",
        r"\mathrm{recurrent}": "the recurrent network", r"\mathrm{attention}": "causal self-attention",
    },
    scenes={
        "Step by step": Scene(
            "State 4 is ready after step 4: it waits for state 3. Attention was done after the first step.",
            State(step=4),
        ),
        "Two layers": Scene(
            "The second recurrent layer starts a step later and goes along: T + 1 steps, with attention two.",
            State(layers=2, step=4),
        ),
        "More cores": Scene(
            "With 2 states at once attention takes half of T; the recurrent network cannot use the second.",
            State(cores=2, step=3),
        ),
        "One core": Scene(
            "With one state at a time both take T steps: nothing is gained without parallel cores.",
            State(cores=1, step=5),
        ),
        "Generating": Scene(
            "When each word is chosen after the one before, attention waits as well: T steps for both.",
            State(mode=GENERATING, step=4),
        ),
        "Clock": Scene(
            "A kept measurement: at each T the GRU's chain takes longer than attention, even on one thread.",
            State(view=CLOCK),
        ),
        "Narrow": Scene(
            "Multiplications at H = 16: attention's T² soon outgrows the T of recurrent networks.",
            State(view=CLOCK, width=16),
        ),
        "Wide": Scene(
            "At H = 256 attention takes fewer multiplications than an LSTM up to T near 1,000.",
            State(view=CLOCK, width=256),
        ),
        "Kept state": Scene(
            "To generate on, a recurrent network keeps one state; attention all keys and values so far.",
            State(view=CLOCK, count=KEPT),
        ),
    },
)  # fmt: skip
