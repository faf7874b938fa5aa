"""Positions and schemes: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Room, Scene, Slider, Text, late

VIEWS = CODE, COUNTER, ROTATION, ROTARY, ALIBI, RELATIVE, LENGTH = (
    "Sinusoidal code", "Binary counter", "Rotation of a pair", "Rotary", "ALiBi", "Relative bias",
    "Loss against length",
)  # fmt: skip
LAYOUTS = ADJACENT, HALF = "Adjacent pairs", "Half split"
N = 64  # positions of the sinusoidal code
QUERIES = 16  # positions of a text with rotary ones
LENGTHS = tuple(range(16, 513, 16))


def of(*views: str) -> Any:
    return lambda now: now.view in views


def last_pair(d: int) -> int:
    return d // 2 - 1


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = CODE
    d: Annotated[int, Slider("Features d", 4, 128, step=2, when=of(CODE, COUNTER, ROTATION))] = 64
    base: Annotated[
        int, Choice("Base", (10, 100, 1_000, 10_000, 100_000), when=of(CODE, COUNTER, ROTATION, ROTARY))
    ] = 10_000
    start: Annotated[int, Slider("Position pos", 0, 32, when=of(CODE))] = 0
    pair: Annotated[int, Slider("Pair i", 0, late("room", "last_pair"), when=of(ROTATION))] = 6
    shift: Annotated[int, Slider("Offset k", 1, 16, when=of(ROTATION))] = 4
    layout: Annotated[str, Choice("Pairs", LAYOUTS, as_list=True, when=of(ROTARY))] = ADJACENT
    q: Annotated[str, Text("Query q", 80, reads=late("schemes", "read_vector"), when=of(ROTARY))] = "1 2 3 4"
    k: Annotated[str, Text("Key k", 80, reads=late("schemes", "read_vector"), when=of(ROTARY))] = (
        "0.5 -1 2 0.25"
    )
    distance: Annotated[int, Slider("Distance i − j", 0, 12, when=of(ROTARY))] = 3
    heads: Annotated[int, Choice("Heads H", (2, 4, 8, 16), when=of(ALIBI))] = 8
    tokens: Annotated[int, Slider("Tokens", 2, 32, when=of(ALIBI))] = 16
    table: Annotated[
        str,
        Text("Biases b, by j − i", 200, reads=late("schemes", "read_table"), when=of(RELATIVE),
             help="2N − 1 numbers for N tokens: from the key farthest behind to the one farthest ahead."),
    ] = "-1 -0.5 0 -1 0 1 2 0.5 0 -0.5 -1 -1 -1.5 -1.5 -2"  # fmt: skip
    offset: Annotated[int | None, Frame("Offset k =", when=of(CODE))] = None
    pos: Annotated[int | None, Frame("Position pos =", when=of(COUNTER, ROTATION))] = None
    query: Annotated[int | None, Frame("Query at", when=of(ROTARY))] = None
    head: Annotated[int | None, Frame("Head h =", when=of(ALIBI), seconds=0.8)] = None
    diagonal: Annotated[int | None, Frame("Offset j − i =", when=of(RELATIVE))] = None
    length: Annotated[int, Frame("Characters", LENGTHS, when=of(LENGTH))] = 256


ROOM = Room(
    title="Positions and schemes",
    idea="Attention does not see order: a scheme tells each token, or each score, where it stands.",
    place=30,
    minutes=10,
    words="positional encoding; position embedding; sinusoidal; learned positions; relative position; "
    "relative bias; RoPE; rotary; ALiBi; slopes; Toeplitz; length extrapolation; longer than in training",
    references=(
        "[UDL] 12.3.1 (π for each pair; it is one number for each offset); notes of chapter 12",
        "[LLM] part 4, eq. 1.24 and 1.25; [BB] 3 (turns values too; only queries and keys are turned); "
        "[GM] 1.6.4",
        "Vaswani et al. 2017, arXiv:1706.03762; Su et al. 2021, arXiv:2104.09864 (rotary)",
        "Raffel et al. 2019, arXiv:1910.10683 (relative bias); Press et al. 2021, arXiv:2108.12409 (ALiBi)",
    ),
    state=State,
    symbols={
        r"\mathrm{PE}": "sinusoidal code of a position", r"\mathrm{pos}": "position", "k": "offset; a key",
        r"\omega": "frequency of pair i, base to the power −2i/d", r"\omega_i": "frequency of pair i",
        "i": "pair of features; position of the query", "j": "position of the key", "d": "features",
        "q": "query", "R": "rotation by the position", "R_i": "rotation by position i",
        "R_j": "rotation by position j", "S": "score", "S_{ij}": "score of query i for key j",
        "m_h": "slope of head h", "h": "head", "H": "heads", "b": "learned bias of an offset",
        "b_{j-i}": "learned bias of an offset", "N": "tokens", "L": "characters in the window",
        r"\cos": "cosine", r"\mathcal{L}": "mean −log p of a character, nats",
    },
    scenes={
        "Sinusoidal": Scene(
            "Columns on the left turn fast, on the right slowly: each row is the code of one position.",
            State(offset=16),
        ),
        "Not monotone": Scene(
            "From offset 5 to 6 the product of two codes rises, 23.504 to 23.559: no monotone fall.",
            State(offset=6),
        ),
        "Counter": Scene(
            "A bit flips half as often as the one on its right; the waves slow down from right to left too.",
            State(view=COUNTER, d=12, base=100, pos=21),
        ),
        "Rotation": Scene(
            "The arrow of pos + 4 is that of pos turned by 4ω: the same angle at every position.",
            State(view=ROTATION, pos=5),
        ),
        "Rotary": Scene(
            "Along the diagonal the score stays 7.982: rotated queries and keys know i − j alone.",
            State(view=ROTARY, query=9),
        ),
        "Half split": Scene(
            "Pairs of other features give another score, −7.229, and the same law: i − j alone.",
            State(view=ROTARY, layout=HALF, query=9),
        ),
        "ALiBi": Scene(
            "Of equal scores the near ones get more weight: head 1 looks near, head 8 far.",
            State(view=ALIBI, head=0),
        ),
        "Relative bias": Scene(
            "The matrix is Toeplitz: 15 numbers, one for each diagonal, serve all 64 pairs.",
            State(view=RELATIVE, diagonal=6),
        ),
        "Length": Scene(
            "Trained at 64 characters: learned positions end there, others fail beyond, ALiBi alone goes on.",
            State(view=LENGTH),
        ),
    },
)  # fmt: skip
