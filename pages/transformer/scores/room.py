"""Score functions, scale and saturation: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Number, Room, Scene, Text, Toggle, late

VIEWS = SCORES, SCALE, LEARNED = "Scores", "Scale", "Learned"
WIDTHS = (1, 4, 16, 64, 256, 1024)
LENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MEASURES = LARGEST, ENTROPY, JACOBIAN, SPREAD = (
    "Largest weight", "Entropy", "Jacobian norm", "Variance of q·k",
)  # fmt: skip
HEADS = tuple(f"{layer}.{head}" for layer in (1, 2) for head in (1, 2, 3, 4))
CAT = "I have a big cat but a small house."
EXAMPLES = {
    "Cat": CAT,
    "Flower": "We buy a old red flower.",
    "Two clauses": "They sell my white table and we see a small blue cat.",
}


def of(*views: str) -> Any:
    return lambda now: now.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = SCORES
    s: Annotated[str, Text("Query s", 60, reads=late("lens", "vector"), when=of(SCORES))] = "1 0"
    h: Annotated[
        str,
        Text("Keys h, a row each", 120, reads=late("lens", "keys"), when=of(SCORES),
             help="Rows between semicolons."),
    ] = "0 1; 1 1; -1 0"  # fmt: skip
    v: Annotated[
        str,
        Text("v of the additive score", 60, reads=late("lens", "vector"), when=of(SCORES),
             help="W₁ and W₂ are the identity."),
    ] = "1 -1"  # fmt: skip
    scaled: Annotated[bool, Toggle("Scale by 1/√d_k", when=of(SCALE))] = False
    measure: Annotated[str, Choice("Measure", MEASURES, as_list=True, when=of(SCALE))] = LARGEST
    seed: Annotated[int, Number("Seed", 0, 99, when=of(SCALE))] = 0
    text: Annotated[
        str, Text("Sentence", 300, examples=EXAMPLES, area=False, when=of(LEARNED),
                  help="Of the English words of the grammar.")
    ] = CAT  # fmt: skip
    head: Annotated[str, Choice("Layer.head of the Transformer", HEADS, as_list=True, when=of(LEARNED))] = (
        "2.1"
    )
    recurrent: Fixed = "attention-spanish"
    former: Fixed = "translator-spanish"
    length: Annotated[float, Frame("Vectors times", LENGTHS, seconds=0.8, when=of(SCORES))] = 1.0
    width: Annotated[int, Frame("d_k =", WIDTHS, seconds=0.8, when=of(SCALE))] = 64
    word: Annotated[int | None, Frame("Word", seconds=0.4, when=of(LEARNED))] = None


ROOM = Room(
    title="Score functions, scale and saturation",
    idea="The scale of a score decides how sharp the softmax is.",
    place=12,
    minutes=10,
    words="additive attention; dot-product attention; scaled dot-product attention; Bahdanau; Luong; "
    "alignment score; variance; saturation; softmax Jacobian; vanishing gradient; entropy; temperature",
    references=(
        "Bahdanau, Cho & Bengio 2015, arXiv:1409.0473 (additive); Luong, Pham & Manning 2015, "
        "arXiv:1508.04025 (dot)",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1 and footnote 4 (scale)",
        "[GM] §1.6.3, §1.6.4 (says that dot products grow proportionally to d: their variance does, their "
        "standard deviation as √d); [UDL] 12.3.2; [BB] 2.2 (no scale)",
    ),
    state=State,
    symbols={
        "s": "query", "h": "key", "h_j": "key j", "v": "weights of the additive score", "e": "score",
        "e_j": "score of key j", r"\alpha_j": "attention weight of key j",
        "d": "entries of a query and a key",
        "d_k": "entries of a query and a key", "q": "query with independent entries of variance 1",
        "k": "key with such entries", "a": "attention weights", "j": "number of a key",
        r"\gamma": "attention weights", "F": "Frobenius norm", "T": "target words", "S": "source words",
        r"\mathrm{diag}": "diagonal matrix", r"\mathrm{additive}": "score of a small network",
        r"\mathrm{scaled}": "dot product over √d", r"\mathrm{dot}": "dot product",
    },
    scenes={
        "Three scores": Scene(
            "Same query, same keys: all three prefer key 2, the raw dot product most, the additive least.",
            State(),
        ),
        "Longer vectors": Scene(
            "Vectors 8 times as long: dot and scaled saturate, the additive score is bounded by tanh.",
            State(length=8.0),
        ),
        "Unscaled": Scene(
            "At d_k = 64 q·k spreads by 8: the largest of 16 weights is about .85 on average.",
            State(view=SCALE),
        ),
        "Scaled": Scene(
            "Divided by √d_k the spread is 1 at every d_k, and the largest weight stays near .25.",
            State(view=SCALE, scaled=True),
        ),
        "Entropy": Scene(
            "Unscaled, the entropy falls to about .1 nats at d_k = 1024; scaled, it stays near 2.36.",
            State(view=SCALE, measure=ENTROPY, width=1024),
        ),
        "Jacobian": Scene(
            "Saturated, the Jacobian of the softmax shrinks to about .05: little gradient reaches q and k.",
            State(view=SCALE, measure=JACOBIAN, width=1024),
        ),
        "Variance": Scene(
            "The variance of q·k is d_k; its standard deviation grows as the square root.",
            State(view=SCALE, measure=SPREAD, width=256),
        ),
        "Learned": Scene(
            "Additive score of a GRU, scaled score of a Transformer: trained apart, they align alike.",
            State(view=LEARNED),
        ),
    },
)  # fmt: skip
