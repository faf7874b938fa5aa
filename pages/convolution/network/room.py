"""Whole network: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Drawing, Frame, Model, Room, Scene, Text, Toggle, late

NETWORK, SIDE = "cnn-mnist", 28


@dataclass(frozen=True, kw_only=True)
class State:
    ran = late("sheet", "on_digit")

    model: Annotated[
        str, Model("Model", family="convolution", only=late("lens", "reads_digits"), as_list=True)
    ] = NETWORK
    digit: Annotated[
        str | None,
        Drawing("Draw a digit, or pick one", SIDE, late("lab.lenses.drawing", "examples", (SIDE,))),
    ] = None
    off: Annotated[bool, Toggle("Set the framed map to 0", help="All later layers are computed again.")] = (
        False
    )
    layer: Annotated[int | None, Frame("Layer", seconds=1.0)] = None
    unit: Annotated[
        str,
        Text(
            "Unit: layer, map, row, column",
            30,
            reads=late("lens", "unit_of"),
            area=False,
        ),
    ] = ""


ROOM = Room(
    title="Whole network",
    idea="From pixels to logits: every map of a CNN on one sheet, and one unit's number in each layer.",
    place=60,
    minutes=7,
    words="CNN for MNIST; feature maps; convolutional network; activations; handwritten digit; ablation",
    references=(
        "[UDL] §10.3–10.4, notebook 10.5",
        "Wang et al. 2021, CNN Explainer, arXiv:2004.15004",
    ),
    lenses=("receptive_field",),
    machine="convolution",
    symbols={
        "d": "a feature of the last layer",
        r"\omega": "weight of the output layer",
        "h": "output of the last layer",
        "x": "grey level of a pixel",
        "i": "row",
        "j": "column",
    },
    state=State,
    scenes={
        "Forward pass": Scene(
            "Pixels become 16, 32, then 64 feature maps, each on a coarser grid, then ten probabilities.",
            State(digit="3"),
        ),
        "First feature maps": Scene(
            "In the first layer each map marks edges of some slopes: the blue patch gives the red unit.",
            State(digit="4", layer=1),
        ),
        "Max pooling": Scene(
            "Max pooling keeps the largest of four units: the maps are half as wide and look the same.",
            State(digit="4", layer=2),
        ),
        "Deep feature maps": Scene(
            "In the third layer most units are 0, and no map of 7×7 units looks like the digit any more.",
            State(digit="0", layer=5),
        ),
        "Logits": Scene(
            "A logit weighs all units of the last maps; the softmax of ten logits is the prediction.",
            State(digit="8"),
        ),
        "Map set to zero": Scene(
            "Without one of 16 maps, framed red, the network reads this 3 as a 1: compare the bars.",
            State(digit="3", layer=1, unit="1 6 14 14", off=True),
        ),
    },
)
