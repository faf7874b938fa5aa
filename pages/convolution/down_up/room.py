"""Down and up: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Number, Room, Scene, Slider, Text, late

VIEWS = PATH, POOLINGS, UPSAMPLINGS, WRITES, MATRICES = (
    "Down and up", "Poolings compared", "Upsamplings compared", "Transposed convolution",
    "A and its transpose",
)  # fmt: skip
SOURCES = NUMBERS, DIGIT = "numbers", "digit"
DOWN = SUBSAMPLE, MAX, MEAN, POWER, STOCHASTIC, BLUR, STRIDED = (
    "subsampling", "max pooling", "mean pooling", "L_k pooling", "stochastic pooling", "max-blur pooling",
    "strided convolution",
)  # fmt: skip
UP = NEAREST, UNPOOL, BILINEAR, TRANSPOSED, SHUFFLE = (
    "nearest", "unpooling", "bilinear", "transposed convolution", "pixel shuffle"
)  # fmt: skip
GRIDS = HALF, CORNERS, INSERT = "half-pixel", "align-corners", "zero-insert"
FORMS = SUM, AVERAGE = "sum", "mean"
WORKED = "1 3 5 3; 6 2 0 8; 4 6 1 4; 2 8 0 3"  # [UDL] notebook 10.4
LINEAR, ONES, THREE, FOUR = "0.25 0.75 0.75 0.25", "1 1", "1 1 1", "1 1 1 1"
KERNELS = {"Linear": LINEAR, "1 1 1": THREE, "1 2 3": "1 2 3"}
SMOOTH = "0.25 0.5 0.25"
SIDE = 16
TYPED = late("lab.lenses.typed", "commas")


def is_path(state: Any) -> bool:
    return bool(state.view == PATH)


def has_picture(state: Any) -> bool:
    return bool(state.view in (PATH, POOLINGS, UPSAMPLINGS))


def is_typed(state: Any) -> bool:
    return has_picture(state) and bool(state.source == NUMBERS)


def is_drawn(state: Any) -> bool:
    return has_picture(state) and bool(state.source == DIGIT)


def goes_down(state: Any) -> bool:
    return bool(state.view in (PATH, UPSAMPLINGS))


def has_power(state: Any) -> bool:
    return bool(state.view == POOLINGS) or (goes_down(state) and state.down == POWER)


def writes(state: Any) -> bool:
    return not has_picture(state)


def has_taps(state: Any) -> bool:
    return (
        writes(state) or state.view == UPSAMPLINGS or (is_path(state) and state.up in (TRANSPOSED, SHUFFLE))
    )


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = PATH
    source: Annotated[str, Choice("Picture", SOURCES, when=has_picture)] = NUMBERS
    x: Annotated[
        str,
        Text("Numbers x, row by row", 300, reads=late("lens", "typed"), examples={"Worked": WORKED},
             area=False, when=is_typed, help="Rows between semicolons, up to eight of up to eight numbers."),
    ] = WORKED  # fmt: skip
    digit: Annotated[
        str | None,
        Drawing("Draw a digit, or pick one", SIDE, late("lab.lenses.drawing", "examples", (SIDE,)),
                when=is_drawn),
    ] = None  # fmt: skip
    down: Annotated[str, Choice("Down", DOWN, as_list=True, when=goes_down)] = MAX
    power: Annotated[int, Slider("Power k", 1, 10, when=has_power)] = 2
    form: Annotated[str, Choice("L_k of the", FORMS, when=has_power)] = SUM
    seed: Annotated[
        int, Number("Seed", 0, 99, when=lambda s: goes_down(s) and s.down == STOCHASTIC)
    ] = 0  # fmt: skip
    smooth: Annotated[
        str,
        Text("Kernel of the convolution", 60, reads=late("lens", "kernel"), area=False, says=TYPED,
             when=lambda s: goes_down(s) and s.down == STRIDED, help="Along both axes: ω ωᵀ."),
    ] = SMOOTH  # fmt: skip
    up: Annotated[str, Choice("Up", UP, as_list=True, when=is_path)] = UNPOOL
    grid: Annotated[
        str, Choice("Grid", GRIDS, as_list=True, when=lambda s: is_path(s) and s.up == BILINEAR)
    ] = HALF  # fmt: skip
    signal: Annotated[
        str, Text("Input x", 100, reads=late("lens", "signal"), area=False, says=TYPED, when=writes)
    ] = FOUR
    taps: Annotated[
        str,
        Text("Kernel ω", 60, reads=late("lens", "kernel"), examples=KERNELS, area=False, says=TYPED,
             when=has_taps),
    ] = LINEAR  # fmt: skip
    size: Annotated[int, Slider("Block and stride s", lambda s: 1 if writes(s) else 2, 4)] = 2
    padding: Annotated[int, Slider("Padding p", 0, 3, when=writes)] = 0
    more: Annotated[int, Slider("Output padding", 0, 3, when=writes, help="Below the stride.")] = 0
    times: Annotated[int, Slider("Times down and up", 1, 3, when=is_path)] = 1
    cell: Annotated[int, Frame("Cell", seconds=0.8, when=has_picture)] = 4
    step: Annotated[int, Frame("Input", seconds=1.0, when=writes)] = 1


ROOM = Room(
    title="Down and up",
    idea="Pooling keeps one number of a block; upsampling has to fill the block from that number.",
    place=40,
    minutes=8,
    words="downsampling; upsampling; max pooling; mean pooling; average pooling; L_k pooling; "
    "stochastic pooling; blur pooling; subsampling; strided convolution; unpooling; bilinear interpolation; "
    "transposed convolution; deconvolution; pixel shuffle; sub-pixel convolution; checkerboard artefacts; "
    "output padding",
    references=(
        "[UDL] §10.4.1-10.4.2, figures 10.11-10.13, notebook 10.4",
        "Shi et al. 2016, arXiv:1609.05158; Odena et al. 2016; Zhang 2019, arXiv:1904.11486",
        "Zeiler & Fergus 2013, arXiv:1301.3557; Sermanet et al. 2012, arXiv:1204.3968",
    ),
    state=State,
    symbols={
        "x": "the picture, or the input", "z": "the smaller picture", "y": "the larger one, or the output",
        "u": "place on the grid of the smaller picture", "c": "channel",
        r"\omega": "weights of the kernel", "A": "matrix of the strided convolution",
        r"\mathrm{op}": "output padding", "k": "the power", "p": "zero padding, or a probability",
        r"\mathrm{mean}": "mean of the block",
    },
    scenes={
        "Unpooling": Scene(
            "Each maximum returns to its stored place, all else is 0: the place is restored, not the detail.",
            State(),
        ),
        "Poolings": Scene(
            "One block, 1 3 6 2: subsampling keeps 1, the mean is 3, the maximum 6; L_k lies between.",
            State(view=POOLINGS, cell=0, form=AVERAGE),
        ),
        "Bilinear": Scene(
            "Bilinear three times: half-pixel, align-corners and zero-insert give other first rows.",
            State(view=UPSAMPLINGS, cell=1),
        ),
        "Digit": Scene(
            "Twice down, 256 pixels become 16 numbers; twice up, shade and place return, the strokes do not.",
            State(source=DIGIT, down=MEAN, up=BILINEAR, times=2, cell=120),
        ),
        "Pixel shuffle": Scene(
            "Four channels are interleaved: the lit cell of y is one cell of one channel.",
            State(up=SHUFFLE, cell=6),
        ),
        "Checkerboard": Scene(
            "K = 3, s = 2: outputs are written once or twice in turns, in two dimensions 1, 2 or 4 times.",
            State(view=WRITES, taps=THREE, step=2),
        ),
        "K = 4": Scene(
            "K = 4, s = 2: away from the border every output is written twice, the checkerboard is gone.",
            State(view=WRITES, taps=FOUR, step=2),
        ),
        "Transpose": Scene(
            "Row 1 of A reads three places; column 1 of its transpose writes the same three weights.",
            State(view=MATRICES, taps="1 2 3", signal="1 10 100", padding=1, more=1, step=1),
        ),
        "2n − 1": Scene(
            "K = 3, s = 2, p = 1: four inputs become 7 outputs, not 8; an output padding of 1 adds the last.",
            State(view=WRITES, taps=THREE, padding=1, step=3),
        ),
    },
)  # fmt: skip
