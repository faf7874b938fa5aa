"""Divergences: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Room, Scene, Slider, Toggle

GAUSSIANS, BOXES = "Gaussians", "boxes"
SHIFTS = tuple(round(-3 + 0.1 * i, 1) for i in range(61))


def boxes(state: Any) -> bool:
    return bool(state.kind == BOXES)


@dataclass(frozen=True, kw_only=True)
class State:
    kind: Annotated[str, Choice("Distributions", (GAUSSIANS, BOXES))] = GAUSSIANS
    show: Annotated[str, Choice("Show", ("value", "slope"))] = "value"
    sd: Annotated[float, Slider("σ of the data", 0.5, 3.0, step=0.25, disabled=boxes)] = 1.0
    sd2: Annotated[float, Slider("σ of the generator", 0.5, 3.0, step=0.25, disabled=boxes)] = 1.0
    printed: Annotated[
        bool,
        Toggle(
            "W₂² as printed",
            help="[UDL] eq. 15.21 has −2√(σ₁σ₂) where −2σ₁σ₂ is right.",
            when=lambda s: s.kind == GAUSSIANS and s.show == "value",
        ),
    ] = False
    a: Annotated[float, Frame("Shift a", SHIFTS, seconds=0.1)] = 1.5


ROOM = Room(
    title="Divergences",
    idea="Without overlap KL is infinite and Jensen–Shannon is log 2; Wasserstein keeps a gradient.",
    place=30,
    minutes=5,
    words="Jensen-Shannon; JS divergence; Wasserstein; KL divergence; total variation; f-divergence; f-GAN",
    references=(
        "[UDL] §15.2.1–15.2.2, problems 15.4–15.5 (15.21 has −2√(σ₁σ₂) for −2σ₁σ₂)",
        "Arjovsky et al. 2017, Wasserstein GAN, arXiv:1701.07875",
    ),
    state=State,
    scenes={
        "Disjoint supports": Scene(
            "Without overlap KL is ∞ and JS is log 2 at every shift; W₁ still grows with it.",
            State(kind=BOXES),
        ),
        "Partial overlap": Scene(
            "Uniform distributions that overlap: JS is log 2 times the shift, W₁ is the shift.",
            State(kind=BOXES, a=0.5),
        ),
        "Gradients": Scene(
            "Gradients: without overlap that of JS vanishes, while that of W₁ is always 1.",
            State(kind=BOXES, show="slope", a=2.0),
        ),
        "Gaussians": Scene(
            "Past a = 2 JS flattens below log 2, while W₁ keeps its slope of 1 throughout.", State()
        ),
        "Unequal variances": Scene(
            "One Gaussian is wide: no divergence is 0 at a = 0, and forward and reverse KL differ.",
            State(sd=0.5, sd2=2.0, a=0.0),
        ),
        "Misprinted W₂²": Scene(
            "Equal Gaussians with σ = 2: the printed formula gives W₂² = 4 at a = 0; the right one gives 0.",
            State(sd=2.0, sd2=2.0, a=0.0, printed=True),
        ),
    },
    was={
        1: "Gaussians",
        2: "Disjoint supports",
        4: "Partial overlap",
        "Boxes": "Disjoint supports",
        "What is felt": "Gradients",
        "Half over": "Partial overlap",
        "Two widths": "Unequal variances",
        "As printed": "Misprinted W₂²",
    },
)
