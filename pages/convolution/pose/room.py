"""Pose: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = HEATMAPS, SKELETONS, ERRORS = "Heatmaps", "Skeletons", "Error by stack"
SOURCES = RENDERED, PLACED, DRAWN = "rendered", "own joints", "drawing"
NETWORK = "hourglass-figures"
SIDE = 40  # pixels
ROWS = tuple(range(0, SIDE, 2))  # of the block's middle; 0 is no block
SHARES = tuple(round(0.02 * k, 2) for k in range(16))
WAVING = "20 8; 20 13; 24 14; 29 12; 32 7; 16 14; 12 18; 11 23; 22 24; 24 29; 24 35; 18 24; 16 29; 15 35"


def pictured(state: Any) -> bool:
    return bool(state.view != ERRORS)


def maps(state: Any) -> bool:
    return bool(state.view == HEATMAPS)


def sweeps(state: Any) -> bool:
    return bool(state.view == SKELETONS)


def measures(state: Any) -> bool:
    return bool(state.view == ERRORS)


def renders(state: Any) -> bool:
    return pictured(state) and bool(state.source == RENDERED)


def places(state: Any) -> bool:
    return pictured(state) and bool(state.source == PLACED)


def draws(state: Any) -> bool:
    return pictured(state) and bool(state.source == DRAWN)


@dataclass(frozen=True, kw_only=True)
class State:
    figure = late("lens", "figure")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = HEATMAPS
    model: Annotated[str, Model("Model", family="convolution", only=late("lens", "fits"), as_list=True)] = (
        NETWORK
    )
    source: Annotated[str, Choice("Figure", SOURCES, as_list=True, when=pictured)] = RENDERED
    seed: Annotated[int, Number("Seed", 0, 9999, when=renders)] = 238
    placed: Annotated[
        str,
        Text("Joints", 400, reads=late("typed", "joints"), when=places,
             help="Fourteen places x y, from 0 to 40: head, neck, left shoulder, elbow, wrist, right ones, "
                  "left hip, knee, ankle, right ones. A click moves the joint of the heatmaps."),
    ] = WAVING  # fmt: skip
    ink: Annotated[
        str | None,
        Drawing("Draw a figure, pick or upload", SIDE, late("lens", "shelf"), when=draws),
    ] = None
    mirror: Annotated[bool, Toggle("Mirrored", when=pictured)] = False
    down: Annotated[
        int, Slider("Block, row", 0, SIDE - 2, step=2, when=maps, help="Of its middle; 0 is no block.")
    ] = 0
    across: Annotated[int, Slider("Block, column", 0, SIDE, step=2, when=pictured)] = 20
    block: Annotated[int, Slider("Block, side", 2, 20, step=2, when=pictured)] = 10
    joint: Annotated[int, Frame("Joint", seconds=1.2, when=maps)] = 10
    row: Annotated[int, Frame("Block at row", ROWS, seconds=0.5, when=sweeps)] = 0
    cut: Annotated[float, Frame("α =", SHARES, seconds=0.3, when=measures)] = 0.1


ROOM = Room(
    title="Pose",
    idea="A heatmap for every joint, judged after each hourglass; the joint is where it is largest.",
    place=200,
    minutes=6,
    words="human pose estimation; stacked hourglass; heatmap regression; keypoints; joints; intermediate "
    "supervision; argmax; percentage of correct keypoints; PCK; occlusion; left and right; skeleton",
    references=(
        "[UDL] §11.5.3, figure 11.12",
        "Newell et al. 2016, arXiv:1603.06937 (stacked hourglass)",
        "Yang & Ramanan 2013 (percentage of correct keypoints)",
    ),
    state=State,
    symbols={
        "L": "loss of this picture", "e_1": "mean squared error of the heatmaps after the first stack",
        "e_2": "mean squared error of the heatmaps after the second stack",
        r"\hat{p}": "estimated place: row and column in pixels", "H": "heatmap of this joint",
        r"\mathrm{argmax}": "the place of the largest value", r"\max": "the largest value",
        r"\alpha": "how far off counts as correct, as a share of the figure",
        r"\mathrm{PCK}": "share of joints that are found",
    },
    scenes={
        "Left or right?": Scene(
            "After stack 1 the left ankle is taken for the right one; stack 2 sees the maps and corrects.",
            State(),
        ),
        "Argmax": Scene(
            "An easy joint: one bump, and the neck is where it is largest, in the middle of a cell.",
            State(seed=72, joint=1),
        ),
        "Hidden wrist": Scene(
            "A block hides the left wrist: a lower, wider bump guesses where the arm may end.",
            State(seed=71, joint=4, down=6, across=26, block=8),
        ),
        "Two bumps": Scene(
            "Squared error keeps both candidates; the higher bump is at the wrong ankle.",
            State(seed=26, joint=10),
        ),
        "Skeletons": Scene(
            "The same figure after each stack: rings mark joints that are missed.",
            State(view=SKELETONS, seed=96),
        ),
        "Block moves": Scene(
            "What the block covers is guessed from the limbs around it, better by the second stack.",
            State(view=SKELETONS, seed=9, across=22, row=24),
        ),
        "Mirrored": Scene(
            "A mirrored figure still faces us: what was its left is now its right, also for the network.",
            State(view=SKELETONS, seed=72, mirror=True),
        ),
        "Upside down": Scene(
            "No figure of the training stood on its head: the left wrist is looked for at a foot.",
            State(source=DRAWN, ink="upside down", joint=4),
        ),
        "Error by stack": Scene(
            "Joints found within α of the figure's size: the second stack is above the first.",
            State(view=ERRORS),
        ),
    },
)  # fmt: skip
