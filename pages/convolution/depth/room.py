"""Depth, skips and shattered gradients: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, late

VIEWS = SHATTERED, PATHS, TRAINING = "Gradient of x", "Unravelled", "Training"
NORMS = RAW, CENTRED, BATCH = "none", "centring", "batch norm"
SKIPS = PLAIN, SKIP, HALF = "none", "h + f", "(h + f)/√2"
NETWORKS = LINEAR, TRAINED = "Linear, own aₖ", "Trained live"
CHARTS = LENGTHS, ERRORS = "Sum by length", "Error"
KINDS = "Plain", "Plain, batch norm", "Skip, (h + f)/√2", "Skip, batch norm"
DRAWS = range(1, 13)
TRAIN_STEPS, STRIDE = 120, 20
LOOKS = range(0, TRAIN_STEPS + 1, STRIDE)
GAINS = {"Four blocks": "0.5 -0.2 0.1 0.3", "A block of −1": "0.5 -1 0.1", "All alike": "0.5 0.5 0.5 0.5 0.5"}


def shatters(state: Any) -> bool:
    return bool(state.view == SHATTERED)


def unravels(state: Any) -> bool:
    return bool(state.view == PATHS)


def linear(state: Any) -> bool:
    return unravels(state) and bool(state.network == LINEAR)


def learned(state: Any) -> bool:
    return unravels(state) and bool(state.network == TRAINED)


def trains(state: Any) -> bool:
    return bool(state.view == TRAINING)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = SHATTERED
    depths: Annotated[
        str,
        Text("Layers", 40, reads=late("lens", "depths"), area=False,
             when=lambda now: now.view != PATHS, help="One to four networks, of 1 to 64 layers."),
    ] = "1 24 50"  # fmt: skip
    kind: Annotated[str, Choice("Network", KINDS, as_list=True, when=trains)] = KINDS[0]
    norm: Annotated[str, Choice("Norm", NORMS, as_list=True, when=shatters, row="layer")] = CENTRED
    skip: Annotated[str, Choice("Skip", SKIPS, as_list=True, when=shatters, row="layer")] = PLAIN
    gain: Annotated[int, Choice("D Var ω", (1, 2), when=shatters, row="start")] = 2
    bias: Annotated[int, Choice("D Var β", (0, 1, 2), when=shatters, row="start")] = 1
    width: Annotated[int, Slider("Width D", 50, 300, step=50, when=shatters)] = 200
    network: Annotated[str, Choice("Network", NETWORKS, as_list=True, when=unravels)] = LINEAR
    a: Annotated[
        str,
        Text("aₖ of f(h) = aₖh", 60, reads=late("unravelled", "gains"), examples=GAINS, area=False,
             when=linear, help="One to five blocks."),
    ] = GAINS["Four blocks"]  # fmt: skip
    blocks: Annotated[int, Slider("Blocks K", 1, 5, when=learned)] = 4
    steps: Annotated[int, Choice("Steps of training", (0, 100, 300), when=learned)] = 300
    chart: Annotated[str, Choice("Beside it", CHARTS, when=learned)] = LENGTHS
    deleted: Annotated[
        str,
        Text("Blocks deleted", 20, reads=late("unravelled", "numbers"), area=False, when=unravels,
             help="Their numbers; or click a block in the picture."),
    ] = ""  # fmt: skip
    seed: Annotated[int, Number("Seed", 0, 99, when=lambda now: not linear(now))] = 0
    draw: Annotated[int, Frame("Draw", DRAWS, seconds=0.8, when=shatters)] = 1
    path: Annotated[int | None, Frame("Paths added", seconds=0.5, when=unravels)] = None
    step: Annotated[int, Frame("Step", LOOKS, seconds=0.5, when=trains)] = TRAIN_STEPS


ROOM = Room(
    title="Depth, skips and shattered gradients",
    idea="Deep plain networks give neighbouring inputs unrelated gradients; a skip opens short paths.",
    place=130,
    minutes=8,
    words="shattered gradients; residual network; ResNet; skip connection; residual connection; "
    "autocorrelation; unravelled view; paths; batch normalization; depth; degradation; gradient norm; "
    "block deletion; lesion study; ensemble of shallow networks; initialisation",
    references=(
        "[UDL] §11.1–11.4, figures 11.3 and 11.4, notebook 11.1 (says that it does not shatter)",
        "Balduzzi et al. 2017, arXiv:1702.08591 (shattered gradients; centres every layer)",
        "Veit, Wilber & Belongie 2016, arXiv:1605.06431 (unravelled view, deleting blocks)",
        "He et al. 2016, arXiv:1512.03385",
    ),
    state=State,
    symbols={
        r"\rho": "autocorrelation of the gradient", r"\ell": "lag, in points of the grid",
        "g_i": "gradient ∂y/∂x at point i", "g_{i+1}": "gradient at the next point", "i": "point of the grid",
        r"\bar{g}": "mean gradient over the grid", "y": "output", "x": "input", "I": "identity: the skip",
        "J_K": "Jacobian of the last branch", "J_1": "Jacobian of the first branch",
        "a_k": "factor of the branch of block k", "k": "number of a block", "K": "number of blocks",
        "L": "loss", r"\Omega_1": "weights of the first block",
        r"\Omega_K": "weights of the last block", "u": "last layer, of one class",
        "v": "input through the first layer",
    },
    scenes={
        "Shattered": Scene(
            "At 24 and 50 layers the gradient is like white noise: its autocorrelation falls to 0 at once.",
            State(),
        ),
        "As captioned": Scene(
            "With the book's initialisation, no centring, nothing shatters: all three correlate at lag 1.",
            State(norm=RAW, gain=1),
        ),
        "With skips": Scene(
            "With skips, 24 and 50 layers with batch norm keep correlated gradients at small lags.",
            State(norm=BATCH, skip=SKIP, bias=0),
        ),
        "Unravelled": Scene(
            "Four blocks make 16 paths; with all added the terms give the derivative, 1.716.",
            State(view=PATHS),
        ),
        "Deleted block": Scene(
            "Deleting block 1 takes 8 of 16 paths (grey): 1.144 is left.",
            State(view=PATHS, deleted="1"),
        ),
        "Errors": Scene(
            "Without one block the plain network is near guessing (90 %); the residual one loses less.",
            State(view=PATHS, network=TRAINED, chart=ERRORS, deleted="3"),
        ),
        "Plain depth": Scene(
            "The deepest plain network has the largest error, on training data too.",
            State(view=TRAINING, depths="4 16 48"),
        ),
        "Growth": Scene(
            "Batch norm without skips: each layer back multiplies the gradient by about 1.21, at the start.",
            State(view=TRAINING, depths="4 16 48", kind=KINDS[1], step=0),
        ),
        "Skip depth": Scene(
            "With skips and batch norm 48 layers train as well as 4.",
            State(view=TRAINING, depths="4 16 48", kind=KINDS[3]),
        ),
    },
)  # fmt: skip
