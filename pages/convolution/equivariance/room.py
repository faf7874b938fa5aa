"""Equivariance: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Room, Scene, Slider, Text, late

VIEWS = MAPS, CLASS, QUARTERS, ANGLES = (
    "Feature map", "Class probability", "Quarter turns", "Class by angle",
)  # fmt: skip
LAYERS = CONVOLUTION, STRIDED, MAX, BLUR = (
    "convolution", "strided convolution", "max pooling", "max-blur pooling",
)  # fmt: skip
BORDERS = ZEROS, CIRCULAR = "zeros", "circular"
SIDE, NETWORK = 48, "cnn-mnist"
SOBEL, POINT = "-1 0 1; -2 0 2; -1 0 1", "1"
KERNELS = {"Sobel": SOBEL, "Identity": POINT, "Laplacian": "0 1 0; 1 -4 1; 0 1 0"}
FARTHEST = 12  # pixels that a picture is moved
ORIENTATIONS = ONE, GROUP = "one", "all four (p4)"
TURNING = "p4cnn-mnist"
ANGLE = 15  # degrees from a frame to the next


def has_maps(state: Any) -> bool:
    return bool(state.view == MAPS)


def turns(state: Any) -> bool:
    return bool(state.view == QUARTERS)


def rotates(state: Any) -> bool:
    return bool(state.view == ANGLES)


def shows_pictures(state: Any) -> bool:
    return has_maps(state) or turns(state)


def reads_digits(state: Any) -> bool:
    return not shows_pictures(state)


def shifts(state: Any) -> bool:
    return not turns(state) and not rotates(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = MAPS
    layer: Annotated[str, Choice("f: the kernel, then", LAYERS, as_list=True, when=has_maps)] = CONVOLUTION
    stride: Annotated[
        int, Slider("Stride s", 2, 4, when=has_maps, help="Of all layers but the plain convolution.")
    ] = 2  # fmt: skip
    omega: Annotated[
        str,
        Text("Kernel ω", 300, reads=late("lens", "kernel"), examples=KERNELS, area=False, when=shows_pictures,
             help="Rows between semicolons, with odd sides up to seven."),
    ] = SOBEL  # fmt: skip
    border: Annotated[
        str, Choice("Beyond the border", BORDERS, when=has_maps, help="What enters there, too.")
    ] = ZEROS
    knows: Annotated[str, Choice("Orientations of the kernel", ORIENTATIONS, when=turns)] = GROUP
    photo: Annotated[
        str | None,
        Drawing(
            "Draw, pick or upload a picture",
            SIDE,
            late("lab.lenses.photographs", "shelf"),
            colour=True,
            when=shows_pictures,
        ),
    ] = None
    model: Annotated[
        str, Model("Model", family="convolution", only=late("lens", "fits"), as_list=True, when=reads_digits)
    ] = NETWORK
    digit: Annotated[
        str | None,
        Drawing("Draw a digit, or pick one", 28, late("lab.lenses.drawing", "examples", (28,)),
                when=reads_digits),
    ] = None  # fmt: skip
    turning: Annotated[
        str,
        Model(
            "Over p4", family="convolution", only=late("rotation", "knows_turns"), as_list=True, when=rotates
        ),
    ] = TURNING
    shift: Annotated[int, Frame("Shift t =", seconds=0.7, when=shifts)] = 3
    turn: Annotated[int, Frame("Quarter turns k =", seconds=1.0, when=turns)] = 1
    angle: Annotated[int, Frame("Angle", range(0, 360, ANGLE), seconds=0.4, when=rotates)] = 90


ROOM = Room(
    title="Equivariance",
    idea="Move the input and a convolution's output moves with it, but for the border and the stride.",
    place=45,
    minutes=6,
    words="translation equivariance; translation invariance; shift; shift invariance; aliasing; "
    "blur pooling; max pooling; anti-aliasing; stride; zero padding; circular padding; CNN; "
    "rotation equivariance; rotation invariance; group convolution; p4; group equivariant CNN; symmetry",
    references=(
        "[UDL] §10.1, §10.4, problem 10.1, notes of chapter 10",
        "Zhang 2019, arXiv:1904.11486 (blur pooling); Azulay & Weiss 2019, arXiv:1805.12177",
        "Cohen & Welling 2016, arXiv:1602.07576 (convolution over p4)",
    ),
    state=State,
    symbols={
        "f": "the layer", "x": "the picture", "t": "pixels that the input is moved to the right",
        "s": "stride", "u": "cells that the output is moved", r"\tau": "moves to the right",
        r"\epsilon": "difference over f(x), root mean squares, without the border",
        "p": "probability of the class", "y": "the class", r"\rho": "turn by a quarter, counterclockwise",
        "k": "quarter turns of the input", "r": "orientation of the kernel", r"\alpha": "angle, in degrees",
        r"p_{\mathrm{CNN}}": "probability of the class by the CNN",
        r"p_{\mathrm{p4}}": "probability of the class by the network over p4",
    },
    scenes={
        "Convolution": Scene(
            "Shift and convolve in either order: inside the frame the difference is 0, at the rim not.",
            State(shift=4),
        ),
        "Circular": Scene(
            "What leaves on the right enters on the left: without a border the difference is 0 everywhere.",
            State(border=CIRCULAR, shift=4),
        ),
        "Stride 2": Scene(
            "By three pixels: no whole cell of the output fits, and the difference is as large as the edges.",
            State(layer=STRIDED, shift=3),
        ),
        "Even shift": Scene(
            "By four pixels the output moves by two cells: stride 2 is equivariant to even shifts alone.",
            State(layer=STRIDED, shift=4),
        ),
        "Max pooling": Scene(
            "Max pooling has the stride too: at odd shifts its output changes, though less.",
            State(layer=MAX, shift=3),
        ),
        "Blur pooling": Scene(
            "A low-pass filter before the stride: what changes at odd shifts is smaller.",
            State(layer=BLUR, shift=3),
        ),
        "Digit": Scene(
            "Six pixels halve the probability of the 4: the dense layer has other weights at every place.",
            State(view=CLASS, digit="4", shift=6),
        ),
        "Quarter turn": Scene(
            "With a kernel in four orientations, quarter turns of the picture turn the maps: rows are equal.",
            State(view=QUARTERS, turn=1),
        ),
        "Turned digit": Scene(
            "Upside down the 6 is a 9 to the CNN; the network over p4 reads a 6 after every quarter turn.",
            State(view=ANGLES, digit="6", angle=180),
        ),
    },
)  # fmt: skip
