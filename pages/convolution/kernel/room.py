"""Kernel: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Frame, Room, Scene, Slider, Text, late

SAYS = late("lab.lenses.typed", "commas")
MEAN, EDGE = "0.33 0.33 0.33", "-1 0 1"
SIGNAL = "5.2 5.3 5.4 5.1 10.1 10.3 9.9 10.3 3.2 3.4 3.3 3.1"  # [UDL] notebook 10.1
KERNELS = {"Mean": MEAN, "Edge": EDGE, "Uneven": "-1 0.5 -0.2"}
SIGNALS = {"Two steps": SIGNAL, "One step": "0 0 0 0 1 1 1 1", "Digits of π": "3 1 4 1 5 9"}


@dataclass(frozen=True, kw_only=True)
class State:
    taps: Annotated[
        str, Text("Kernel ω", 80, reads=late("lens", "numbers_of", (9,)), examples=KERNELS, says=SAYS)
    ] = MEAN
    stride: Annotated[int, Slider("Stride s", 1, 4)] = 1
    dilation: Annotated[int, Slider("Dilation d", 1, 4)] = 1
    padding: Annotated[int, Slider("Padding p", 0, 6)] = 1
    bias: Annotated[float, Slider("Bias β", -5.0, 5.0, step=0.5)] = 0.0
    x: Annotated[
        str,
        Text("Input x", 300, reads=late("lens", "signal", (40,)), examples=SIGNALS, says=SAYS, area=False),
    ] = SIGNAL
    step: Annotated[int, Frame("Output", seconds=0.6)] = 1


ROOM = Room(
    title="Kernel",
    idea="A convolution slides a small kernel along the input: a dense layer of shared, mostly zero weights.",
    place=10,
    minutes=6,
    words="convolution; stride; dilation; padding; filter; weight sharing; CNN; convolutional network",
    references=("[UDL] §10.2-10.4, figures 10.3-10.7, problems 10.9-10.11",),
    lenses=("receptive_field",),
    state=State,
    scenes={
        "Moving average": Scene(
            "Each output is the mean of three neighbouring inputs: a step of the input becomes a ramp.",
            State(step=7),
        ),
        "Edge detection": Scene(
            "With weights −1, 0, 1 the output is large where the input jumps: positive up, negative down.",
            State(taps=EDGE, padding=0, step=6),
        ),
        "Stride 2": Scene(
            "Stride 2 moves the kernel by two inputs a step: the matrix keeps every second row.",
            State(stride=2, step=3),
        ),
        "Dilation 2": Scene(
            "Dilation 2 spreads the three weights over five inputs, and leaves out every second one.",
            State(dilation=2, padding=2, step=5),
        ),
    },
    was={
        2: "Stride 2",
        3: "Dilation 2",
        4: "Edge detection",
        "Smooth": "Moving average",
        "Every second output": "Stride 2",
        "Dilated": "Dilation 2",
        "Edges": "Edge detection",
    },
)
