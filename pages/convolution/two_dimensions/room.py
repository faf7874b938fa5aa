"""Convolution in two dimensions: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Room, Scene, Slider, Text, Toggle, late

VIEWS = ONE, THREE, MIXING, CHEAPER = "One kernel", "Three channels", "1×1", "Fewer weights"
SIDE = 48
TYPED, NETWORK = "typed", "cnn-mnist"
SOBEL, GAUSS, SHARPEN = "Sobel, left to right", "Gaussian, rank one", "Sharpen"
KERNELS = {
    "Identity": "0 0 0; 0 1 0; 0 0 0", "Blur 5×5": "; ".join(["0.04 0.04 0.04 0.04 0.04"] * 5),
    GAUSS: "0.0625 0.125 0.0625; 0.125 0.25 0.125; 0.0625 0.125 0.0625",
    SHARPEN: "0 -1 0; -1 5 -1; 0 -1 0", SOBEL: "-1 0 1; -2 0 2; -1 0 1",
    "Sobel, top to bottom": "-1 -2 -1; 0 0 0; 1 2 1", "Laplacian": "0 1 0; 1 -4 1; 0 1 0",
    "Emboss": "-2 -1 0; -1 1 1; 0 1 2", "Random": "0.4 -1.1 0.3; 0.9 0.2 -0.6; -0.5 0.7 -0.2",
}  # fmt: skip
NOTHING, FOR = "0 0 0; 0 0 0; 0 0 0", "0.1 0.1 0.1; 0.1 0.2 0.1; 0.1 0.1 0.1"
AGAINST = "-0.1 -0.1 -0.1; -0.1 -0.2 -0.1; -0.1 -0.1 -0.1"
SEPIA = "0.393 0.769 0.189; 0.349 0.686 0.168; 0.272 0.534 0.131"
GREY = "0.299 0.587 0.114"
MIXES = {"Grey": GREY, "Sepia": SEPIA, "Swap": "0 0 1; 0 1 0; 1 0 0", "Red against green": "1 -1 0",
         "Saturate": "1.8 -0.6 -0.2; -0.2 1.4 -0.2; -0.2 -0.6 1.8"}  # fmt: skip
ROWS = "Rows between semicolons, up to seven of up to seven numbers."


def is_one(state: Any) -> bool:
    return bool(state.view == ONE)


def is_three(state: Any) -> bool:
    return bool(state.view == THREE)


def is_mix(state: Any) -> bool:
    return bool(state.view == MIXING)


def is_typed(state: Any) -> bool:
    return is_one(state) and bool(state.source == TYPED)


def is_learned(state: Any) -> bool:
    return is_one(state) and state.source not in (*KERNELS, TYPED)


def slides(state: Any) -> bool:
    return bool(state.view in (ONE, THREE))


def has_photo(state: Any) -> bool:
    return bool(state.view != CHEAPER)


def counts(state: Any) -> bool:
    return not has_photo(state)


def of_channel(label: str) -> Text:
    """A kernel that one channel of the three is read with."""
    return Text(label, 300, reads=late("lens", "kernel"), area=False, help=ROWS, when=is_three)


@dataclass(frozen=True, kw_only=True)
class State:
    kernels = late("lens", "kernels")
    grid = late("lens", "grid")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = ONE
    source: Annotated[
        str,
        Model("Kernel", family="convolution", only=late("lens", "fits"), also=(*KERNELS, TYPED), when=is_one),
    ] = SOBEL
    omega: Annotated[
        str,
        Text("Kernel ω", 400, reads=late("lens", "kernel"), area=False, help=ROWS, when=is_typed),
    ] = KERNELS[SOBEL]  # fmt: skip
    filter: Annotated[int, Slider("Filter", 0, late("lens", "last_filter"), when=is_learned)] = 0
    red: Annotated[str, of_channel("Kernel on red")] = FOR
    green: Annotated[str, of_channel("Kernel on green")] = AGAINST
    blue: Annotated[str, of_channel("Kernel on blue")] = NOTHING
    mix: Annotated[
        str,
        Text("Matrix M", 300, reads=late("lens", "matrix"), examples=MIXES, area=False, when=is_mix,
             help="A row for each new channel, one or three; a column for red, green and blue."),
    ] = SEPIA  # fmt: skip
    stride: Annotated[int, Slider("Stride", 1, 4, when=slides, row="grid")] = 1
    padding: Annotated[int, Slider("Padding", 0, 6, when=slides, row="grid")] = 1
    dilation: Annotated[int, Slider("Dilation", 1, 4, when=slides, row="grid")] = 1
    bias: Annotated[float, Slider("Bias β", -1.0, 1.0, step=0.1, when=has_photo, row="after")] = 0.0
    relu: Annotated[bool, Toggle("ReLU", when=has_photo, row="after")] = False
    row: Annotated[
        int | None,
        Slider("Row i", 0, late("lens", "last_row"), first=late("lens", "middle_row"), when=has_photo,
               help="Or click a place of the output."),
    ] = None  # fmt: skip
    photo: Annotated[
        str | None,
        Drawing(
            "Draw, pick or upload a picture",
            SIDE,
            late("lab.lenses.photographs", "shelf"),
            colour=True,
            when=has_photo,
        ),
    ] = None
    channels: Annotated[int, Choice("Channels C", (2, 4, 6, 8), when=counts)] = 8
    groups: Annotated[int, Choice("Groups G", late("cheaper", "divisors"), when=counts)] = 4
    size: Annotated[int, Choice("Kernel K", (1, 3, 5), when=counts)] = 3
    seed: Annotated[int, Slider("Seed", 0, 20, when=counts, help="Of the weights that are drawn.")] = 0
    column: Annotated[int | None, Frame("Column j", seconds=0.25, first=late("lens", "middle_column"))] = None


ROOM = Room(
    title="Convolution in two dimensions",
    idea="Each output is the sum of a patch times the kernel; the same kernel reads every patch.",
    place=14,
    minutes=8,
    words="convolution; 2D convolution; filter; kernel; image filter; edge detection; Sobel; blur; sharpen; "
    "emboss; RGB; channels; feature map; 1×1 convolution; pointwise convolution; depthwise; "
    "depthwise separable; grouped convolution; rank-one kernel; separable filter; stride; dilation; padding",
    references=(
        "[UDL] §10.3, §10.4.3, notes of chapter 10, problem 10.14",
        "Chollet 2017, arXiv:1610.02357 (depthwise separable); Krizhevsky et al. 2012 (groups)",
    ),
    state=State,
    symbols={
        "h": "the output", "x": "the input", "y": "the new channels", r"\omega": "weights of the kernel",
        "i": "row", "j": "column", "m": "row of the kernel", "n": "column of the kernel",
        "s": "stride; with an index: what a channel adds", "s_R": "what red adds", "s_G": "what green adds",
        "s_B": "what blue adds", "M": "matrix of the channels", "C": "channels", "K": "rows of the kernel",
        "G": "groups",
    },
    scenes={
        "Sobel": Scene(
            "Blue where light rises from left to right, red where it falls; where it stays the output is 0.",
            State(row=21, column=8),
        ),
        "Gaussian": Scene(
            "The mean of nine neighbours: the wall of windows blurs into stripes, the sky stays as it is.",
            State(source=GAUSS, photo="temple", row=21, column=14),
        ),
        "Learned": Scene(
            "Learned from digits: an edge detector, blue above the foot of the 2 and red below it.",
            State(source=NETWORK, filter=0, photo="digit", padding=2, row=30, column=24),
        ),
        "Stride and dilation": Scene(
            "Dilation 2 leaves out every second pixel of the patch, stride 2 every second patch.",
            State(stride=2, dilation=2, padding=2, row=10, column=4),
        ),
        "Three channels": Scene(
            "A kernel for each channel, and one sum: red minus green is largest in the heart of the flower.",
            State(view=THREE, row=24, column=22),
        ),
        "Sepia": Scene(
            "A 1×1 convolution is one small matrix on the channels, the same at every pixel.",
            State(view=MIXING, row=24, column=22),
        ),
        "Depthwise": Scene(
            "Which blocks vanish? Depthwise keeps the diagonal; 1×1 keeps the middle of every block.",
            State(view=CHEAPER),
        ),
    },
)  # fmt: skip
