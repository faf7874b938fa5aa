"""Universality: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle

TARGETS = MEAN, FIRST, SORT, REVERSE = "mean", "first", "sort", "reverse"
NETWORKS = TOKENS, ATTENTION = "token-wise", "attention"
SCHEMES = NONE, LEARNED, SINUSOIDAL, ROTARY, RELATIVE, ALIBI = (
    "none", "learned", "sinusoidal", "rotary", "relative", "alibi",
)  # fmt: skip
RATES = (0.001, 0.005, 0.02)
WITHIN = {"rate": (RATES[0], RATES[-1])}  # what the knob of a course may be
MOST, STRIDE = 60, 5  # frames, and the steps of training between two


def adds(state: Any) -> tuple[str, ...]:
    """Schemes that a network has: only attention has scores."""
    return SCHEMES if state.network == ATTENTION else SCHEMES[:3]


@dataclass(frozen=True, kw_only=True)
class State:
    target: Annotated[str, Choice("Target", TARGETS, as_list=True)] = FIRST
    network: Annotated[str, Choice("Network", NETWORKS)] = ATTENTION
    positions: Annotated[str, Choice("Positions", adds, as_list=True)] = NONE
    layers: Annotated[int, Slider("Layers", 1, 3)] = 1
    length: Annotated[int, Slider("Tokens T", 2, 6)] = 4
    rate: Annotated[float, Choice("Rate", RATES, label_of="{:g}".format)] = 0.005
    seed: Annotated[int, Number("Seed", 0, 99)] = 0
    # what `ui.rewind` keeps in the link by itself
    course: Annotated[str, Text("Course", when=False)] = ""
    until: Annotated[int, Number("Until", 0, MOST, when=False)] = 0
    recorded: Annotated[bool, Toggle("Recorded", when=False)] = False
    step: Annotated[int | None, Frame("Step", seconds=0.07)] = None


ROOM = Room(
    title="Universality",
    idea="What a network does not see it cannot learn: other tokens need attention, order needs positions.",
    place=185,
    minutes=6,
    words="universal approximation; universality; permutation equivariance; position-free; token-wise; "
    "feed-forward; sort; mean; reverse; depth; lower bound; live training",
    references=(
        "Yun et al. 2019, Are transformers universal approximators of sequence-to-sequence functions?, "
        "arXiv:1912.10077",
        "Zaheer et al. 2017, Deep sets, arXiv:1703.06114; [LLM] part 4",
    ),
    state=State,
    symbols={
        r"\mathrm{MSE}": "mean squared error over positions and sequences", "T": "tokens", "x_i": "token i",
        "y_i": "target of token i", r"\hat y_i": "output of token i", "f": "floor of this kind of network",
    },
    scenes={
        "First, no positions": Scene(
            "Nothing says which token is the first: the error stops at its floor, 1 − 1/T = 0.75.",
            State(until=30),
        ),
        "First, positions": Scene(
            "With learned positions one layer of attention finds the first token: the error goes to 0.",
            State(positions=LEARNED, until=40),
        ),
        "Mean, token-wise": Scene(
            "Each token alone can say x/T of the mean: the error stops at (T − 1)/T² = 0.1875.",
            State(target=MEAN, network=TOKENS, until=30),
        ),
        "Mean, attention": Scene(
            "Equal weights are the mean: one layer of attention goes to 0, and needs no positions.",
            State(target=MEAN, until=30),
        ),
        "Token-wise, placed": Scene(
            "A token that knows its place still sees itself alone: only the first one is right, 0.75.",
            State(network=TOKENS, positions=LEARNED, until=30),
        ),
        "Sort, no positions": Scene(
            "Without positions all outputs say the mean of the set: sort stops at 1 − 1/T = 0.75.",
            State(target=SORT, until=30),
        ),
        "Sort, one layer": Scene(
            "With positions sort leaves the floor; one layer has still an error after 200 steps.",
            State(target=SORT, positions=LEARNED, until=40),
        ),
        "Sort, deeper": Scene(
            "Three layers: after as many steps the error of sort is smaller.",
            State(target=SORT, positions=LEARNED, layers=3, until=40),
        ),
        "Reverse": Scene(
            "Reversal needs places and a look at others: with both it goes to 0, not to 1 − 1/(T − 1).",
            State(target=REVERSE, positions=LEARNED, until=40),
        ),
    },
)  # fmt: skip
