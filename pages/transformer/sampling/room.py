"""Text sampling: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = STEP, DRAWS, CACHE = "This step", "Draw 1,000", "Cache"


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = STEP
    model: Annotated[str, Model("Model", family="transformer", as_list=True)] = "gpt-shakespeare"
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
    idea="Every token of the vocabulary gets a probability; one is drawn, and it starts again.",
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
    state=State,
    scenes={
        "As trained": Scene("What is drawn is what the model says: words, names and some nonsense.", State()),
        "Greedy": Scene(
            "Temperature 0 always takes the likeliest token: no chance left.", State(t=0.0, step=20)
        ),
        "Careful": Scene(
            "Temperature 0.8, and only the likeliest 0.9 of the mass may be drawn.",
            State(t=0.8, p=0.9, step=20),
        ),
        "Hot": Scene("At temperature 2 the bars level out, and the words fall apart.", State(t=2.0, step=11)),
        "Hot, but cut to 5": Scene(
            "Hot, but only the five likeliest letters may be drawn.", State(t=2.0, k=5, step=20)
        ),
        "Draw 1,000": Scene(
            "A fair sampler's p-values are level over seeds: small ones come by chance.",
            State(view=DRAWS, t=2.0),
        ),
        "Cache": Scene(
            "Without the cache all pairs are asked anew; with it only the new token asks.", State(view=CACHE)
        ),
    },
)
