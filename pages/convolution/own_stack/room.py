"""Own stack: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Number, Place, Room, Scene, Slider, Toggle, keys, late

SIGNAL, IMAGE = "signal", "image"
OWN, MOST = "own", 5
WEIGHTS = ("all ones", "random", "edge")
RANGES = {"K": (1, 9), "s": (1, 4), "d": (1, 8), "p": (0, 9)}


def of_layer(layer: int, letter: str) -> Number:
    """A number of one layer: kernel K, stride s, dilation d or padding p."""
    low, high = RANGES[letter]
    return Number(
        f"{letter} {layer}", low, high, row=f"layer {layer}", when=lambda state: state.depth >= layer
    )


def a_signal(state: Any) -> bool:
    return bool(state.input == SIGNAL)


def an_image(state: Any) -> bool:
    return bool(state.input == IMAGE)


def drawn_by_hand(state: Any) -> bool:
    return a_signal(state) and bool(state.signal == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    input: Annotated[str, Choice("Input", (SIGNAL, IMAGE))] = SIGNAL
    depth: Annotated[
        int, Slider("Layers", 1, MOST, help="Kernel K, stride s, dilation d, padding p of each layer.")
    ] = 3
    k1: Annotated[int, of_layer(1, "K")] = 3
    s1: Annotated[int, of_layer(1, "s")] = 1
    d1: Annotated[int, of_layer(1, "d")] = 1
    p1: Annotated[int, of_layer(1, "p")] = 0
    k2: Annotated[int, of_layer(2, "K")] = 3
    s2: Annotated[int, of_layer(2, "s")] = 1
    d2: Annotated[int, of_layer(2, "d")] = 1
    p2: Annotated[int, of_layer(2, "p")] = 0
    k3: Annotated[int, of_layer(3, "K")] = 3
    s3: Annotated[int, of_layer(3, "s")] = 1
    d3: Annotated[int, of_layer(3, "d")] = 1
    p3: Annotated[int, of_layer(3, "p")] = 0
    k4: Annotated[int, of_layer(4, "K")] = 3
    s4: Annotated[int, of_layer(4, "s")] = 1
    d4: Annotated[int, of_layer(4, "d")] = 1
    p4: Annotated[int, of_layer(4, "p")] = 0
    k5: Annotated[int, of_layer(5, "K")] = 3
    s5: Annotated[int, of_layer(5, "s")] = 1
    d5: Annotated[int, of_layer(5, "d")] = 1
    p5: Annotated[int, of_layer(5, "p")] = 0
    over: Annotated[str, Choice("Over the input", ("this input", "ten inputs", "paths"))] = "this input"
    w: Annotated[str, Choice("Weights", WEIGHTS)] = WEIGHTS[0]
    relu: Annotated[bool, Toggle("ReLU behind each layer")] = False
    seed: Annotated[int, Number("Seed of random weights", 0, 999)] = 0
    signal: Annotated[
        str, Choice("Signal", late("lens", "curves"), help="Or draw a curve.", when=a_signal)
    ] = "3"
    curve: Annotated[
        str | None,
        Drawing("Draw a curve from left to right", 40, late("lens", "sketches"), when=drawn_by_hand),
    ] = None
    digit28: Annotated[
        str | None, Drawing("Draw a digit, or pick one", 28, late("lens", "digits"), when=an_image)
    ] = None
    cone: Annotated[tuple[float, float] | None, Place("Unit")] = None

    @property
    def settings(self) -> tuple[tuple[int, int, int, int], ...]:
        """K, s, d and p of each layer."""
        every = (
            (self.k1, self.s1, self.d1, self.p1),
            (self.k2, self.s2, self.d2, self.p2),
            (self.k3, self.s3, self.d3, self.p3),
            (self.k4, self.s4, self.d4, self.p4),
            (self.k5, self.s5, self.d5, self.p5),
        )
        return every[: self.depth]


(CONE,) = keys(State, Place)

ROOM = Room(
    title="Own stack",
    idea="Each layer widens the receptive field by d(K − 1) steps of the layer below; strides multiply.",
    place=20,
    minutes=5,
    words="dilated convolution; receptive field; convolutional network; CNN; stride; WaveNet",
    references=("[UDL] §10.2-10.4, problems 10.9-10.11",),
    lenses=("receptive_field",),
    state=State,
    scenes={
        "Dilations 1, 2, 4, 8": Scene(
            "With doubled dilations four layers of kernel 3 see 31 inputs; undilated they would see 9.",
            State(depth=4, d2=2, d3=4, d4=8),
        ),
        "Three layers of kernel 3": Scene(
            "Three layers of kernel 3 see 7 inputs: each layer adds two.", State()
        ),
        "Stride 2": Scene(
            "Stride 2 in every layer: fields of 3, 7 and 15 inputs, and the last input is never read.",
            State(s1=2, s2=2, s3=2),
        ),
        "Gridding": Scene(
            "Equal dilations of 2 leave gaps: the chosen unit never reads every second input.",
            State(depth=2, d1=2, d2=2),
        ),
        "Zero padding": Scene(
            "With padding 1 every layer keeps its 40 units; crosses are the zeros around it.",
            State(p1=1, p2=1, p3=1),
        ),
    },
    was={
        1: "Three layers of kernel 3",
        2: "Stride 2",
        3: "Dilations 1, 2, 4, 8",
        "Three by three": "Three layers of kernel 3",
        "The MNIST-1D network": "Stride 2",
        "Holes": "Gridding",
        "Padded": "Zero padding",
    },
)
