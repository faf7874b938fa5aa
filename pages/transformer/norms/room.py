"""Norms, pre and post: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Room, Scene, Slider, Text, late

VIEWS = VECTOR, BATCH, DEPTH, RESIDUAL = "One vector", "Batch", "Gradients by layer", "Residual Jacobian"
KINDS = LAYER, RMS, BATCHED, RUNNING = "LayerNorm", "RMSNorm", "BatchNorm, training", "BatchNorm, evaluation"
PARTS = QUERY, VALUE, FEEDFORWARD = "Queries W_Q", "Values W_V", "Feed-forward W₁, W₂"
DEPTHS = (2, 6, 12, 24, 48)
FOUR = "1 2 3 6 / 4 0 -2 2 / 0 5 1 1 / 2 3 -1 4"
ADDED = tuple(step / 2 for step in range(17))  # 0 … 8
FACTORS = tuple(round(-2 + 0.1 * step, 1) for step in range(31))  # −2 … 1


def of(*views: str) -> Any:
    return lambda now: now.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = VECTOR
    x: Annotated[str, Text("Vector x", 120, reads=late("lens", "read_vector"), when=of(VECTOR))] = (
        "0.1 200 -150 0.3"
    )
    claimed: Annotated[
        str, Text("Claimed to be its LayerNorm", 120, reads=late("lens", "read_claim"), when=of(VECTOR))
    ] = ""
    rows: Annotated[
        str, Text("Tokens or examples, / between", 300, reads=late("lens", "read_rows"), when=of(BATCH))
    ] = FOUR
    kind: Annotated[str, Choice("Norm", KINDS, as_list=True, when=of(BATCH))] = LAYER
    gain: Annotated[float, Slider("γ", 0.0, 3.0, step=0.25, when=of(VECTOR, BATCH))] = 1.0
    shift: Annotated[float, Slider("β", -2.0, 2.0, step=0.25, when=of(VECTOR, BATCH))] = 0.0
    power: Annotated[int, Slider("log₁₀ ε", -8, 2, when=of(VECTOR, BATCH))] = -5
    part: Annotated[str, Choice("Gradient of", PARTS, as_list=True, when=of(DEPTH))] = QUERY
    layers: Annotated[int, Slider("Layers L", 1, 8, when=of(RESIDUAL))] = 2
    added: Annotated[float, Frame("Added to the last row:", ADDED, when=of(BATCH))] = 8.0
    depth: Annotated[int, Frame("Depth L =", DEPTHS, seconds=0.8, when=of(DEPTH))] = 48
    factor: Annotated[float, Frame("w =", FACTORS, seconds=0.2, when=of(RESIDUAL))] = 0.5


ROOM = Room(
    title="Norms, pre and post",
    idea="A norm fixes the scale of each token; where it stands decides what gradients do with depth.",
    place=50,
    minutes=8,
    words="layer normalization; LayerNorm; RMSNorm; BatchNorm; batch normalization; pre-norm; post-norm; "
    "residual; skip connection; ReZero; vanishing gradient; exploding gradient; Xavier; initialisation",
    references=(
        "[LLM] eq. 1.31 (its worked vector is not normalised) and part 4; [GM] 1.6.4",
        "[UDL] 12.4 and eq. 12.13 (statistics of each token over its features, not over the sequence)",
        "Xiong et al. 2020, arXiv:2002.04745; Zhang & Sennrich 2019, arXiv:1910.07467 (RMSNorm)",
        "Bachlechner et al. 2020, arXiv:2003.04887 (ReZero)",
    ),
    state=State,
    symbols={
        "x": "vector of a token", r"\mu": "mean of its features", r"\sigma": "standard deviation, with 1/d",
        r"\sigma^2": "variance, with 1/d", r"\gamma": "gain", r"\beta": "shift", r"\epsilon": "kept from 0",
        "L": "layers", "w": "slope of a sublayer F(x) = w x", "y": "output", "k": "sublayers on a path",
        r"\nabla": "norm of the gradient", r"\mathrm{LN}": "layer norm", r"\mathrm{RMS}": "root mean square",
        r"\Delta": "change of the outputs",
    },
    scenes={
        "One vector": Scene(
            "Both norms bring 200 down to about 1.5: LayerNorm centres first, RMSNorm only scales.", State()
        ),
        "Printed vector": Scene(
            "A text prints the grey bars as LayerNorm: mean −.275 and variance .711, so they are not.",
            State(claimed="-0.56 1.13 -1.12 -0.55"),
        ),
        "LayerNorm": Scene(
            "The last token changes, and its own row alone: each token has its own mean and variance.",
            State(view=BATCH),
        ),
        "BatchNorm": Scene(
            "The last example changes one feature, and every row of that column: examples are coupled.",
            State(view=BATCH, kind=BATCHED),
        ),
        "Batch of one": Scene(
            "With running averages BatchNorm takes a batch of one: only batch statistics need more.",
            State(view=BATCH, kind=RUNNING, rows="1 2 3 6"),
        ),
        "Queries": Scene(
            "At 48 layers post-norm queries get next to no gradient; pre-norm keeps it in the first layers.",
            State(view=DEPTH),
        ),
        "Feed-forward": Scene(
            "Post-norm does not shrink all: its feed-forward gradients stay; without norms they explode.",
            State(view=DEPTH, part=FEEDFORWARD),
        ),
        "Residual": Scene(
            "The Jacobian of two residual layers is 1 + 2w + w²: one term for each path through them.",
            State(view=RESIDUAL),
        ),
        "It can vanish": Scene(
            "At w = −1 the paths cancel and the Jacobian is 0: the identity alone guarantees nothing.",
            State(view=RESIDUAL, factor=-1.0),
        ),
    },
)  # fmt: skip
