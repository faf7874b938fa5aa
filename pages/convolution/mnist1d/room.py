"""CNN against MLP on MNIST-1D: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, late

VIEWS = TRAIN, SHIFTS, MATRICES = "Train both", "Moved curve", "CNN as MLP"
ORDERS = IN_ORDER, SHUFFLED = "in order", "shuffled"
CHARTS = KERNELS, CURVE = "Kernels", "Curve"
STARTS = HE, UNIFORM = "He", "uniform"
ADAM, SGD = "Adam", "SGD"
EXAMPLES = (100, 500, 1000, 4000)
STEPS = (500, 1000, 2000)
LOOKS = 20  # at a training, after its start
NETWORK, DENSE = "cnn-mnist1d", "mlp-mnist1d"
REACH = 10  # positions to either side
OWN, INPUTS = "own", "lab.lenses.inputs"


def trains(state: Any) -> bool:
    return bool(state.view == TRAIN)


def moves(state: Any) -> bool:
    return bool(state.view == SHIFTS)


def is_written_out(state: Any) -> bool:
    return bool(state.view == MATRICES)


def has_model(state: Any) -> bool:
    return not trains(state)


def reads(state: Any) -> bool:
    return moves(state) or (trains(state) and state.chart == CURVE)


def drawn_by_hand(state: Any) -> bool:
    return reads(state) and bool(state.signal == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    curve_read = late("lens", "read")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = TRAIN
    order: Annotated[
        str,
        Choice("Positions", ORDERS, when=trains, help="Shuffled: one random order, the same for all curves."),
    ] = IN_ORDER
    examples: Annotated[
        int, Choice("Curves", EXAMPLES, as_list=True, when=trains, row="of", help="Of the training.")
    ] = 4000
    steps: Annotated[int, Choice("Steps", STEPS, as_list=True, when=trains, row="of")] = 1000
    optimizer: Annotated[str, Choice("Optimizer", (ADAM, SGD), as_list=True, when=trains, row="how")] = ADAM
    rate: Annotated[
        float, Choice("Learning rate", (0.001, 0.005, 0.01, 0.05, 0.1), as_list=True, when=trains, row="how")
    ] = 0.005
    batch: Annotated[int, Choice("Batch", (10, 100, 500), as_list=True, when=trains, row="start")] = 100
    start: Annotated[str, Choice("Start", STARTS, as_list=True, when=trains, row="start")] = HE
    seed: Annotated[int, Number("Seed", 0, 99, when=trains)] = 0
    chart: Annotated[str, Choice("Beside it", CHARTS, when=trains)] = KERNELS
    model: Annotated[
        str,
        Model("CNN", family="convolution", only=late("lens", "convolves"), as_list=True, when=has_model),
    ] = NETWORK
    other: Annotated[
        str, Model("Against", family="convolution", only=late("lens", "fits"), as_list=True, when=moves)
    ] = DENSE
    signal: Annotated[
        str, Choice("Curve", late(INPUTS, "curves"), as_list=True, when=reads, help="Or draw one.")
    ] = "7"
    curve: Annotated[
        str | None,
        Drawing("Draw a curve from left to right", 40, late(INPUTS, "sketches"), when=drawn_by_hand),
    ] = None
    look: Annotated[int | None, Frame("Step", seconds=0.3, when=trains)] = None
    shift: Annotated[int, Frame("Shift", range(-REACH, REACH + 1), seconds=0.3, when=moves)] = 0
    layer: Annotated[int | None, Frame("Layer", seconds=1.0, when=is_written_out)] = None


ROOM = Room(
    title="CNN against MLP on MNIST-1D",
    idea="The MLP contains the CNN, yet it makes more errors on new curves.",
    place=35,
    minutes=7,
    words="MNIST-1D; convolutional network; fully connected network; multilayer perceptron; inductive bias; "
    "generalization; weight sharing; sparse connections; shuffled positions; translation; parameters; "
    "training error; test error; overfitting",
    references=(
        "[UDL] §10.2.7, figures 10.7 and 10.8, problem 10.12",
        "Greydanus & Kobak 2020, arXiv:2011.14439 (MNIST-1D)",
    ),
    state=State,
    symbols={
        r"E_{\mathrm{CNN}}": "test error of the CNN", r"E_{\mathrm{MLP}}": "test error of the MLP",
        r"P_{\mathrm{CNN}}": "probability of the class by the CNN",
        r"P_{\mathrm{MLP}}": "probability of the class by the other network", "s": "shift, in positions",
        r"\Omega": "weights of the layer as a matrix",
    },
    scenes={
        "Both train": Scene(
            "The MLP has the smaller error on training curves; the CNN on test curves, where it counts.",
            State(),
        ),
        "Shuffled": Scene(
            "With shuffled positions the CNN errs more than the MLP, which errs nearly as before.",
            State(order=SHUFFLED),
        ),
        "Few curves": Scene(
            "With 500 training curves both fit all of them; on test curves the CNN still errs less.",
            State(examples=500),
        ),
        "Moved": Scene(
            "A 7 at 21 shifts: the CNN says 7 at 19 of them, the MLP at 12.",
            State(view=SHIFTS, shift=4),
        ),
        "Own curve": Scene(
            "A curve of your own: draw it from left to right, then move it.",
            State(view=SHIFTS, signal=OWN),
        ),
        "A banded matrix": Scene(
            "Layer 1 as a dense one: 60 numbers, repeated along 15 bands; all else is 0.",
            State(view=MATRICES, layer=0),
        ),
    },
)  # fmt: skip
