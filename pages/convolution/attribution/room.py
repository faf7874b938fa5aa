"""Where it looked: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, Toggle, late

VIEWS = MAPS, PATH, WEIGHTS, DELETION = "Maps", "Integration", "Random weights", "Deletion"
GRADIENT, TIMES, CAM, OCCLUSION, INTEGRATED, RANDOM = METHODS = (
    "gradient", "gradient × input", "Grad-CAM", "occlusion", "integrated gradients", "random order",
)  # fmt: skip
NETWORK, SMALL, ON_SIGNALS = "cnn-mnist", "cnn-digits", "cnn-mnist1d"
LIKELIEST, RUNNER_UP, NONE, OWN = "likeliest", "runner-up", "none", "own"
INPUTS = "lab.lenses.inputs"


def integrates(state: Any) -> bool:
    return bool(state.view == PATH)


def redraws(state: Any) -> bool:
    return bool(state.view == WEIGHTS)


def deletes(state: Any) -> bool:
    return bool(state.view == DELETION)


def hides(state: Any) -> bool:
    return state.view in (MAPS, DELETION)


def has_baseline(state: Any) -> bool:
    return bool(state.view != WEIGHTS)


def drawn_by_hand(state: Any) -> bool:
    return bool(state.signal == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    question = late("lens", "asked")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = MAPS
    model: Annotated[str, Model("Model", family="convolution", only=late("lens", "fits"), as_list=True)] = (
        NETWORK
    )
    target: Annotated[
        str, Choice("Class", late("lens", "classes"), as_list=True, row="class", help="Its logit is S.")
    ] = LIKELIEST
    against: Annotated[
        str,
        Choice("Against", late("lens", "others"), as_list=True, row="class", help="Its logit is subtracted."),
    ] = NONE
    method: Annotated[str, Choice("Order", METHODS, as_list=True, when=deletes)] = INTEGRATED
    patch: Annotated[int, Slider("Window", 1, 9, step=2, when=hides, row="how", help="Of occlusion.")] = 5
    baseline: Annotated[
        float,
        Slider("Baseline", 0.0, 1.0, step=0.25, when=has_baseline, row="how", help="0 is paper, 1 is ink."),
    ] = 0.0
    steps: Annotated[int, Choice("Steps m", (4, 8, 16, 32, 64), when=integrates)] = 32
    seed: Annotated[int, Number("Seed", 0, 99, when=redraws)] = 0
    absolute: Annotated[bool, Toggle("Absolute values", when=redraws, help="Ranks are of |values|.")] = True
    digit: Annotated[
        str | None,
        Drawing(
            "Draw a digit, or pick one",
            28,
            late("lab.lenses.drawing", "examples", (28,)),
            when=late("lens", "sees_large"),
        ),
    ] = None
    small: Annotated[
        str | None,
        Drawing("Draw a digit, or pick one", 8, late("lab.lenses.drawing", "examples", (8,)),
                when=late("lens", "sees_small")),
    ] = None  # fmt: skip
    signal: Annotated[
        str,
        Choice("Signal", late(INPUTS, "curves"), help="Or draw a curve.", when=late(INPUTS, "sees_signals")),
    ] = "3"
    curve: Annotated[
        str | None,
        Drawing("Draw a curve from left to right", 40, late(INPUTS, "sketches"), when=drawn_by_hand),
    ] = None
    alpha: Annotated[int | None, Frame("α =", seconds=0.25, when=integrates)] = None
    layers: Annotated[int, Frame("Random layers", seconds=1.2, when=redraws)] = 1
    cut: Annotated[int, Frame("Inputs gone", seconds=0.25, when=deletes)] = 4


ROOM = Room(
    title="Where it looked",
    idea="Gradients, windows and paths attribute a logit to inputs; some of their maps fail simple checks.",
    place=180,
    minutes=7,
    words="attribution; saliency map; Grad-CAM; integrated gradients; occlusion; explanation; baseline; "
    "completeness; sanity checks; deletion; CNN; interpretability",
    references=(
        "Simonyan et al. 2014, arXiv:1312.6034 (gradient); Shrikumar et al. 2017, arXiv:1704.02685",
        "Selvaraju et al. 2017, arXiv:1610.02391 (Grad-CAM)",
        "Zeiler & Fergus 2014, arXiv:1311.2901 (occlusion)",
        "Sundararajan, Taly, Yan 2017, arXiv:1703.01365 (integrated gradients)",
        "Adebayo et al. 2018, arXiv:1810.03292 (random weights); Samek et al. 2017, arXiv:1509.06321",
    ),
    state=State,
    symbols={
        "S": "logit of the class, less that of the other", "f": "a logit", "x": "the input",
        "x'": "the baseline", r"\alpha": "share of the way from the baseline to the input",
        "i": "a pixel or position of the input", r"\rho": "rank correlation of two maps",
        r"\nabla S": "gradient of S", r"\nabla": "gradient", r"\odot": "multiplied element by element",
    },
    scenes={
        "Against": Scene(
            "Blue speaks for 4, red for 9: occlusion marks strokes, Grad-CAM the blank paper around them.",
            State(digit="4", target="4", against="9"),
        ),
        "Completeness": Scene(
            "From the baseline to the input the sum of the attributions follows the change of S.",
            State(view=PATH, digit="4", alpha=16),
        ),
        "Baseline of ink": Scene(
            "With ink as baseline, blank pixels get attributions and the inside of strokes gets none.",
            State(view=PATH, digit="4", baseline=1.0),
        ),
        "Random weights": Scene(
            "Random weights change the gradient; gradient × input still has its ranks: it shows the ink.",
            State(view=WEIGHTS, digit="4", layers=4),
        ),
        "Deletion": Scene(
            "Without 4 % of its pixels the 9 has S < 0; in random order that takes about 40 %.",
            State(view=DELETION, digit="9", cut=8),
        ),
        "Blank paper": Scene(
            "Grad-CAM deletes blank paper first: S stays above that of a random order most of the way.",
            State(view=DELETION, digit="6", method=CAM, cut=24),
        ),
        "Signal": Scene(
            "In a signal Grad-CAM has four places; occlusion and integrated gradients find the second peak.",
            State(model=ON_SIGNALS),
        ),
    },
)  # fmt: skip
