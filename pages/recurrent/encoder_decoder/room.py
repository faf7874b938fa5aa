"""Encoder-decoder: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Room, Scene, Text, late

VIEWS = FUNNEL, CONTEXTS, KEPT, POOLED = "Bottleneck", "Contexts", "What is kept", "Poolings"
MARKS = CLAUSES, VERB, RIGHT = "number of clauses", "first verb", "translation"
KINDS = SUBJECT, ACTION, COLOUR, NOUN = "subject", "verb", "colour", "noun"
FIVE = "I have a cat."
TWO = "They buy a red flower but I see my old dog."
FOUR = (
    "I have the big red house and we see a small blue cat "
    "but you want two old cars and they sell my white table."
)
SIX = (
    "I have the big red house and we see a small blue cat but you want two old cars "
    "and they sell my table because we buy the key but I see a dog."
)
STRANGE = "The cat have a small dog."
EXAMPLES = {"Five words": FIVE, "Two clauses": TWO, "Four clauses": FOUR, "Six clauses": SIX,
            "No verb": STRANGE}  # fmt: skip
DUNE = "Ein Mann in einem grauen Shirt springt über die Spitze einer Sanddüne in der Wüste."
CAPTIONS = "fixed-multi30k-de-en"


def marks(state: Any) -> bool:
    return bool(state.view == CONTEXTS)


def asks(state: Any) -> bool:
    return bool(state.view == KEPT)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str, Model("Model", family="recurrent", only=late("lens", "fits"),
                   first=("fixed-spanish", CAPTIONS), as_list=True)
    ] = "fixed-spanish"  # fmt: skip
    view: Annotated[str, Choice("View", late("lens", "views"), as_list=True)] = FUNNEL
    text: Annotated[
        str,
        Text("Sentence", 300, examples=late("lens", "examples"), area=False,
             help="Of the English words of the grammar, or a German one, as the model reads it."),
    ] = FOUR  # fmt: skip
    mark: Annotated[str, Choice("Colour by", MARKS, as_list=True, when=marks)] = CLAUSES
    kind: Annotated[str, Choice("Word that is asked for", KINDS, as_list=True, when=asks)] = NOUN
    step: Annotated[int | None, Frame("Step", seconds=0.8)] = None


ROOM = Room(
    title="Encoder-decoder",
    idea="The encoder puts a sentence into one vector, and the decoder knows of it nothing else.",
    place=44,
    minutes=7,
    words="seq2seq; sequence to sequence; encoder-decoder; fixed context; context vector; bottleneck; "
    "thought vector; sentence vector; principal components; PCA; linear probe; pooling; last state; mean "
    "pooling; max pooling; machine translation",
    references=(
        "Sutskever, Vinyals & Le 2014, arXiv:1409.3215 (the last state; figure 2: its PCA)",
        "Cho et al. 2014, arXiv:1406.1078; arXiv:1409.1259 (falls with the length)",
        "Alain & Bengio 2016, arXiv:1610.01644 (linear probes)",
        "Conneau et al. 2018, arXiv:1805.01070 (what a sentence vector keeps)",
        "[DGM] deck 1, [GM] 1.8-1.12",
    ),
    machine="recurrent",
    state=State,
    symbols={
        "c": "context: all that the decoder is told of the source", "c_i": "component i of the context",
        r"\bar{c}": "mean context of the sentences shown",
        "p": "probability", "y": "the translation", "x": "the source sentence",
        "y_t": "target word t", "y_k": "target word k", "y_{<t}": "target words before t",
        "y_{<k}": "target words before k",
        "z_j": "state of the encoder at source word j", "z_S": "state at the last source word",
        "z_{ji}": "component i of the state at source word j",
        r"\overrightarrow{h}_S": "state of the way from the left when it has read all S words",
        r"\overleftarrow{h}_1": "state of the way from the right when it has read all S words",
        "S": "source words", r"\gamma_j": "share of source word j in the context",
        r"\gamma_1": "share of the first source word", r"\gamma_S": "share of the last source word",
        "a": "coordinates of this sentence", "a_1": "first coordinate", "a_2": "second coordinate",
        "v_1": "first principal component", "v_2": "second principal component",
        "j": "a source word", "k": "a step up to t", r"\mathrm{argmax}": "the word whose value is largest",
        r"\hat{w}": "word that the probe reads from c", "w": "a word", "W": "weights of the probe",
        "b": "biases of the probe",
        r"\lambda_1": "variance along the first component",
        r"\lambda_2": "variance along the second component",
        r"\lambda_i": "variance along component i",
    },
    scenes={
        "Bottleneck": Scene(
            "Two ends of the encoder make c; what is written of it is fluent, but of another sentence.",
            State(step=12),
        ),
        "Five words": Scene(
            "A short sentence goes through the same 128 numbers: every word is the gold one, p is near 1.",
            State(text=FIVE, step=2),
        ),
        "Six clauses": Scene(
            "More words than in training: c does not grow, and the translation is cut short and wrong.",
            State(text=SIX),
        ),
        "Contexts": Scene(
            "Contexts of 5 to 41 words lie in one space: its first component orders them by their length.",
            State(view=CONTEXTS),
        ),
        "First verb": Scene(
            "The same points by their first verb: no cluster, yet a probe reads it from c almost always.",
            State(view=CONTEXTS, mark=VERB),
        ),
        "What is kept": Scene(
            "A linear probe of c finds the first verb, but of middle nouns less than half.",
            State(view=KEPT, step=1),
        ),
        "All is kept": Scene(
            "Two clauses: nearly all nouns are read from c; at the noun's own state each is known anyway.",
            State(view=KEPT, text=TWO),
        ),
        "Poolings": Scene(
            "Of the same states: one end, both ends, all alike, or the largest of each component.",
            State(view=POOLED, step=3),
        ),
        "A caption": Scene(
            "A real caption: its first words are right; of the dune at its end c leaves a beach, at a low p.",
            State(model=CAPTIONS, text=DUNE, step=14),
        ),
    },
)  # fmt: skip
