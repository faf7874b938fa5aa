"""Masks, interaction matrices and reach: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

ENCODER, DECODER, PREFIX, CROSS = "Encoder", "Decoder", "Prefix", "Cross-attention"
WINDOW, SELECTED, GLOBAL = "Window", "Window + selected tokens", "Window + global tokens"
BLOCKS, STRIDED, RANDOM, OWN = "Blocks", "Window + stride", "Window + random", "Own taps"
PATTERNS = (ENCODER, DECODER, PREFIX, CROSS, WINDOW, SELECTED, GLOBAL, BLOCKS, STRIDED, RANDOM, OWN)
WITH_WINDOW = (WINDOW, SELECTED, GLOBAL, STRIDED, RANDOM)
NUMBERED = {PREFIX: "Prefix", SELECTED: "Selected: every", GLOBAL: "Global tokens", BLOCKS: "Block size",
            STRIDED: "Stride", RANDOM: "Random tokens each"}  # fmt: skip
CHOOSES = (*WITH_WINDOW, BLOCKS, OWN)  # whether it is causal
MOST = 12  # of the number


def number_label(pattern: str) -> str:
    return NUMBERED.get(pattern, "Number")


def windowed(state: Any) -> bool:
    return state.pattern in WITH_WINDOW


@dataclass(frozen=True, kw_only=True)
class State:
    pattern: Annotated[str, Choice("Pattern", PATTERNS, as_list=True)] = WINDOW
    n: Annotated[int, Slider("Tokens N", 8, 24)] = 16
    causal: Annotated[
        bool, Toggle("Causal", when=lambda now: now.pattern in CHOOSES, help="No token looks ahead.")
    ] = True
    radius: Annotated[int, Slider("Window r", 1, 6, when=windowed)] = 2
    dilation: Annotated[int, Slider("Dilation", 1, 4, when=windowed)] = 1
    number: Annotated[
        int,
        Slider(late("room", "number_label"), 1, MOST, when=lambda now: now.pattern in NUMBERED),
    ] = 4
    padding: Annotated[int, Slider("Padding at the end", 0, 6)] = 0
    taps: Annotated[
        str,
        Text("Taps: offsets to tokens", 60, reads=late("lens", "read_taps"),
             when=lambda now: now.pattern == OWN, help="−2 is the token two before, 0 the token itself."),
    ] = "0 -1 -5"  # fmt: skip
    seed: Annotated[int, Number("Seed", 0, 99, when=lambda now: now.pattern == RANDOM)] = 0
    layers: Annotated[int | None, Frame("Layers L =", seconds=0.6)] = None


ROOM = Room(
    title="Masks, interaction matrices and reach",
    idea="A mask says which tokens interact in one layer; layer upon layer a token hears of more.",
    place=130,
    minutes=8,
    words="sparse attention; interaction matrix; mask; causal mask; padding mask; prefix; cross-attention; "
    "window; dilated attention; global tokens; block local attention; strided; random; BigBird; Longformer; "
    "receptive field; reach",
    references=(
        "[UDL] 12.9, figure 12.15; notes of chapter 12",
        "Child et al. 2019, arXiv:1904.10509 (strides); Beltagy et al. 2020, arXiv:2004.05150 (dilation, "
        "global tokens)",
        "Zaheer et al. 2020, arXiv:2007.14062 (window, global and random tokens)",
    ),
    state=State,
    symbols={
        "A": "interaction matrix", "A_{ij}": "1 where token i looks at token j, else 0",
        "N": "tokens", "L": "layers", "M": "tokens of the source", r"\#": "number of pairs",
        "i": "token that looks", "j": "token looked at",
    },
    scenes={
        "Causal window": Scene(
            "Each token looks at itself and two before: after 4 layers the last has heard of 9 of 16.",
            State(layers=4),
        ),
        "Encoder": Scene(
            "Every token looks at every token: 256 pairs, and one layer is enough.",
            State(pattern=ENCODER, layers=1),
        ),
        "Decoder": Scene(
            "The causal mask leaves 136 of 256 pairs: about half, and still quadratic in N.",
            State(pattern=DECODER, layers=1),
        ),
        "Dilation 2": Scene(
            "One dilation alone: the last token never hears of an odd token, however many layers.",
            State(dilation=2, layers=4),
        ),
        "Dilation 3": Scene(
            "With dilation 3 two residues of three stay unheard of: the picture on the right has gaps.",
            State(dilation=3, layers=3),
        ),
        "Selected tokens": Scene(
            "Every fourth token looks at all before it, and is looked at: 85 pairs, two layers reach all.",
            State(pattern=SELECTED, layers=2),
        ),
        "Global tokens": Scene(
            "Two global tokens link any two others: 100 of 256 pairs, and two layers reach all.",
            State(pattern=GLOBAL, causal=False, radius=1, number=2, layers=2),
        ),
        "Blocks": Scene(
            "Block-local attention: blocks never interact, so that a token only hears of its own four.",
            State(pattern=BLOCKS, causal=False, layers=1),
        ),
        "Padding": Scene(
            "Nobody looks at the four tokens of padding: their columns stay empty after every layer.",
            State(pattern=ENCODER, padding=4, layers=1),
        ),
    },
)  # fmt: skip
