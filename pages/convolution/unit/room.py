"""What a unit wants: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Fixed, Frame, Model, Number, Room, Scene, Slider, Toggle, late

VIEWS = ASCENT, UNITS, INVERSION, DISSECTION, CONCEPTS = (
    "Activation maximisation", "Units of a layer", "Inversion", "Dissection", "Concepts by layer",
)  # fmt: skip
NETWORK, DISSECTED, LOGITS = "cnn-mnist", "cnn-textured", "logits"
STRENGTHS = 0, 1, 3, 10, 30, 100, 300
SHARES = 0.5, 1.0, 2.0, 5.0, 10.0, 20.0  # per cent


def searches(state: Any) -> bool:
    return state.view in (ASCENT, UNITS, INVERSION)


def ascends(state: Any) -> bool:
    return state.view in (ASCENT, UNITS)


def inverts(state: Any) -> bool:
    return bool(state.view == INVERSION)


def dissects(state: Any) -> bool:
    return not searches(state)


def has_layer(state: Any) -> bool:
    return bool(state.view != CONCEPTS)


def has_unit(state: Any) -> bool:
    return state.view in (ASCENT, DISSECTION)


def has_map(state: Any) -> bool:
    return ascends(state) and bool(state.layer != LOGITS)


def reads_digit(state: Any) -> bool:
    return inverts(state) and state.model != DISSECTED


def reads_texture(state: Any) -> bool:
    return inverts(state) and bool(state.model == DISSECTED)


@dataclass(frozen=True, kw_only=True)
class State:
    subject = late("lens", "subject")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = ASCENT
    model: Annotated[
        str,
        Model("Model", family="convolution", only=late("lens", "fits"), as_list=True, when=searches),
    ] = NETWORK  # fmt: skip
    dissected: Fixed = DISSECTED
    layer: Annotated[str, Choice("Layer", late("lens", "layers"), as_list=True, when=has_layer)] = LOGITS
    unit: Annotated[int, Number("Unit", 0, late("lens", "last_unit"), when=has_unit)] = 3
    everywhere: Annotated[
        bool, Toggle("Mean of its map", when=has_map, help="Else the unit in the middle of the map.")
    ] = False
    decay: Annotated[
        int, Choice("Decay λ_d", STRENGTHS, as_list=True, when=searches, row="prior")
    ] = 30  # fmt: skip
    variation: Annotated[
        int, Choice("Variation λ_v", STRENGTHS, as_list=True, when=searches, row="prior")
    ] = 100  # fmt: skip
    blur: Annotated[float, Slider("Blur σ", 0.0, 1.0, step=0.1, when=searches)] = 0.0
    seed: Annotated[int, Number("Seed of the noise", 0, 99, when=searches)] = 0
    digit: Annotated[
        str | None,
        Drawing("Draw, pick or upload a picture", 28, late("lab.lenses.drawing", "examples", (28,)),
                when=reads_digit),
    ] = None  # fmt: skip
    texture: Annotated[
        str | None,
        Drawing("Draw, pick or upload a picture", 32, late("networks", "shelf"), when=reads_texture),
    ] = None
    step: Annotated[int | None, Frame("Step", seconds=0.15, when=searches)] = None
    share: Annotated[float, Frame("Share above T", SHARES, seconds=1.2, when=dissects)] = 5.0


ROOM = Room(
    title="What a unit wants",
    idea="Gradient ascent on the input, inversion of a layer and exact masks say what a unit stands for.",
    place=175,
    minutes=7,
    words="activation maximisation; feature visualisation; gradient ascent; image prior; total variation; "
    "weight decay; network inversion; network dissection; concepts; IoU; texture; deep dream; "
    "interpretability; CNN",
    references=(
        "[UDL] notes of chapter 10",
        "Erhan et al. 2009; Simonyan et al. 2014, arXiv:1312.6034 (activation maximisation)",
        "Mahendran & Vedaldi 2015, arXiv:1412.0035 (inversion)",
        "Yosinski et al. 2015, arXiv:1506.06579 (blur)",
        "Bau et al. 2017, arXiv:1704.05796 (dissection)",
    ),
    state=State,
    symbols={
        "a": "the unit's value before its ReLU", "x": "the input", "R": "cost of the input by the prior",
        r"\varphi": "activations of the layer", r"\varphi_0": "those of the given picture",
        "A": "pixels where the unit is above its threshold", "C": "pixels of the concept",
        r"\cap": "pixels in both", r"\cup": "pixels in either",
        r"\mathrm{IoU}": "intersection over union",
    },
    scenes={
        "Class 3": Scene(
            "From noise: without a prior the input fills with contrast, with one the strokes of a 3 remain.",
            State(step=30),
        ),
        "First layer": Scene(
            "A unit of the first layer wants a patch of 5 × 5 pixels; no other pixel matters to it.",
            State(view=UNITS, layer="layer 1", decay=1, variation=3, step=30),
        ),
        "Third layer": Scene(
            "Units of the third layer want strokes and their crossings in a patch of 20 × 20 pixels.",
            State(view=UNITS, layer="layer 3", decay=10, variation=30, step=30),
        ),
        "Classes": Scene(
            "Logits want whole digits: 0, 3 and 6 can be read, from 1 and 4 only strokes are left.",
            State(view=UNITS, step=30),
        ),
        "Inversion": Scene(
            "The second layer still knows the digit: its activations give the picture back.",
            State(view=INVERSION, layer="layer 2", digit="4", decay=1, variation=3, step=40),
        ),
        "Inverted logits": Scene(
            "Ten logits match within a few per cent, and the picture is another: they have lost the rest.",
            State(view=INVERSION, digit="4", decay=1, variation=3, step=40),
        ),
        "Dissection": Scene(
            "Orange, where a unit of the second layer is above its threshold: its best concept is checks.",
            State(view=DISSECTION, layer="layer 2", unit=1),
        ),
        "Late unit": Scene(
            "A unit of the last layer fits circles best, dotted ones above all: its best concept is a shape.",
            State(view=DISSECTION, layer="layer 4", unit=30, share=10.0),
        ),
        "Concepts by layer": Scene(
            "Units of early layers fit textures; in the last two layers about half fit a shape best.",
            State(view=CONCEPTS),
        ),
    },
)  # fmt: skip
