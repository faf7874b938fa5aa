"""Images as tokens: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Fixed, Frame, Room, Scene, Slider, Toggle, late

SIDE, LARGE_SIDE = 8, 28  # pixels of a picture
VIT, LARGE, SWIN, DAVIT = "ViT", "ViT, 28 × 28", "Swin", "DaViT"
VIEWS = (VIT, LARGE, SWIN, DAVIT)


def windowed(state: Any) -> bool:
    return bool(state.view == SWIN)


def enlarged(state: Any) -> bool:
    return bool(state.view == LARGE)


def small(state: Any) -> bool:
    return not enlarged(state)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("Transformer", VIEWS, as_list=True)] = SWIN
    digit: Annotated[
        str | None,
        Drawing(
            "Draw a digit, or pick one", SIDE, late("lab.lenses.drawing", "examples", (SIDE,)), when=small
        ),
    ] = None
    sketch: Annotated[
        str | None,
        Drawing("Draw a digit, or pick one", LARGE_SIDE, late("lens", "sketches"), when=enlarged),
    ] = None
    row: Annotated[int, Slider("Row of the token", 0, SIDE - 1, when=windowed)] = 3
    column: Annotated[int, Slider("Column of the token", 0, SIDE - 1, when=windowed)] = 3
    shift: Annotated[
        bool, Toggle("Shifted windows", when=windowed, help="Every other block shifts by two tokens.")
    ] = True
    vit: Fixed = "vit-digits"
    large: Fixed = "vit-mnist"
    swin: Fixed = "swin-digits"
    davit: Fixed = "davit-digits"
    layer: Annotated[int | None, Frame("Layer", seconds=0.8)] = None


ROOM = Room(
    title="Images as tokens",
    idea="Patches are tokens; windows or channels make attention among them cheaper.",
    place=90,
    minutes=8,
    words="vision transformer; ViT; patch embedding; attention rollout; Swin; shifted windows; window "
    "attention; relative position bias; patch merging; DaViT; channel attention; dual attention",
    references=(
        "[UDL] 12.10, figures 12.17 and 12.18, problem 12.9",
        "Dosovitskiy et al. 2020, arXiv:2010.11929; Abnar and Zuidema 2020, arXiv:2005.00928 (rollout)",
        "Liu et al. 2021, arXiv:2103.14030 (Swin); Ding et al. 2022, arXiv:2204.03645 (DaViT)",
    ),
    state=State,
    symbols={
        "A": "attention of a layer, mean of its heads", "A_l": "attention of layer l, mean of its heads",
        "R_l": "rollout after layer l", "R_{l-1}": "rollout before it", "I": "identity: the residual stream",
        "M": "tokens of a window's side", "Q": "queries of all patches", "K": "keys of all patches",
        "N": "patches", r"\#": "number of", "l": "layer", "s": "tokens of a shift",
    },
    scenes={
        "Strokes": Scene(
            "Rollout of 28 × 28 pixels: <cls> draws on patches with ink over twice as much as on empty ones.",
            State(view=LARGE, layer=3),
        ),
        "Shifted window": Scene(
            "W, then SW: token (3, 3) has crossed its window's border, its reach is all 64 tokens.",
            State(layer=2),
        ),
        "Region mask": Scene(
            "The mask keeps opposite borders apart: after W and SW the corner reaches 16 tokens only.",
            State(row=0, column=0, layer=2),
        ),
        "W, SW, W": Scene(
            "A third block hands on what the second gathered: the corner, too, reaches all 64 tokens.",
            State(row=0, column=0, layer=3),
        ),
        "No shift": Scene(
            "Without shifted windows no block crosses a border: 16 tokens after three blocks.",
            State(shift=False, layer=3),
        ),
        "Attention rollout": Scene(
            "ViT: after three layers <cls> has drawn on patches of the middle rows more than on the corners.",
            State(view=VIT, layer=2),
        ),
        "First layer": Scene(
            "ViT after one layer: <cls> looks at a few patches alone; later layers multiply, and spread it.",
            State(view=VIT, layer=0),
        ),
        "Channel attention": Scene(
            "DaViT: channels are the tokens: a 48 × 48 matrix, however many patches there are.",
            State(view=DAVIT, layer=1),
        ),
    },
)  # fmt: skip
