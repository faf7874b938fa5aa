"""Own stack: what the room is, what its controls hold, its scenes."""

from dataclasses import make_dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Number, Place, Room, Scene, Slider, Toggle, keys, late

SIGNAL, IMAGE = "signal", "image"
OWN, MOST = "own", 5
WEIGHTS = ("all ones", "random", "edge")
RANGES = {"k": (1, 9, 3), "s": (1, 4, 1), "d": (1, 8, 1), "p": (0, 9, 0)}  # letter -> lowest, highest, usual


def of_layer(layer: int, letter: str) -> tuple[str, Any, Any]:
    """A number of one layer: K, s, d or p."""
    low, high, usual = RANGES[letter]
    label = f"{'K' if letter == 'k' else letter} {layer}"
    control = Number(label, low, high, row=f"layer {layer}", when=lambda s: s.depth >= layer)
    return f"{letter}{layer}", Annotated[int, control], usual


def settings(state: Any) -> tuple[tuple[int, ...], ...]:
    """K, s, d and p of each layer."""
    return tuple(tuple(getattr(state, f"{l}{k}") for l in RANGES) for k in range(1, state.depth + 1))


def a_signal(state: Any) -> bool:
    return bool(state.input == SIGNAL)


def an_image(state: Any) -> bool:
    return bool(state.input == IMAGE)


def drawn_by_hand(state: Any) -> bool:
    return a_signal(state) and bool(state.signal == OWN)


State: Any = make_dataclass(
    "State",
    [
        ("input", Annotated[str, Choice("Input", (SIGNAL, IMAGE))], SIGNAL),
        (
            "depth",
            Annotated[
                int,
                Slider("Layers", 1, MOST, help="Kernel K, stride s, dilation d, padding p of each layer."),
            ],
            3,
        ),
        *(of_layer(layer, letter) for layer in range(1, MOST + 1) for letter in RANGES),
        (
            "over",
            Annotated[str, Choice("Over the input", ("this input", "ten inputs", "paths"))],
            "this input",
        ),
        ("w", Annotated[str, Choice("Weights", WEIGHTS)], WEIGHTS[0]),
        ("relu", Annotated[bool, Toggle("ReLU behind each layer")], False),
        ("seed", Annotated[int, Number("Seed of random weights", 0, 999)], 0),
        (
            "signal",
            Annotated[str, Choice("Signal", late("lens", "curves"), help="Or draw a curve.", when=a_signal)],
            "3",
        ),
        (
            "curve",
            Annotated[
                str | None,
                Drawing("Draw a curve from left to right", 40, late("lens", "sketches"), when=drawn_by_hand),
            ],
            None,
        ),
        (
            "digit28",
            Annotated[
                str | None,
                Drawing("Draw a digit, or pick one", 28, late("lens", "digits"), when=an_image),
            ],
            None,
        ),
        ("cone", Annotated[tuple[float, float] | None, Place("Unit")], None),
    ],
    frozen=True,
    kw_only=True,
    namespace={"__module__": __name__, "settings": property(settings)},
)
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
