"""Variance through depth: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider

VIEWS = DEPTH, ORDER, START = "By block", "Order", "1000 layers"
SCHEMES = NONE, HALF, SHARE, BATCH, SKIP_INIT, FIXUP = (
    "h + f", "(h + f)/√2", "h + f·√(1/K)", "h + f, batch norm first", "SkipInit", "Fixup",
)  # fmt: skip
ORDERS = RELU_FIRST, LINEAR_FIRST = "ReLU → linear", "linear → ReLU"
SIGNS = NORMAL, NEGATIVE, POSITIVE = "normal", "all negative", "all positive"
FIRSTS = AT_ONCE, LINEAR = "none", "linear"
ACTIVATIONS = IDENTITY, RELU, TANH = "none", "ReLU", "tanh"
WAYS = FORWARD, BACKWARD = "activations", "gradients"
WIDTHS, LAYERS = (16, 64, 256), (10, 100, 1000)
DRAWS, TRIALS = range(1, 9), range(1, 5)
UNITS, ROUNDS = 40, 12


def of(*views: str) -> Any:
    return lambda now: now.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = DEPTH
    scheme: Annotated[str, Choice("Block", SCHEMES, as_list=True, when=of(DEPTH))] = NONE
    order: Annotated[str, Choice("Order", ORDERS, as_list=True, when=of(DEPTH, ORDER))] = RELU_FIRST
    alpha: Annotated[
        float,
        Slider("α", 0.0, 1.0, step=0.05, when=lambda now: now.view == DEPTH and now.scheme == SKIP_INIT),
    ] = 0.0
    blocks: Annotated[int, Slider("Blocks K", 1, 40, when=of(DEPTH))] = 10
    width: Annotated[int, Choice("Width D", WIDTHS, when=of(DEPTH))] = 256
    sign: Annotated[str, Choice("Inputs", SIGNS, as_list=True, when=of(ORDER))] = NORMAL
    first: Annotated[str, Choice("Layer before the blocks", FIRSTS, when=of(ORDER))] = AT_ONCE
    activation: Annotated[str, Choice("Activation", ACTIVATIONS, when=of(START))] = IDENTITY
    layers: Annotated[int, Choice("Layers", LAYERS, when=of(START))] = 1000
    shown: Annotated[str, Choice("Root mean square of", WAYS, when=of(START))] = FORWARD
    gain: Annotated[
        float,
        Slider("Gaussian: C K Var ω", 0.5, 3.0, step=0.05, when=of(START), help="Xavier has 1, He 2."),
    ] = 1.2
    seed: Annotated[int, Number("Seed", 0, 99)] = 0
    draw: Annotated[int, Frame("Draw", DRAWS, seconds=0.6, when=of(DEPTH))] = 1
    block: Annotated[
        int | None, Frame("Block", range(ROUNDS + 1), seconds=0.5, when=of(ORDER))
    ] = None  # fmt: skip
    trial: Annotated[int, Frame("Draw", TRIALS, seconds=0.8, when=of(START))] = 1


ROOM = Room(
    title="Variance through depth",
    idea="Skips make activations grow with depth; norms, scales and special starts hold them.",
    place=140,
    minutes=7,
    words="initialisation; initialization; He initialization; Kaiming; Xavier; Glorot; delta-orthogonal; "
    "SkipInit; Fixup; exploding activations; exploding gradients; vanishing gradients; pre-activation; "
    "residual network; order of operations; batch variance; batch normalization; E[h²]; 1000 layers",
    references=(
        "[UDL] §11.2.1, §11.3, figures 11.5 and 11.6, problem 10.19; He et al. 2015, arXiv:1502.01852",
        "De & Smith 2020, arXiv:2002.10444 (SkipInit); Zhang et al. 2019, arXiv:1901.09321 (Fixup)",
        "Xiao et al. 2018, arXiv:1806.05393 (delta-orthogonal)",
    ),
    state=State,
    symbols={
        "h": "hidden units", "h_k": "hidden units after block k", "h_0": "the input",
        "h_K": "hidden units after the last block or layer", "k": "number of a block",
        "h_{k-1}": "hidden units before block k", "K": "number of blocks or layers", "f": "the branch",
        r"\mathbb{E}": "mean over units, examples and weights", "L": "random weighted sum of the outputs",
        r"\mathrm{Var}_B": "variance over the batch, mean over units", r"\mathrm{rms}": "root mean square",
    },
    scenes={
        "Doubling": Scene(
            "Blue: E[h²] doubles in each block, on a straight line; orange: the batch variance lags behind.",
            State(),
        ),
        "Rescaled": Scene(
            "Each sum over √2 keeps E[h²] at 1 (blue); the batch variance shrinks: examples become alike.",
            State(scheme=HALF),
        ),
        "Norm first": Scene(
            "With batch norm first E[h²] grows by one a block and the batch variance by .68, as lines.",
            State(scheme=BATCH),
        ),
        "Other order": Scene(
            "Linear → ReLU grows faster than doubling: at the right the factor climbs to 2.9.",
            State(order=LINEAR_FIRST),
        ),
        "Only upwards": Scene(
            "With ReLU last no line ever falls: a block can only add what is not negative.",
            State(view=ORDER, order=LINEAR_FIRST),
        ),
        "Dead start": Scene(
            "ReLU first, on negative inputs: all lines stay flat, no block adds anything.",
            State(view=ORDER, sign=NEGATIVE),
        ),
        "1000 layers": Scene(
            "Linear layers: Gaussian starts drift or explode; delta-orthogonal stays at 1.",
            State(view=START),
        ),
        "With ReLU": Scene(
            "He's start drifts down in single draws; SkipInit and Fixup begin as the identity, at 1.",
            State(view=START, activation=RELU),
        ),
    },
)  # fmt: skip
