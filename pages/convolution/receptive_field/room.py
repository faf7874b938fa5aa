"""Receptive field: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Room, Scene, Slider, late

NETWORK, ON_SIGNALS = "cnn-mnist", "cnn-mnist1d"
ONE, MANY, PATHS = FIELDS = ("this input", "ten inputs", "paths")
OWN, INPUTS = "own", "lab.lenses.inputs"
FIRST, LOGITS = "1 · conv 5×5", "12 · dense"  # layers of the network


def drawn_by_hand(state: Any) -> bool:
    return bool(state.signal == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    ran = late("lens", "on_input")
    units = late("lens", "mapped")
    numbers = late("lens", "operands")

    model: Annotated[str, Model("Model", family="convolution", as_list=True)] = NETWORK
    layer: Annotated[
        str | None, Choice("Layer", late("bounds", "layers"), first=late("bounds", "last_below_the_logits"))
    ] = None
    over: Annotated[str, Choice("Over the input", FIELDS)] = ONE
    digit: Annotated[
        str | None,
        Drawing(
            "Draw a digit, or pick one",
            late(INPUTS, "side"),
            late(INPUTS, "digits"),
            when=late(INPUTS, "sees_pictures"),
        ),
    ] = None
    signal: Annotated[
        str,
        Choice("Signal", late(INPUTS, "curves"), help="Or draw a curve.", when=late(INPUTS, "sees_signals")),
    ] = "3"
    curve: Annotated[
        str | None,
        Drawing("Draw a curve from left to right", 40, late(INPUTS, "sketches"), when=drawn_by_hand),
    ] = None
    channel: Annotated[
        int | None,
        Slider(
            "Channel",
            0,
            late("bounds", "last_channel"),
            first=late("bounds", "loudest_channel"),
            help="Starts at the strongest.",
            when=late("bounds", "has_maps"),
        ),
    ] = None
    row: Annotated[
        int | None,
        Slider(
            late("bounds", "row_label"),
            0,
            late("bounds", "last_row"),
            first=late("bounds", "strongest_row"),
            help="Starts at the strongest unit's. Or click a unit.",
        ),
    ] = None
    column: Annotated[
        int | None,
        Frame(late("bounds", "column_label"), seconds=0.15, first=late("bounds", "strongest_column")),
    ] = None
    into: Annotated[
        int | None,
        Slider(
            "Input channel",
            0,
            late("bounds", "last_input_channel"),
            first=late("bounds", "loudest_input_channel"),
            help="Starts at the one whose products add up to most.",
            when=late("bounds", "has_input_channels"),
            at="below",
        ),
    ] = None


ROOM = Room(
    title="Receptive field",
    idea="A unit depends on a box of the input that its layers fix; the gradient shows what counts.",
    place=30,
    minutes=7,
    words=(
        "saliency; effective receptive field; CNN; convolutional network; gradient of a logit; "
        "backpropagation"
    ),
    references=(
        "[UDL] §10.2-10.4, figures 10.3-10.7, problems 10.9-10.11, 10.17",
        "Luo, Li, Urtasun, Zemel 2016, the effective receptive field, arXiv:1701.04128",
        "Greydanus, Kobak 2020, MNIST-1D, arXiv:2011.14439",
    ),
    lenses=("receptive_field",),
    machine="convolution",
    symbols={
        "d": "a feature of the last layer",
        r"\omega": "weight of the output layer",
        "h": "output of the last layer",
    },
    state=State,
    scenes={
        "Effective receptive field": Scene(
            "Averaged over ten inputs, the gradient is large in the middle of the box and small at its rim.",
            State(over=MANY, channel=28, row=3, column=3),
        ),
        "First layer": Scene(
            "In the first layer the box is the kernel, and the gradient its weights, whatever the digit.",
            State(layer=FIRST),
        ),
        "Strongest unit": Scene(
            "Blue frames the receptive field of the unit; orange is its gradient in each pixel.", State()
        ),
        "Logit": Scene(
            "A dense unit reads all units below it: no receptive field is larger.", State(layer=LOGITS)
        ),
        "Number of paths": Scene(
            "Whatever the weights are, more paths lead to the middle of the box than to its rim.",
            State(over=PATHS, row=3, column=3),
        ),
        "Signal": Scene(
            "In a signal of 40 numbers the receptive field is an interval.",
            State(model=ON_SIGNALS, over=PATHS),
        ),
    },
    was={
        1: "Strongest unit",
        3: "Logit",
        4: "Effective receptive field",
        "The strongest unit": "Strongest unit",
        "The first layer": "First layer",
        "A logit": "Logit",
        "The effective field": "Effective receptive field",
        "Only paths": "Number of paths",
        "A signal": "Signal",
    },
)
