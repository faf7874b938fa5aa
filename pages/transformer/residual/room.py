"""Residual stream and logit lens: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Room, Scene, Text, late

VIEWS = GRID, PARTS = "Logit lens", "Contributions"
COLOURS = PROBABILITY, RANK = "probability", "rank of the last"
TARGETS = LIKELIEST, DIFFERENCE = "likeliest", "first − second"
READERS = LOGIT, TUNED = "logit lens", "tuned lens"
WHOLE = "nothing"
CAPITAL = "First Citizen:\nSpeak.\n\nFirst Cit"
COUPLE = "A woman in a red dress and a man in a black suit are walking down the"
RAISED = "Raise ValueError if the"


def gridded(state: Any) -> bool:
    return state.view == GRID


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = GRID
    model: Annotated[str, Model("Model", family="transformer", only=late("lens", "fits"), as_list=True)] = (
        "gpt-pydocs"
    )
    text: Annotated[
        str | None,
        Text("Your text", first=late("lens", "first_text"), examples=late("lens", "examples"),
             help="The last 8 tokens are drawn."),
    ] = None  # fmt: skip
    reader: Annotated[
        str,
        Choice("Lens", READERS, when=late("lens", "tunable"),
               help="Tuned: an affine map behind each layer, fitted to text that the model has not seen."),
    ] = LOGIT  # fmt: skip
    colour: Annotated[
        str,
        Choice("Colour", COLOURS, when=gridded,
               help="Of the token in the cell; or 1 / rank, in that cell, of the token that comes out at the "
               "top."),
    ] = PROBABILITY  # fmt: skip
    without: Annotated[
        str,
        Choice("Switch off", late("lens", "removable"), as_list=True, when=gridded,
               help="What a sublayer adds, or both skip connections of a block."),
    ] = WHOLE  # fmt: skip
    target: Annotated[
        str,
        Choice("Logit", TARGETS, when=lambda now: now.view == PARTS,
               help="Of the likeliest next token, or its lead over the second."),
    ] = LIKELIEST  # fmt: skip
    token: Annotated[int | None, Frame("Token", seconds=0.8)] = None


ROOM = Room(
    title="Residual stream and logit lens",
    idea="Every head and every MLP adds to one stream; the model's head can read it after each layer.",
    place=55,
    minutes=8,
    words="residual stream; logit lens; tuned lens; direct logit attribution; skip connection; ablation; "
    "unembedding; interpretability; LayerNorm",
    references=(
        "nostalgebraist 2020, interpreting GPT: the logit lens",
        "Elhage et al. 2021, A mathematical framework for transformer circuits",
        "Belrose et al. 2023, Eliciting latent predictions with the tuned lens, arXiv:2303.08112",
        "[GM] §1.6.4, [LLM] part 4",
    ),
    machine="transformer",
    state=State,
    symbols={
        "p_l(v)": "probability of next token v, read after layer l",
        "l": "layer",
        "v": "token of the vocabulary",
        "x_l": "residual stream after layer l",
        "E": "head of the model (unembedding)",
        r"\mathrm{LN}": "last LayerNorm",
        "z": "logit, or difference of two",
        "q_l(v)": "the same by the tuned lens",
        "W_l": "matrix fitted for layer l",
        "b_l": "bias fitted for layer l",
        r"\mathrm{KL}": "Kullback–Leibler divergence",
        "p_L": "the prediction",
    },
    was={"Lead": "Contributions"},
    scenes={
        "Logit lens": Scene(
            "Read upwards: low layers guess the token itself or a common one; the top row is the prediction.",
            State(token=4),
        ),
        "Words": Scene(
            "Read the last column upwards: street is the likeliest word from layer 2 on.",
            State(model="gpt-multi30k", text=COUPLE),
        ),
        "Rank": Scene(
            "Dark cells: the final token is first already; light cells: an earlier layer ranks it far below.",
            State(colour=RANK),
        ),
        "Letters": Scene(
            "A model of letters, tuned: behind the last t the i of Citizen is the likeliest from layer 1 on.",
            State(model="gpt-shakespeare", text=CAPITAL, reader=TUNED),
        ),
        "Contributions": Scene(
            "The logit of the likeliest token is a sum: each cell is what one head or one MLP adds to it.",
            State(view=PARTS),
        ),
        "Tuned lens": Scene(
            "The lowest row now guesses next tokens, seldom the token itself; right, the KL is smaller.",
            State(reader=TUNED),
        ),
        "Attention off": Scene(
            "Attention 1 adds nothing: the rows above guess without what earlier tokens told in that layer.",
            State(without="attention 1"),
        ),
        "MLP off": Scene(
            "MLP 1 adds nothing: most of the top row is another token than before.",
            State(without="MLP 1"),
        ),
        "Skips off": Scene(
            "Block 2 without its skip connections: the stream below it is lost, and so is the prediction.",
            State(without="skips of block 2"),
        ),
    },
)
