"""Attention: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Place, Room, Scene, Slider, Switches, Text, Toggle, keys, late

VIEWS = HEADS, ARCS, LAYERS, LEAK, WORTH = "Heads", "Arcs", "Layers", "Leak", "Worth"
PIECES, WORDS = "pieces", "words"
PUBLISHED, UNMASKED = "gpt-shakespeare", "leakygpt-shakespeare"
AGAIN = "First Citizen:\nSpeak.\n\nFirst Cit"


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = HEADS
    model: Annotated[str, Model("Model", family="transformer", as_list=True)] = PUBLISHED
    text: Annotated[
        str | None,
        Text(
            "Your text",
            first=late("lens", "first_text"),
            examples=late("lens", "examples"),
            help=late("lens", "window"),
        ),
    ] = None
    causal: Annotated[
        bool,
        Toggle("Causal mask", help="Off: every token sees the whole text, its own answer included."),
    ] = True
    off: Annotated[
        tuple[tuple[int, int], ...],
        Switches("Heads off", late("lens", "depth"), late("lens", "width"), fold="Switch heads off"),
    ] = ()
    units: Annotated[
        str,
        Choice(
            "Rows and columns",
            (PIECES, WORDS),
            help="Words of several pieces: weights are summed over the keys of a word, averaged over its "
            "queries.",
            when=late("lens", "has_words"),
        ),
    ] = PIECES
    query: Annotated[int | None, Frame("Token", seconds=0.6, first=late("lens", "kept_row"))] = None
    asks: Annotated[
        int | None,
        Slider(
            "Token",
            1,
            late("lens", "count"),
            first=late("lens", "asked"),
            help="Or click its column.",
            when=lambda s: s.view == LAYERS,
        ),
    ] = None
    layer: Annotated[int, Frame("Layer", seconds=1.0, when=lambda s: s.view == LAYERS)] = 0
    head: Annotated[tuple[int, int] | None, Place("Head")] = None
    token: Annotated[tuple[int, int] | None, Place("Token")] = None


HEAD, TOKEN = keys(State, Place)

ROOM = Room(
    title="Attention",
    idea="Every token asks, every earlier token answers; the best matches are listened to most.",
    place=10,
    minutes=6,
    words="self-attention; multi-head attention; query key value; scaled dot-product attention; causal "
    "mask; transformer; GPT; induction head; softmax; positional encoding",
    references=(
        "Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762",
        "Michel et al. 2019, Are sixteen heads really better than one?, arXiv:1905.10650",
        "Vig 2019, A multiscale visualization of attention in the Transformer model, arXiv:1906.05714",
        "Belrose et al. 2023, Eliciting latent predictions with the tuned lens, arXiv:2303.08112",
        "[UDL] §12.2 to §12.5, [GM] §1.6.4",
    ),
    lenses=("attention",),
    machine="transformer",
    state=State,
    scenes={
        "First head": Scene("Each row is one token's question; nothing lies right of the diagonal.", State()),
        "A name again": Scene(
            "The last t listens to the two i before it, and the next letter is nearly certain: i.",
            State(text=AGAIN, head=(4, 3)),
        ),
        "Borders": Scene(
            "This head looks for the last space: the lines of a word meet there.",
            State(view=ARCS, head=(4, 2)),
        ),
        "Layer by layer": Scene(
            "One token through the layers: who it looks at, and what comes next.",
            State(view=LAYERS, text=AGAIN),
        ),
        "Mask off": Scene(
            "Without the mask weights lie right of the diagonal: tokens see what comes.",
            State(causal=False, head=(2, 1)),
        ),
        "Leak": Scene(
            "Mask off, and later tokens move earlier predictions: all above the line leaks.",
            State(view=LEAK, causal=False),
        ),
        "Layer 1 silent": Scene(
            "Layer 1 is off. The next letter: orange now, grey with all heads on.",
            State(off=((1, 1), (1, 2), (1, 3), (1, 4))),
        ),
        "Worth of heads": Scene(
            "Which head matters for the next letter? Each is switched off alone.", State(view=WORTH)
        ),
        "Leaky model": Scene(
            "Trained without a mask, a model reads the next letter off the text itself.",
            State(model=UNMASKED, causal=False, head=(2, 1), query=20),
        ),
    },
)
