"""Two senses by layer: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Frame, Number, Room, Scene, Text, late

WEIGHTS = TRAINED, UNTRAINED = "as trained", "before training"
WORN = "A woman is wearing the top"
BIRD = "A bird sits at the top"
SHINY = "A girl in a shiny top"
MOUNTAIN = "He is on a mountain top"
BOUGHT = "A woman buys the top"
LATER = "A boy stands near the top she is wearing"
EXAMPLES = {
    "Worn": WORN, "Bird": BIRD, "Shiny": SHINY, "Mountain": MOUNTAIN, "Bought": BOUGHT, "Said later": LATER,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class State:
    text: Annotated[
        str,
        Text("A sentence with “top”", 120, reads=late("lens", "cut"), examples=EXAMPLES, area=True,
             help="Read up to “top”: a GPT sees nothing of what follows."),
    ] = WORN  # fmt: skip
    weights: Annotated[str, Choice("Weights", WEIGHTS, as_list=True)] = TRAINED
    fold: Annotated[
        int,
        Number("Split", 0, 9, help="Which half of the words gives the line; the other half is shown."),
    ] = 0
    layer: Annotated[int | None, Frame("After", seconds=1.5)] = None
    gpt: Fixed = "gpt-multi30k"


ROOM = Room(
    title="Two senses by layer",
    idea="Each layer adds what the words before say, until one word has two vectors.",
    place=56,
    minutes=5,
    words="polysemy; word sense disambiguation; contextual embeddings; probing; linear probe; "
    "contextualized representations; homonym; layer",
    references=(
        "Ethayarajh 2019, How contextual are contextualized word representations?, arXiv:1909.00512",
        "[GM] §1.6.4",
    ),
    state=State,
    symbols={
        "x": "place of your vector between the senses", "u": "direction from one mean to the other",
        "h_0": "embedding of your “top”", "h_1": "your “top” after layer 1",
        "h_2": "your “top” after layer 2", "h_3": "your “top” after layer 3",
        "h_4": "your “top” after layer 4", "m": "midpoint of the two means",
        r"\mu_{\text{place}}": "mean of training sentences on places",
        r"\mu_{\text{garment}}": "mean of training sentences on garments",
    },
    scenes={
        "Two clouds": Scene(
            "After layer 2 every “top” is on its side: tank tops on the left, tops of hills on the right.",
            State(layer=2),
        ),
        "One point": Scene(
            "At the embedding all “top” are one vector, in both senses: a probe can only guess.",
            State(layer=0),
        ),
        "Not yet": Scene(
            "After layer 1 the star lies between the clouds: “shiny” alone does not tell the sense.",
            State(text=SHINY, layer=1),
        ),
        "One layer later": Scene(
            "After layer 2 the same “shiny top” lies among the garments: two steps of attention tell it.",
            State(text=SHINY, layer=2),
        ),
        "Same word before": Scene(
            "Before both stands “the”: the top where a bird sits is a place, the one that is worn is not.",
            State(text=BIRD, layer=2),
        ),
        "Wrong sense": Scene(
            "“A woman buys the top” ends among the places: the wrong sense, and far from the line.",
            State(text=BOUGHT, layer=4),
        ),
        "Said later": Scene(
            "“she is wearing” comes after the top: a causal model has not read it, and sees a place.",
            State(text=LATER, layer=4),
        ),
        "Before training": Scene(
            "With random weights the clouds touch, and the probe is right on 91 %: alone it proves little.",
            State(weights=UNTRAINED, layer=2),
        ),
    },
)  # fmt: skip
