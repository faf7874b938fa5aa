"""Shuffle test: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = SELF, KEYS = "Self-attention", "Keys and values"
SCHEMES = NONE, SINUSOIDAL, LEARNED, ROTARY, RELATIVE, ALIBI = (
    "none", "sinusoidal", "learned", "rotary", "relative", "alibi",
)  # fmt: skip
ORDER = "5 3 1 6 2 4"


def of_self(state: Any) -> bool:
    return state.view == SELF


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = SELF
    text: Annotated[str, Text("Tokens", 120, reads=late("lens", "read_words"), help="3 to 10 words.")] = (
        "the dog bites the old man"
    )
    order: Annotated[
        str,
        Text("New order", 60, reads=late("lens", "read_order"),
             help="Where each row of the new sequence comes from: 2 1 3 swaps the first two."),
    ] = ORDER  # fmt: skip
    scheme: Annotated[str, Choice("Positions", SCHEMES, as_list=True, when=of_self)] = NONE
    causal: Annotated[bool, Toggle("Causal mask", when=of_self)] = False
    layers: Annotated[int, Slider("Layers", 1, 4, when=of_self)] = 2
    seed: Annotated[int, Number("Seed of the weights", 0, 99)] = 0
    swaps: Annotated[int | None, Frame("Swaps", seconds=0.6)] = None


ROOM = Room(
    title="Shuffle test",
    idea="Without positions or a causal mask, attention knows no order: outputs move with their tokens.",
    place=35,
    minutes=6,
    words="permutation equivariance; permutation invariance; positional encoding; bag of words; set; order; "
    "self-attention; cross-attention; causal mask",
    references=(
        "Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762",
        "Lee et al. 2019, Set Transformer, arXiv:1810.00825",
        "[UDL] problem 12.3; [BB] 3; [GM] §1.6.4 (which says invariant where it is equivariant)",
    ),
    state=State,
    symbols={
        "X": "tokens, one in a row", "P": "permutation of rows", "f": "stack of blocks",
        "K": "keys", "V": "values", "Q": "queries",
    },
    scenes={
        "No positions": Scene(
            "Rows on the left move with their words; on the right nothing: f(PX) = Pf(X), equivariance.",
            State(swaps=4),
        ),
        "Equal words": Scene(
            "Both “the” have the same row in every order: for attention alone a text is a bag of words.",
            State(swaps=0),
        ),
        "Causal mask": Scene(
            "The mask knows an order: each token sees those before it, and the shuffle changes the rows.",
            State(causal=True),
        ),
        "Sinusoidal": Scene(
            "A code is added to each place: moved words get other codes, and all rows change.",
            State(scheme=SINUSOIDAL),
        ),
        "Learned": Scene(
            "Learned vectors in place of waves: the rows change as well.", State(scheme=LEARNED)
        ),
        "Rotary": Scene(
            "Queries and keys are rotated by their places: scores change, and with them all rows.",
            State(scheme=ROTARY),
        ),
        "Relative bias": Scene(
            "A number for each offset j − i: swapped neighbours stand at other offsets, and rows change.",
            State(scheme=RELATIVE),
        ),
        "ALiBi": Scene(
            "Far keys lose weight: a shuffle brings other words near.", State(scheme=ALIBI)
        ),
        "Keys and values": Scene(
            "Columns move on the left, outputs do not on the right: invariance to the order of keys.",
            State(view=KEYS, swaps=4),
        ),
    },
)  # fmt: skip
