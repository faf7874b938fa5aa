"""Detection: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Room, Scene, Slider, Text, late

VIEWS = SUPPRESSION, CELL, BOXES, CURVE = "Suppression", "One cell", "Own boxes", "Precision and recall"
KINDS = HARD, SOFT = "hard", "soft"
OWN = "own"
NETWORK = "yolo-digits"
THREE = "3 30 34; 5 80 40; 8 52 84"
TOUCHING = "4 44 48; 4 58 48; 1 92 92"
TWO_CENTRES = "7 51 51 24; 1 62 62 24"
CROWD = "0 20 22; 1 56 20; 2 92 24; 3 20 58; 4 56 58; 5 92 60; 6 20 94; 7 56 94; 8 92 94"
TIE = "0 0 10 10 .9; 1 1 11 11 .8; 0 0 10 5 .7; 20 20 30 30 .6; 5 5 15 15 .95"


def pictured(state: Any) -> bool:
    return state.view in (SUPPRESSION, CELL)


def draws(state: Any) -> bool:
    return pictured(state) and (state.digit == OWN or OWN in str(state.digits))


def modelled(state: Any) -> bool:
    return bool(state.view != BOXES)


def typed(state: Any) -> bool:
    return bool(state.view == BOXES)


def suppresses(state: Any) -> bool:
    return bool(state.view != CELL)


def cuts(state: Any) -> bool:
    return state.view in (SUPPRESSION, BOXES)


def in_cells(state: Any) -> bool:
    return bool(state.view == CELL)


def measures(state: Any) -> bool:
    return bool(state.view == CURVE)


@dataclass(frozen=True, kw_only=True)
class State:
    look = late("lens", "looked")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = SUPPRESSION
    model: Annotated[
        str,
        Model("Model", family="convolution", only=late("lens", "fits"), as_list=True, when=modelled),
    ] = NETWORK
    digits: Annotated[
        str,
        Text("Digits", 300, reads=late("places", "placed"), area=False, when=pictured,
             help="3 30 34 36 is a 3 centred at x = 30, y = 34, in a square of 36 pixels; or click."),
    ] = THREE  # fmt: skip
    digit: Annotated[
        str, Choice("A click adds", (*map(str, range(10)), OWN), as_list=True, when=pictured)
    ] = "7"
    ink: Annotated[
        str | None,
        Drawing("Draw what stands for own", 28, late("lab.lenses.drawing", "examples", (28,)), when=draws),
    ] = None
    boxes: Annotated[
        str,
        Text("Boxes", 600, reads=late("places", "typed"), when=typed,
             help="Left, top, right, bottom, score, and a class if there are several; one on a line."),
    ] = TIE  # fmt: skip
    threshold: Annotated[
        float, Slider("Threshold τ", 0.05, 0.95, step=0.05, when=cuts, help="Lower scores are dropped.")
    ] = 0.1
    overlap: Annotated[
        float,
        Slider("Overlap t", 0.0, 1.0, step=0.05, when=suppresses, help="An IoU above t is too much."),
    ] = 0.5
    suppression: Annotated[
        str, Choice("Suppression", KINDS, when=suppresses, help="Soft: the score falls by 1 − IoU.")
    ] = HARD
    step: Annotated[int, Frame("Step", seconds=1.0, when=cuts)] = 2
    cell: Annotated[int, Frame("Cell", seconds=0.5, when=in_cells)] = 15
    cut: Annotated[int, Frame("τ =", seconds=0.4, when=measures)] = 5


ROOM = Room(
    title="Detection",
    idea="Each cell of a grid guesses boxes and a class; of boxes that overlap, the surest is kept.",
    place=190,
    minutes=8,
    words="object detection; YOLO; bounding box; intersection over union; IoU; non-maximum suppression; NMS; "
    "soft-NMS; confidence; average precision; mAP; precision and recall; grid cell; responsible box",
    references=(
        "[UDL] §10.5.2, figure 10.18",
        "Redmon et al. 2016, arXiv:1506.02640 (YOLO)",
        "Bodla et al. 2017, arXiv:1704.04503 (soft suppression)",
        "Lin et al. 2014, arXiv:1405.0312 (average precision at 101 points)",
    ),
    state=State,
    symbols={
        "t": "largest IoU that is allowed", r"\tau": "least score that is kept",
        r"\mathrm{IoU}": "shared area of two boxes, over the area of their union",
        "s": "score of a box: confidence times the score of its class",
        "L": "loss of this cell", "c": "confidence of the responsible box",
        r"\mathrm{precision}": "share of the kept boxes that are true",
        r"\mathrm{recall}": "share of the objects that are found",
    },
    scenes={
        "Suppression": Scene(
            "The orange box is the surest of its class; red ones overlap it too much and go.", State(),
        ),
        "Before": Scene(
            "Every cell near a digit guesses two boxes: several sit on the same object.",
            State(threshold=0.05, step=0),
        ),
        "Threshold": Scene(
            "A higher threshold τ drops unsure boxes, and with them the 3 and the 5.",
            State(threshold=0.5, step=0),
        ),
        "Touching": Scene(
            "Two fours side by side: with a small t the box of one suppresses that of the other.",
            State(digits=TOUCHING, overlap=0.15),
        ),
        "Tie": Scene(
            "c overlaps a by exactly t = .5: only an IoU above t suppresses, so c stays.",
            State(view=BOXES, step=2),
        ),
        "Soft": Scene(
            "Soft suppression keeps b at a lower score in place of dropping it.",
            State(view=BOXES, suppression=SOFT, step=2),
        ),
        "Responsible box": Scene(
            "The cell of the centre is to find the digit; of its boxes the one with the higher IoU learns.",
            State(view=CELL),
        ),
        "One cell, two digits": Scene(
            "Two centres in one cell: the targets have room for the first digit only.",
            State(view=CELL, digits=TWO_CENTRES, cell=24),
        ),
        "Precision and recall": Scene(
            "Suppression raises precision; recall stays nearly where it was.", State(view=CURVE),
        ),
    },
)  # fmt: skip
