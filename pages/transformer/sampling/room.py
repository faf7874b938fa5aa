"""Text sampling: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = STEP, DRAWS, CACHE = "This step", "Draw 1,000", "Cache"


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = STEP
    model: Annotated[str, Model("Model", family="transformer", only=late("lens", "fits"), as_list=True)] = (
        "gpt-shakespeare"
    )
    prompt: Annotated[
        str | None, Text("Beginning", examples=late("lens", "examples"), first=late("lens", "first_text"))
    ] = None
    t: Annotated[
        float, Slider("Temperature", 0.0, 3.0, step=0.05, help="0 always takes the most probable token")
    ] = 1.0
    k: Annotated[int, Slider("Top-k", 0, 100, help="0 keeps all tokens")] = 0
    p: Annotated[float, Slider("Top-p", 0.01, 1.0, step=0.01, help="1 keeps all tokens")] = 1.0
    length: Annotated[int, Slider("New tokens", 1, 120)] = 60
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    count: Annotated[bool, Toggle("Run it both ways and count", when=lambda s: s.view == CACHE)] = True
    step: Annotated[int, Frame("Token", seconds=0.3)] = 0


ROOM = Room(
    title="Text sampling",
    idea="One token is drawn from the next-token distribution, appended, and the next one follows.",
    place=20,
    minutes=14,
    words="KV cache; key-value cache; greedy decoding; GPT; transformer; text generation; temperature",
    references=(
        "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
        "Fan et al. 2018, Hierarchical neural story generation, arXiv:1805.04833",
        "[UDL] §12.7.3, [LLM] part 4",
    ),
    lenses=("sampling",),
    machine="transformer",
    symbols={
        "p": "probability of a token",
        "i": "a token of the vocabulary",
        "P": "probability",
        r"\chi^2": "Pearson's test statistic",
    },
    state=State,
    scenes={
        "Nucleus sampling": Scene(
            "Temperature 0.8 and top-p 0.9: only the likeliest tokens with 0.9 of the mass can be drawn.",
            State(t=0.8, p=0.9, step=20),
        ),
        "Ancestral sampling": Scene(
            "Each token is drawn from the model's own distribution, so unlikely ones come too.",
            State(step=20),
        ),
        "Greedy decoding": Scene(
            "Temperature 0 always takes the most probable token: the orange bar is 1.", State(t=0.0, step=20)
        ),
        "High temperature": Scene(
            "At temperature 2 the orange bars are flatter than the grey ones, and words fall apart.",
            State(t=2.0, step=11),
        ),
        "Top-k": Scene(
            "Temperature 2, but only the five most probable letters can be drawn.",
            State(t=2.0, k=5, step=20),
        ),
        "Captions": Scene(
            "A GPT of captions: words are one token each, and the bars can be read.",
            State(model="gpt-multi30k", t=0.8, p=0.9, step=4),
        ),
        "1,000 draws": Scene(
            "Counts of 1,000 draws beside their expectation; over seeds the p-values of χ² are near uniform.",
            State(view=DRAWS, t=2.0),
        ),
        "KV cache": Scene(
            "Without a KV cache all query-key products are computed again, with it those of the new token.",
            State(view=CACHE),
        ),
    },
    was={
        1: "Ancestral sampling",
        2: "Greedy decoding",
        3: "Nucleus sampling",
        "As trained": "Ancestral sampling",
        "Greedy": "Greedy decoding",
        "Careful": "Nucleus sampling",
        "Hot": "High temperature",
        "Hot, but cut to 5": "Top-k",
        "Draw 1,000": "1,000 draws",
        "Cache": "KV cache",
    },
)
