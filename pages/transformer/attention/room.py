"""Attention: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Place, Room, Scene, Slider, Switches, Text, Toggle, keys, late

VIEWS = HEADS, ARCS, LAYERS, VALUES, LEAK, WORTH = "Heads", "Arcs", "Layers", "Values", "Leak", "Worth"
PIECES, WORDS = "pieces", "words"
STACKS = CROSS, DECODER, ENCODER = "cross", "decoder", "encoder"
PUBLISHED, WORDED, ENCODES, ROUTES, RECURS = (
    "gpt-shakespeare", "gpt-multi30k", "bert-gazette", "moe-languages", "mamba-selective-copying"
)  # fmt: skip
COUPLE = "A woman in a red dress and a man in a black suit are walking down the"
GUITAR = "A man in a blue shirt is playing a guitar on the"
BOUGHT = "yesterday anna [bought] a red kite from max in oslo ."
KEY = "We buy a small green key because I have the big white house."
COPIED = ".c......a.b........d????"
AGAIN = "First Citizen:\nSpeak.\n\nFirst Cit"


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str,
        Model("Model", family="transformer", only=late("lens", "fits"), first=(PUBLISHED, WORDED),
              as_list=True),
    ] = PUBLISHED  # fmt: skip
    stack: Annotated[
        str,
        Choice("Attention", STACKS, when=late("bounds", "is_translator"),
               help="Of the decoder to the source, of the decoder to what is written, of the encoder."),
    ] = CROSS  # fmt: skip
    view: Annotated[str, Choice("View", late("bounds", "views"))] = HEADS
    text: Annotated[
        str | None,
        Text(
            "Your text",
            first=late("bounds", "first_text"),
            examples=late("bounds", "examples"),
            help=late("bounds", "about_text"),
        ),
    ] = None
    causal: Annotated[
        bool,
        Toggle(
            "Causal mask",
            when=late("bounds", "is_gpt"),
            help="Off: every token attends to the whole text, also to the token it should predict.",
        ),
    ] = True
    off: Annotated[
        tuple[tuple[int, int], ...],
        Switches("Heads off", late("bounds", "depth"), late("bounds", "width"), fold="Switch heads off",
                 when=late("bounds", "has_heads")),
    ] = ()  # fmt: skip
    units: Annotated[
        str,
        Choice(
            "Rows and columns",
            (PIECES, WORDS),
            help="Words of several pieces: weights are summed over the keys of a word, averaged over its "
            "queries.",
            when=late("bounds", "has_words"),
        ),
    ] = PIECES
    query: Annotated[int | None, Frame("Token", seconds=0.6, first=late("bounds", "kept_row"))] = None
    asks: Annotated[
        int | None,
        Slider(
            "Token",
            1,
            late("bounds", "count"),
            first=late("bounds", "asked"),
            help="Or click its column.",
            when=lambda s: s.view == LAYERS,
        ),
    ] = None
    layer: Annotated[int, Frame("Layer", seconds=1.0, when=lambda s: s.view == LAYERS)] = 0
    values_of: Annotated[
        str, Choice("Layer.head", late("bounds", "heads"), when=lambda s: s.view == VALUES)
    ] = "1.1"
    head: Annotated[tuple[int, int] | None, Place("Head")] = None
    token: Annotated[tuple[int, int] | None, Place("Token")] = None


HEAD, TOKEN = keys(State, Place)

ROOM = Room(
    title="Attention",
    idea="Each token takes a weighted sum of values; softmax of query·key gives the weights.",
    place=10,
    minutes=6,
    words="self-attention; multi-head attention; query key value; scaled dot-product attention; causal "
    "mask; transformer; GPT; induction head; softmax; positional encoding; BERT; encoder; cross-attention; "
    "mixture of experts; Mamba; hidden attention",
    references=(
        "Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762",
        "Michel et al. 2019, Are sixteen heads really better than one?, arXiv:1905.10650",
        "Vig 2019, A multiscale visualization of attention in the Transformer model, arXiv:1906.05714",
        "Belrose et al. 2023, Eliciting latent predictions with the tuned lens, arXiv:2303.08112",
        "Ali et al. 2024, The hidden attention of Mamba models, arXiv:2403.01590",
        "[UDL] §12.2 to §12.5, [GM] §1.6.4",
    ),
    lenses=("attention",),
    machine="transformer",
    symbols={
        "v": "a token of the vocabulary",
        "p(v)": "probability of next token v",
        r"p_{\text{off}}(v)": "the same with heads off",
        r"\mathrm{TV}": "total variation distance",
        r"\mathrm{experts}": "what the experts of the block add",
        "y_t": "output of the state space, in one channel",
        "M_{ts}": "weight of token s in the output at t, of any sign",
        "u_s": "input of the state space at token s",
        "t": "token of the output",
        "s": "token of the input",
    },
    state=State,
    scenes={
        "Noun head": Scene(
            "Layer 2, head 1: red and dress attend to the woman, black and suit to the man.",
            State(model=WORDED, text=COUPLE, head=(1, 2), query=12),
        ),
        "Causal mask": Scene(
            "The weights of each row sum to 1, and none lies right of the diagonal.", State()
        ),
        "Values and MLP": Scene(
            "The weighted values sum to the head's output; bars: what each part adds to the residual stream.",
            State(view=VALUES, text=AGAIN, values_of="3.4"),
        ),
        "Leak": Scene(
            "Without the mask later tokens change earlier predictions: all above the diagonal leaks.",
            State(view=LEAK, causal=False),
        ),
        "Ablation": Scene(
            "All heads of layer 1 are off; the next token is orange now, grey with all heads on.",
            State(off=((1, 1), (1, 2), (1, 3), (1, 4))),
        ),
        "Head importance": Scene(
            "Each head is switched off alone: the number is the change of the next-token distribution.",
            State(view=WORTH),
        ),
        "Encoder": Scene(
            "An encoder has no causal mask: the hidden word attends to both sides, and is read from there.",
            State(model=ENCODES),
        ),
        "Router": Scene(
            "In place of the MLP stand eight experts: for each token the router chooses two, orange.",
            State(model=ROUTES, view=VALUES, values_of="2.1"),
        ),
        "No queries": Scene(
            "Mamba has no q·k: columns three behind the letters are dark, where its convolution brings them.",
            State(model=RECURS, query=23),
        ),
    },
    was={
        1: "Causal mask",
        2: "Noun head",
        "Vowel head": "Noun head",
        "Word starts": "Noun head",
        "Preposition head": "Noun head",
        5: "Leak",
        "First head": "Causal mask",
        "A name again": "Noun head",
        "Borders": "Noun head",
        "Layer by layer": "Values and MLP",
        "Logit lens": "Values and MLP",
        "Mask off": "Leak",
        "Unmasked": "Leak",
        "Layer 1 silent": "Ablation",
        "Worth of heads": "Head importance",
        "Leaky model": "Leak",
    },
)
