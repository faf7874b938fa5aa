"""Character studio: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Model, Number, Room, Scene, Slider, Text

VIEWS = SAMPLE, THREE, PAST = "One text", "Three models", "Influence of the past"
SHAKESPEARE, PYDOCS = "lstm-shakespeare", "lstm-pydocs"
ROMEO = "ROMEO:\nBut, soft! what light"
CITIZEN, CODE, NONSENSE = "First Citizen:\n", "Return a list of ", "zzzz qqqq "


def samples(state: Any) -> bool:
    return bool(state.view == SAMPLE)


def turns(state: Any) -> bool:
    return bool(state.view != PAST)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = SAMPLE
    model: Annotated[str, Model("Model", (SHAKESPEARE, PYDOCS), when=samples)] = SHAKESPEARE
    text: Annotated[
        str,
        Text("Prime", 300, help="Its last 40 characters are read.",
             examples={"Romeo": ROMEO, "Citizen": CITIZEN, "Docs": CODE, "Nonsense": NONSENSE}),
    ] = ROMEO  # fmt: skip
    t: Annotated[float, Slider("Temperature", 0.0, 2.0, step=0.1)] = 0.8
    length: Annotated[int, Slider("Characters", 40, 160, step=20, when=turns)] = 120
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    step: Annotated[int | None, Frame("Character", seconds=0.15, when=turns)] = None
    lstm: Fixed = SHAKESPEARE
    gpt: Fixed = "gpt-shakespeare"
    ngram: Fixed = "ngram-shakespeare"


ROOM = Room(
    title="Character studio",
    idea="A network that has read characters writes them: each is drawn from its forecast, and read again.",
    place=12,
    minutes=8,
    words="character language model; char-rnn; LSTM; sampling; temperature; n-gram; transformer; "
    "perplexity; context; long-range dependence",
    references=(
        "Graves 2013, Generating sequences with recurrent neural networks, arXiv:1308.0850",
        "Karpathy, Johnson & Li 2016, Visualizing and understanding recurrent networks, arXiv:1506.02078",
        "Khandelwal et al. 2018, Sharp nearby, fuzzy far away, arXiv:1805.04623 (influence of the past)",
        "[LLM] eq. 1.5-1.7, [GM] 1.6.2",
    ),
    machine="recurrent",
    lenses=("receptive_field",),
    state=State,
    symbols={
        "p": "probability that the model gives", "x_t": "character at step t",
        "x_{<t}": "the characters before it",
        r"\Delta": "mean change of log p",
        r"\Delta_k": "mean change of log p by a character k back",
        "x'_{t-k}": "another character in place of that k back", r"\log": "natural logarithm",
    },
    scenes={
        "Half-way": Scene(
            "Pale characters were expected; dark ones surprise, most of all where a word begins.",
            State(step=60),
        ),
        "Temperature 0": Scene(
            "The most probable character each time: the same common words come again and again.",
            State(t=0.0),
        ),
        "Temperature 1.6": Scene(
            "At a high temperature improbable characters are drawn, and words are misspelt.", State(t=1.6)
        ),
        "Documentation": Scene(
            "The same cell, trained on the documentation of Python, writes in its manner.",
            State(model=PYDOCS, text=CODE),
        ),
        "Nonsense": Scene(
            "Within the prime every character surprises; behind it the network returns to its language.",
            State(text=NONSENSE),
        ),
        "Three models": Scene(
            "The same prime and seed: counts, LSTM and transformer go on, each coloured by its own log p.",
            State(view=THREE),
        ),
        "Influence": Scene(
            "Counts of six see five characters back, and not one more; the LSTM's curve falls gradually.",
            State(view=PAST),
        ),
    },
)  # fmt: skip
