"""Translation: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Room, Scene, Slider, Text, late

VIEWS = ALIGNMENT, SCORE, FORCED, LENGTH = "Alignment", "One score", "Forced and free", "Length"
DECODERS = ATTENTION, FIXED = "attention", "fixed context"
CAT = "I have a big cat but a small house."
SWAP = "We buy a small green key because I have the big white house."
TWICE = "I see two white cats and my small dog."
FOUR = (
    "I have the big red house and we see a small blue cat "
    "but you want two old cars and they sell my white table."
)
SIX = "I have a cat and a dog and a book and a car and a house and a table."
STRANGE = "The cat have a small dog."
EXAMPLES = {
    "Big cat": CAT, "Two colours": SWAP, "New pairs": TWICE, "Four clauses": FOUR, "Six clauses": SIX,
    "No verb": STRANGE,
}  # fmt: skip
KITCHEN = "Eine Frau, die in einer Küche eine Schale mit Essen hält."
CAPTIONS = "attention-multi30k-de-en"


def decodes(state: Any) -> bool:
    return bool(state.view != LENGTH)


def looks(state: Any) -> bool:
    return state.view in (ALIGNMENT, SCORE)


def forces(state: Any) -> bool:
    return bool(state.view == FORCED)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str, Model("Model", family="recurrent", only=late("lens", "fits"),
                   first=("attention-spanish", CAPTIONS), as_list=True)
    ] = "attention-spanish"  # fmt: skip
    view: Annotated[str, Choice("View", late("lens", "views"), as_list=True)] = ALIGNMENT
    text: Annotated[
        str,
        Text("Sentence", 300, examples=late("lens", "examples"), when=decodes, area=False,
             help="Of the English words of the grammar, or a German one, as the model reads it."),
    ] = CAT  # fmt: skip
    word: Annotated[
        int,
        Slider("Source word", 0, late("lens", "last_word"), when=looks,
               help="The one that the equation is of; 0 is that of the largest weight. Or click a cell."),
    ] = 0  # fmt: skip
    decoder: Annotated[str, Choice("Decoder", DECODERS, when=forces)] = FIXED
    step: Annotated[int | None, Frame("Step", seconds=0.8, when=decodes)] = None

    @property
    def fixed(self) -> Annotated[str, Model("Fixed context")]:
        """The sister of the model whose context is fixed."""
        return sister(self.model)

    @property
    def forced(self) -> Annotated[str, Model("Decoder")]:
        """The model whose forced and free decoding is compared."""
        return self.model if self.decoder == ATTENTION else self.fixed


def sister(name: str) -> str:
    """The model with a fixed context beside one with attention, by their names."""
    return "fixed-" + name.partition("/")[0].removeprefix("attention-")


ROOM = Room(
    title="Translation",
    idea="For each word that it writes, the decoder weighs the states of all source words anew.",
    place=45,
    minutes=7,
    words="RNNsearch; align and translate; seq2seq; sequence to sequence; encoder-decoder; additive "
    "attention; Bahdanau; alignment; soft attention; fixed context; bottleneck; teacher forcing; free "
    "running; exposure bias; machine translation",
    references=(
        "Sutskever, Vinyals & Le 2014, arXiv:1409.3215",
        "Cho et al. 2014, arXiv:1406.1078",
        "Bahdanau, Cho & Bengio 2015, arXiv:1409.0473",
        "Och & Ney 2003, A systematic comparison of various statistical alignment models",
        "[DGM] deck 1, [GM] 1.6.3",
    ),
    machine="recurrent",
    state=State,
    symbols={
        r"\gamma_{tj}": "attention weight of source word j at step t",
        "e_{tj}": "score of source word j at step t",
        "e_{tk}": "score of source word k at step t",
        r"\exp": "exponential function",
        "m": "largest score at step t", "k": "a source word", "p": "probability",
        "c_t": "context at step t",
        "s_{t-1}": "state of the decoder before step t",
        "z_j": "state of the encoder at source word j",
        "v": "weights of the score", "W": "weights of the decoder's state",
        "U": "weights of the source states",
        "y": "a sentence of the target language, y_t its word t", "x": "the source sentence",
        "y_t": "target word t", "y_{<t}": "target words before t", "T": "target words, the end included",
    },
    scenes={
        "Align": Scene(
            "At “grande” the largest weight is that of “big”: the adjective has moved behind its noun.",
            State(step=3),
        ),
        "Two to one": Scene(
            "“tengo” is two English words: the weights of “I have” go to one Spanish verb.",
            State(step=0),
        ),
        "Crossing": Scene(
            "Three words in the opposite order: the weights cross where the gold cells do.",
            State(text=SWAP, step=4),
        ),
        "Bottleneck": Scene(
            "Attention is right; the fixed context writes fluent Spanish, but of another sentence.",
            State(text=FOUR),
        ),
        "Verb last": Scene(
            "Real captions: German has its verb last, “hält”; “holding” is written third and looks there.",
            State(model=CAPTIONS, text=KITCHEN, step=2),
        ),
        "One score": Scene(
            "Nearly all hidden units raise the score of “big”: softmax gives the largest sum a γ near 1.",
            State(view=SCORE, step=3),
        ),
        "Divergence": Scene(
            "Free running reads its own first error; forced, the gold words lead the decoder back.",
            State(view=FORCED, text=FOUR),
        ),
        "Length": Scene(
            "The fixed context falls with each clause; attention only beyond the lengths of training.",
            State(view=LENGTH),
        ),
        "Too long": Scene(
            "Six clauses, more than in training: the decoder skips one, though each word is known.",
            State(text=SIX),
        ),
    },
)  # fmt: skip
