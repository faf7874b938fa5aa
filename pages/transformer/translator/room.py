"""Translator: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Place, Room, Scene, Slider, Switches, Text, keys, late

VIEWS = ATTENTION, SEARCH, ALIGNMENT, WORK = "Attention", "Beam search", "Alignment error", "Work per step"
MAPS = CROSS, DECODER, ENCODER = "cross", "decoder", "encoder"
KEY = "We buy a small green key because I have the big white house."
CAT = "I have a big cat but a small house."
TWICE = "I see two white cats and my small dog."
FIVE = (
    "They sell my new house and they sell two houses and a new book but you sell the cats but my red flowers."
)
EXAMPLES = {"Green key": KEY, "Big cat": CAT, "Five clauses": FIVE}


def looks(state: Any) -> bool:
    return bool(state.view == ATTENTION)


def decodes(state: Any) -> bool:
    return bool(state.view != ALIGNMENT)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str, Model("Model", family="transformer", only=late("lens", "fits"), first=("translator-spanish",),
                   as_list=True)
    ] = "translator-spanish"  # fmt: skip
    view: Annotated[str, Choice("View", late("lens", "views"), as_list=True)] = ATTENTION
    maps: Annotated[
        str,
        Choice("Attention", MAPS, when=looks,
               help="Of the decoder to the source, of the decoder to what is written, of the encoder."),
    ] = CROSS  # fmt: skip
    text: Annotated[
        str,
        Text("Sentence", 300, examples=late("lens", "examples"), area=False,
             help="Of the English words of the grammar, or a German one, as the model reads it."),
    ] = KEY  # fmt: skip
    prefix: Annotated[
        str,
        Text("Forced beginning", 120, area=False, when=decodes,
             help="Words that the translation must begin with; empty: the decoder is free."),
    ] = ""  # fmt: skip
    beam: Annotated[int, Slider("Beam B", 1, 5, help="1 is greedy.", when=decodes)] = 1
    pads: Annotated[
        int,
        Slider("Padding", 0, 4, when=lambda now: looks(now) and now.maps != DECODER,
               help="Tokens behind the source that fill up a batch."),
    ] = 0  # fmt: skip
    off: Annotated[
        tuple[tuple[int, int], ...],
        Switches("Heads off", late("lens", "depth"), late("lens", "width"), fold="Switch heads off",
                 when=looks),
    ] = ()  # fmt: skip
    head: Annotated[tuple[int, int] | None, Place("Head")] = None
    token: Annotated[tuple[int, int] | None, Place("Token")] = None
    step: Annotated[int | None, Frame("Step", seconds=0.8)] = None


HEAD, TOKEN = keys(State, Place)

ROOM = Room(
    title="Translator",
    idea="The encoder reads the source once; at every step each head of the decoder looks into it anew.",
    place=58,
    minutes=8,
    words="encoder-decoder transformer; cross-attention; machine translation; alignment; beam search; greedy "
    "decoding; KV cache; source padding; forced decoding; prefix; alignment error rate",
    references=(
        "Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762",
        "Och & Ney 2003, A systematic comparison of various statistical alignment models",
        "Voita et al. 2019, Analyzing multi-head self-attention, arXiv:1905.09418",
        "[UDL] §12.8, [GM] §1.6.4",
    ),
    lenses=("attention",),
    machine="transformer",
    state=State,
    symbols={
        "q": "query of the chosen row", "k": "key of the framed column", "k_j": "key j",
        "y": "translation", "x": "source", "P": "probability; in AER the possible gold links",
        "A": "links of the head", "S": "sure gold links",
        r"\mathrm{AER}": "alignment error rate", r"\cap": "links in both",
        "L": "layers of the decoder", "L_e": "layers of the encoder", "H": "heads", "t": "step",
        "n": "source tokens", r"y_{\text{forced}}": "forced beginning",
    },
    scenes={
        "Reordering": Scene(
            "“small green key” becomes “llave verde pequeña”: the cross-attention runs from right to left.",
            State(head=(2, 2), step=4),
        ),
        "Two to one": Scene(
            "“tengo” is “I have”: head 2.3 attends to “I”, head 2.1 to “have”; heads share the work.",
            State(text=CAT, head=(3, 2), step=0),
        ),
        "Looking back": Scene(
            "Self-attention of the decoder: for “pequeña” head 2.2 attends to “llave”, which it agrees with.",
            State(maps=DECODER, head=(2, 2), step=4),
        ),
        "Encoder": Scene(
            "No causal mask: weights lie right of the diagonal too; all heads give the four pads exactly 0.",
            State(maps=ENCODER, pads=4, head=(4, 2), step=3),
        ),
        "Prefix": Scene(
            "“casas” is forced, for cats; the decoder goes on with “blancas”: it agrees with its own word.",
            State(text=TWICE, prefix="veo dos casas", head=(2, 2), step=3),
        ),
        "No source": Scene(
            "All heads to the source are off: fluent Spanish that has nothing to do with the sentence.",
            State(off=tuple((layer, head) for layer in (1, 2) for head in (1, 2, 3, 4)), step=4),
        ),
        "Beam search": Scene(
            "Greedy takes “mis” and ends at log p −1.85; a beam of 3 keeps “los” and ends at −1.63.",
            State(view=SEARCH, text=FIVE, beam=3),
        ),
        "Alignment": Scene(
            "Never told a link, heads 1 to 3 of layer 2 align best: AER .08 to .11, all gold links right.",
            State(view=ALIGNMENT),
        ),
        "Cache": Scene(
            "With the cache the encoder runs once and a step computes one row; without, all of it again.",
            State(view=WORK),
        ),
    },
)  # fmt: skip
