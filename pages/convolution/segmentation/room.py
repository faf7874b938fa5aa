"""Segmentation: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, Toggle, late

VIEWS = PIXELS, VOTING, REGIONS, SIZES = "Class probabilities", "Vote", "Regions", "U-Net sizes"
SOURCES = RENDERED, DRAWN = "rendered", "drawing"
SKIPS, NO_SKIPS, BRIGHTNESS = "unet-cells", "unet-noskips-cells", "brightness alone"
SIDE = 64  # pixels
GROUND, CELL, BORDER = 0, 1, 2  # classes
VOTED = {"border": BORDER, "cell": CELL}
VOTES = range(1, 9)  # answers: four turns, then the same mirrored


def has_pixels(state: Any) -> bool:
    return bool(state.view == PIXELS)


def votes(state: Any) -> bool:
    return bool(state.view == VOTING)


def assembles(state: Any) -> bool:
    return bool(state.view == REGIONS)


def counts(state: Any) -> bool:
    return bool(state.view == SIZES)


def pictured(state: Any) -> bool:
    return not counts(state)


def renders(state: Any) -> bool:
    return pictured(state) and bool(state.source == RENDERED)


def draws(state: Any) -> bool:
    return pictured(state) and bool(state.source == DRAWN)


def of_cells(label: str, when: Any) -> Model:
    """A network on rendered cells, or the brightness of each pixel in its place."""
    return Model(
        label, family="convolution", only=late("lens", "fits"), also=(BRIGHTNESS,), as_list=True, when=when
    )


@dataclass(frozen=True, kw_only=True)
class State:
    micrograph = late("lens", "micrograph")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = PIXELS
    model: Annotated[str, of_cells("Model", pictured)] = SKIPS
    other: Annotated[str, of_cells("Against", has_pixels)] = NO_SKIPS
    source: Annotated[str, Choice("Picture", SOURCES, as_list=True, when=pictured)] = RENDERED
    seed: Annotated[int, Number("Seed", 0, 999, when=renders, row="rendered")] = 30
    cells: Annotated[int, Slider("Cells", 1, 40, when=renders, row="rendered", help="At most.")] = 20
    noise: Annotated[
        float,
        Slider("Noise σ", 0.0, 0.24, step=0.04, when=pictured, help="The networks were trained with .08."),
    ] = 0.08
    ink: Annotated[
        str | None,
        Drawing("Draw cells, pick or upload", SIDE, late("lens", "shelf"), when=draws),
    ] = None
    target: Annotated[str, Choice("Vote on", tuple(VOTED), when=votes)] = "border"
    beta: Annotated[
        float,
        Slider("Smoothness β", 0.0, 4.0, step=0.25, when=assembles, help="Cost of unlike neighbours."),
    ] = 1.0
    least: Annotated[
        int, Slider("Smallest a", 0, 60, step=5, when=assembles, help="Pixels of a component that stays.")
    ] = 10
    tau: Annotated[
        float,
        Slider(
            "Evidence τ", 0.0, 0.2, step=0.01, when=assembles, help="Share of pixels that a region needs."
        ),
    ] = 0.01
    n: Annotated[int, Number("Side n", 1, 2048, when=counts, help="Of the picture, in pixels.")] = 572
    levels: Annotated[int, Slider("Halvings", 1, 6, when=counts)] = 4
    kernel: Annotated[int, Choice("Kernel K", (1, 3, 5, 7), when=counts)] = 3
    zeros: Annotated[bool, Toggle("Zero padding", when=counts)] = False
    label: Annotated[int, Frame("Class", seconds=1.5, when=has_pixels)] = BORDER
    answers: Annotated[int | None, Frame("Answers", VOTES, seconds=0.6, when=votes)] = None
    step: Annotated[int | None, Frame("Step", seconds=0.8, when=assembles)] = None
    layer: Annotated[int | None, Frame("Grid", seconds=0.8, when=counts)] = None


ROOM = Room(
    title="Segmentation",
    idea="A class for every pixel: skips carry the details past the bottom of the U, then regions are whole.",
    place=195,
    minutes=8,
    words="semantic segmentation; U-Net; encoder–decoder; skip connections; per-pixel classification; "
    "intersection over union; IoU; Markov random field; iterated conditional modes; ICM; smoothness prior; "
    "valid convolution; crop and concatenate; overlap tile; cells; micrograph; "
    "vote; ensemble; precision; recall; test-time augmentation",
    references=(
        "[UDL] §10.5.3, figure 10.20; §11.5.3, figures 11.10 and 11.11",
        "Ronneberger et al. 2015, arXiv:1505.04597 (U-Net)",
        "Noh et al. 2015, arXiv:1505.04366 (encoder–decoder)",
        "Besag 1986 (iterated conditional modes)",
    ),
    state=State,
    symbols={
        "c": "a class", "c^*": "the class that comes next", "P": "probability of this class at a pixel",
        "P_c": "probability of class c at a pixel", r"\mathrm{IoU}": "pixels in both over pixels in either",
        "E": "energy of a region: low is good", r"\beta": "cost of two neighbours that differ",
        r"\tau": "share of all pixels that a region needs", "n": "side of the picture",
        "K": "side of the kernels", r"\equiv": "leaves the same rest as",
        r"\mathrm{mod}": "when divided by",
        r"\mathrm{precision}": "share of the vote's pixels that are true",
        r"\mathrm{recall}": "share of the true pixels that are in the vote",
        r"\mathrm{argmax}": "the class whose sum is largest",
    },
    scenes={
        "Skips": Scene(
            "P of a border between two cells: sharp with skips, blurred and broken without.",
            State(),
        ),
        "Vote": Scene(
            "Eight answers to the picture turned and mirrored: all must agree, and fewer wrong borders stay.",
            State(view=VOTING, answers=5),
        ),
        "Own cells": Scene(
            "Drawn by hand: two shapes that touch get a border, though the networks saw no drawing.",
            State(source=DRAWN),
        ),
        "Greedy": Scene(
            "Ground has the largest sum of P and is labelled first; cells and borders wait.",
            State(view=REGIONS, step=2),
        ),
        "Every pixel alone": Scene(
            "P from brightness alone and β = 0: noise leaves specks in the ground and holes in the cells.",
            State(view=REGIONS, model=BRIGHTNESS, beta=0.0, least=0),
        ),
        "Smooth": Scene(
            "With β = 2 unlike neighbours cost: holes are filled, specks go, and so do thin gaps.",
            State(view=REGIONS, model=BRIGHTNESS, beta=2.0),
        ),
        "Insufficient evidence": Scene(
            "Borders are below τ of all pixels: the assembly ends, and they keep no label.",
            State(view=REGIONS, tau=0.1),
        ),
        "572 to 388": Scene(
            "Each 3 × 3 takes two pixels off: what was kept is cropped to what comes up.",
            State(view=SIZES, layer=8),
        ),
        "Any size?": Scene(
            "512 is no legal side: at the third level 121 cannot be halved.",
            State(view=SIZES, n=512),
        ),
    },
    was={"Cells": "Skips"},
)  # fmt: skip
