"""Mixture of experts: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = ROUTES, SPECIAL, PLANE = "Routing", "Specialisation", "In the plane"
LANGUAGES = FIRST, SECOND = "as typed", "second language"
NONE = "none"
CAPACITIES = (NONE, "0.5", "1", "1.25", "2")
STARVED = "starved-languages"
TEXTS = {
    "Sentence": "Return the number of items in it.",
    "Code": "for i in range(10): print(i + 1)",
    "Digits": "12.5 + 300 = 312.5; 7 * 8 = 56",
}


def of(*views: str) -> Any:
    return lambda now: now.view in views


def most_active(experts: int) -> int:
    return min(experts, 4)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = ROUTES
    model: Annotated[
        str,
        Model("Model", family="transformer", only=late("lens", "fits"), as_list=True,
              when=of(ROUTES, SPECIAL)),
    ] = "moe-languages"  # fmt: skip
    text: Annotated[
        str,
        Text("Your text", 200, examples=TEXTS, when=of(ROUTES), help="The first 32 characters are drawn."),
    ] = TEXTS["Sentence"]  # fmt: skip
    language: Annotated[
        str,
        Choice("Language", LANGUAGES, when=of(ROUTES),
               help="The second language is the first backwards, its letters exchanged."),
    ] = FIRST  # fmt: skip
    layer: Annotated[int, Choice("Layer", late("lens", "layers"), when=of(ROUTES))] = 2
    experts: Annotated[int, Slider("Experts E", 2, 8, when=of(PLANE))] = 8
    active: Annotated[int, Slider("Active k", 1, late("room", "most_active"), when=of(PLANE))] = 1
    balance: Annotated[
        float, Choice("Balance weight", (0.0, 0.01, 0.1), label_of="{:g}".format, when=of(PLANE))
    ] = 0.1
    biased: Annotated[bool, Toggle("First expert ahead at the start", when=of(PLANE))] = False
    capacity: Annotated[
        str,
        Choice("Capacity factor", CAPACITIES, as_list=True, when=of(ROUTES, PLANE),
               help="An expert takes at most factor · k · N / E of N tokens."),
    ] = NONE  # fmt: skip
    seed: Annotated[int, Number("Seed", 0, 99, when=of(PLANE))] = 0
    token: Annotated[int | None, Frame("Token", seconds=0.5, when=of(ROUTES))] = None
    block: Annotated[int | None, Frame("Layer", seconds=1.0, when=of(SPECIAL))] = None
    step: Annotated[int | None, Frame("Step", seconds=0.2, when=of(PLANE))] = None


ROOM = Room(
    title="Mixture of experts",
    idea="A router sends each token to k of E feed-forward layers: more parameters, the same work.",
    place=60,
    minutes=8,
    words="mixture of experts; MoE; sparse; router; gate; top-k; load balancing; auxiliary loss; "
    "dead expert; capacity factor; dropped tokens; Switch; Mixtral; specialisation; multilingual; "
    "active parameters",
    references=(
        "Shazeer et al. 2017, arXiv:1701.06538",
        "Fedus et al. 2021, Switch transformers, arXiv:2101.03961 (balance, capacity)",
        "Jiang et al. 2024, Mixtral of experts, arXiv:2401.04088",
        "[GM] 2.0.1 (takes the softmax before and after the choice, which is another function)",
    ),
    state=State,
    symbols={
        "z": "logits of the router", "w": "weights of the chosen experts", "y": "output of the layer",
        "f": "an expert", "x": "token as it enters the layer", "k": "experts that run for a token",
        "p": "softmax of all logits of the router", "E": "experts", "i": "an expert",
        "T": "the k experts of the largest logits",
        "f_i": "share of assignments that expert i gets", "f'_i": "the same in the second language",
        r"\mathrm{TV}": "total variation: half the sum of differences", "N": "tokens",
        r"\mathcal{L}": "mean squared error", "P_i": "mean probability of expert i",
    },
    scenes={
        "Two of eight": Scene(
            "Each column has two coloured cells, k = 2: six experts do no work for this token.",
            State(token=8),
        ),
        "Second language": Scene(
            "The same text backwards in other letters: in layer 2 other experts get it than before.",
            State(language=SECOND, token=8),
        ),
        "Dropped": Scene(
            "Capacity factor 0.5: experts are full, ×. A token with two × passes by the residual alone.",
            State(capacity="0.5", token=24),
        ),
        "Starved": Scene(
            "From a bad start, without balance: expert 1 has nearly all tokens, the others learn nothing.",
            State(model=STARVED, token=8),
        ),
        "By language": Scene(
            "Rows above and below the line differ: experts are chosen by language and by kind of character.",
            State(view=SPECIAL),
        ),
        "In the plane": Scene(
            "Eight experts divide the plane among them while they learn; loads stay near 1/8.",
            State(view=PLANE),
        ),
        "No balance": Scene(
            "Without a balancing loss the rich get richer: at least three of eight experts end with nothing.",
            State(view=PLANE, balance=0.0),
        ),
        "Collapse": Scene(
            "Expert 1 is ahead at the start: it keeps over half of the points; at least five get nothing.",
            State(view=PLANE, biased=True, balance=0.0),
        ),
    },
)  # fmt: skip
