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
    kind: Annotated[str, Choice("Laws", (GAUSSIANS, BOXES))] = GAUSSIANS
    show: Annotated[str, Choice("Show", ("value", "slope"))] = "value"
    sd: Annotated[float, Slider("σ of the data", 0.5, 3.0, step=0.25, disabled=boxes)] = 1.0
    sd2: Annotated[float, Slider("σ of the generator", 0.5, 3.0, step=0.25, disabled=boxes)] = 1.0
    printed: Annotated[
        bool,
        Toggle(
            "W2² as printed",
            help="[UDL] eq. 15.21 has −2√(σ₁σ₂) where −2σ₁σ₂ is right.",
            when=lambda s: s.kind == GAUSSIANS and s.show == "value",
        ),
    ] = False
    a: Annotated[float, Frame("Shift a", SHIFTS, seconds=0.1)] = 1.5


ROOM = Room(
    title="Divergences",
    idea="KL leaps, Jensen–Shannon stops at log 2, Wasserstein goes on telling the way.",
    place=30,
    minutes=5,
    words="Jensen-Shannon; JS divergence; Wasserstein; KL divergence; total variation; f-divergence; f-GAN",
    references=(
        "[UDL] §15.2.1–15.2.2, problems 15.4–15.5 (15.21 has −2√(σ₁σ₂) for −2σ₁σ₂)",
        "Arjovsky et al. 2017, Wasserstein GAN, arXiv:1701.07875",
    ),
    state=State,
    scenes={
        "Gaussians": Scene(
            "Past a = 2 JS flattens under log 2; W1 rises by 1 a unit of way throughout.", State()
        ),
        "Boxes": Scene("Once they part, KL is ∞ and JS exactly log 2, however far.", State(kind="boxes")),
        "What is felt": Scene(
            "The slopes: JS gives the generator nothing at a distance, W1 always 1.",
            State(kind="boxes", show="slope", a=2.0),
        ),
        "Half over": Scene(
            "Boxes that overlap: JS is log 2 times the shift, W1 the shift.", State(kind="boxes", a=0.5)
        ),
        "Two widths": Scene(
            "One law is wide: no measure is 0 at a = 0, and the two KLs differ.",
            State(sd=0.5, sd2=2.0, a=0.0),
        ),
        "As printed": Scene(
            "Equal laws with σ = 2: the printed W2² is 4 at a = 0, the right one 0.",
            State(sd=2.0, sd2=2.0, a=0.0, printed=True),
        ),
    },
)
