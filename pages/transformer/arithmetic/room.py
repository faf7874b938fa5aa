"""Attention arithmetic: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Room, Scene, Slider, Text, Toggle, late

VIEWS = HEAD, BLOCK = "One head", "Block"
MASKS = CAUSAL, FULL, PADDING = "causal", "none", "last is padding"
NORMS = PRE, POST, NONE = "pre", "post", "none"
READS = late("lens", "matrix")
LAST = "The last one, where a matrix has fewer."
ROWS = "A row for each token, rows between semicolons."
COLUMNS = "A row for each column of X; its columns are those of one head after another."
# The block that [GM] §1.6.4 works by hand; the columns of two heads beside each other.
X = "1 0 1 0; 0 1 1 0; 1 1 0 1"
W_Q = "1 0 0 1; 0 1 1 0; 1 0 1 1; 0 1 0 1"
W_K = "1 1 1 0; 0 1 1 1; 1 0 0 1; 0 1 1 0"
W_V = "1 0 1 1; 1 0 0 1; 0 1 1 0; 0 1 0 1"
K_AS_USED = "1 0 1 0; 0 1 1 1; 1 1 0 1; 0 1 1 0"  # with which the printed K of head 1 was computed


def comparable(now: Any) -> bool:
    """Whether the text prints numbers for this: its tokens, two heads, its mask and its norm."""
    return bool(now.inputs == X and now.heads == 2 and now.mask == CAUSAL and now.norm == PRE)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = HEAD
    inputs: Annotated[str, Text("X", 80, reads=READS, row="x", help=ROWS)] = X
    W_Q: Annotated[str, Text("W_Q", 80, reads=READS, row="x", help=COLUMNS)] = W_Q
    W_K: Annotated[str, Text("W_K", 80, reads=READS, row="w", help=COLUMNS)] = W_K
    W_V: Annotated[str, Text("W_V", 80, reads=READS, row="w", help=COLUMNS)] = W_V
    heads: Annotated[int, Choice("Heads", (1, 2), row="heads")] = 2
    head: Annotated[
        int, Choice("Head", (1, 2), row="heads", when=lambda now: now.heads == 2 and now.view == HEAD)
    ] = 1
    mask: Annotated[str, Choice("Mask", MASKS, as_list=True, row="mask")] = CAUSAL
    norm: Annotated[str, Choice("Norm", NORMS, as_list=True, row="mask")] = PRE
    token: Annotated[int, Slider("Token", 1, 4, row="cell", help=LAST)] = 3
    entry: Annotated[int, Slider("Entry", 1, 4, row="cell", help=LAST)] = 1
    scaled: Annotated[bool, Toggle("Scale by 1/√d_k")] = True
    columns: Annotated[bool, Toggle("Tokens as columns", help="As [UDL] writes them: all transposed.")] = (
        False
    )
    printed: Annotated[
        bool,
        Toggle("As the text prints it", when=comparable,
               help="Numbers of [GM]; a dot marks each that differs, a ring where only its last digit does."),
    ] = False  # fmt: skip
    step: Annotated[int | None, Frame("Step:", seconds=1.2)] = None


ROOM = Room(
    title="Attention arithmetic",
    idea="Attention is products of matrices and one softmax: each number is a sum to be read.",
    place=8,
    minutes=10,
    words="matrix multiplication; query; key; value; scores; softmax; causal mask; padding mask; "
    "multi-head attention; scaled dot-product attention; layer norm; residual stream; pre-norm; post-norm; "
    "worked example; by hand",
    references=(
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2",
        "[GM] §1.6.4 (works this block by hand; K, scores, weights and the second norm are printed otherwise "
        "than its own matrices give them, and qᵀk stands for row vectors)",
        "[UDL] §12.2, §12.3 (tokens as columns); [BB] 2.2 (without 1/√d)",
    ),
    state=State,
    symbols={
        "x": "entry of the residual stream", r"\tilde{x}": "entry of it after layer norm", "q": "query",
        "k": "key", "v": "value", "s": "score", "m": "mask: 0 where a query may look, else −∞",
        "a": "attention weight", "c": "entry of what a head gives", "w": "weight of a projection",
        "d": "entry of what attention adds", "y": "entry of the stream after attention",
        r"\tilde{y}": "entry of it after layer norm", "f": "entry of what the feed-forward layer adds",
        "z": "entry of the block's output", "u": "sum before layer norm", r"\mathrm{ReLU}": "max(0, ·)",
        r"d_k": "entries of a query and of a key",
    },
    scenes={
        "Weights": Scene(
            "Row 3 of A: token 3 takes .95 of itself. Exponentials of a row of scores, divided by their sum.",
            State(step=6, entry=3),
        ),
        "Query": Scene(
            "One entry of Q: row 3 of LN(X) times column 1 of W_Q, both framed.",
            State(step=1),
        ),
        "Score": Scene(
            "One score: the query of token 3 times the key of token 2, divided by √2.",
            State(step=4, entry=2),
        ),
        "Mask off": Scene(
            "Without the mask token 1 looks ahead: .06 of its row goes to token 2; each row still sums to 1.",
            State(mask=FULL, step=5, token=1, entry=2),
        ),
        "Output": Scene(
            "Row 3 of A times column 1 of V: the weights mix the values, token by token.",
            State(step=7),
        ),
        "Columns": Scene(
            "With tokens as columns each column of A sums to 1, and V stands before A: the same numbers.",
            State(columns=True, step=6, entry=3),
        ),
        "As printed": Scene(
            "The text prints .61 for token 2, its own matrices give .01 unscaled: dots mark what differs.",
            State(scaled=False, printed=True, step=6, entry=2),
        ),
        "With another key": Scene(
            "With W_K = [1 0; 0 1; 1 1; 0 1] head 1 gives what is printed: the dots are gone.",
            State(W_K=K_AS_USED, scaled=False, printed=True, step=6, entry=2),
        ),
        "Block": Scene(
            "Both heads joined in D, added to X, normed, and F added: the stream through the whole block.",
            State(view=BLOCK, step=6, entry=4),
        ),
    },
)  # fmt: skip
