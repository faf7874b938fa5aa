"""Activation patching: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Room, Scene, Slider, Text, late

VIEWS = STREAM, PARTS, HEADS = "Stream", "Parts", "Heads"
SITES = {STREAM: "stream", PARTS: "sublayers", HEADS: "heads"}
SUM, WORDS, LETTERS, PIECES = "gpt-addition", "gpt-senses", "gpt-shakespeare", "gpt-pydocs"
ADJECTIVE = "she waited at the muddy bank\nshe waited at the rich bank"


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[
        str,
        Choice("Patch", VIEWS,
               help="The residual stream; what attention or MLP adds to it; what one head adds at all "
               "positions."),
    ] = STREAM  # fmt: skip
    model: Annotated[str, Model("Model", only=late("lens", "fits"), as_list=True)] = SUM
    prompts: Annotated[
        str | None,
        Text("Clean prompt, corrupted below", 400, first=late("lens", "first_prompts"), area=True,
             examples=late("lens", "examples"), help="Two lines of equally many tokens; ⏎ is a line's end."),
    ] = None  # fmt: skip
    answer: Annotated[
        str | None,
        Choice("Answer", late("lens", "answers"), as_list=True, row="answers",
               help="A likely next token; at first the likeliest behind the clean prompt."),
    ] = None  # fmt: skip
    other: Annotated[
        str | None,
        Choice("Other answer", late("lens", "others"), as_list=True, row="answers"),
    ] = None  # fmt: skip
    column: Annotated[
        int | None,
        Slider("Column", 1, late("lens", "columns"), first=late("lens", "columns"), help="Or click a cell."),
    ] = None  # fmt: skip
    layer: Annotated[int | None, Frame("Row", seconds=1.0)] = None


ROOM = Room(
    title="Activation patching",
    idea="Copy one activation of a clean run into a corrupted one: does the clean answer come back?",
    place=57,
    minutes=8,
    words="activation patching; causal tracing; causal mediation; attribution patching; logit difference; "
    "interchange intervention; circuits; interpretability; residual stream; attention heads",
    references=(
        "Meng et al. 2022, Locating and editing factual associations in GPT, arXiv:2202.05262",
        "Wang et al. 2022, Interpretability in the wild, arXiv:2211.00593",
        "Syed et al. 2023, Attribution patching outperforms automated circuit discovery, arXiv:2310.10348",
        "[GM] §1.6.4, [LLM] part 4",
    ),
    machine="transformer",
    state=State,
    symbols={
        "r": "share of the lead that the patch restores",
        r"\hat r": "the share that the gradient predicts",
        "d": "lead of the answer over the other, in logits",
        "d_0": "lead in the corrupted run",
        "d_1": "lead in the clean run",
        r"d_{\text{patched}}": "lead in the corrupted run with the patch",
        "a_0": "activation in the corrupted run",
        "a_1": "activation in the clean run",
        r"\nabla_a d": "gradient of the lead at the corrupted run",
    },
    scenes={
        "Carry": Scene(
            "As they enter, the digits 5 and 8 restore .17 and .75; after layer 1 the last token holds .97.",
            State(layer=1),
        ),
        "Who brings it": Scene(
            "At the last token, what attention 1 adds restores .97; so does what MLP 2 adds there.",
            State(view=PARTS, layer=0),
        ),
        "Several heads": Scene(
            "No head of layer 1 restores the carry alone: heads 2 and 3 give .50 and .38.",
            State(view=HEADS, layer=0, column=2),
        ),
        "Gradient fails": Scene(
            "Lowest row: the 8 restores .75, the gradient says −.05: the model is far from linear.",
            State(layer=0, column=5),
        ),
        "Sense": Scene(
            "The lead moves from fished to bank within layer 1; then fished restores nothing.",
            State(model=WORDS, layer=1),
        ),
        "One head": Scene(
            "Head 2 of layer 1 restores .96: it brings the sense of muddy to the bank.",
            State(view=HEADS, model=WORDS, prompts=ADJECTIVE, layer=0, column=2),
        ),
        "Two cues": Scene(
            "Two words say the sense: fished alone restores .13, muddy alone .55. Effects do not add up.",
            State(model=WORDS, prompts="she fished at the muddy bank\nshe saved at the rich bank",
                  layer=0, column=4),
        ),
        "Bracket": Scene(
            "Row by row the open bracket moves to the x behind it: .46, .49, .88 and 1.00.",
            State(model=PIECES, answer=")", other="]", layer=3),
        ),
        "Thou or they": Scene(
            "The space holds .48 after layer 1, the last a 1.15 after layer 2: two steps to the end.",
            State(model=LETTERS, layer=2),
        ),
    },
)  # fmt: skip
