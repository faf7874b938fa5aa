"""Critic constraint: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Toggle

LINES, BLOBS, RING = "two lines", "two blobs", "ring and blob"
PENALTY, CLIP, SPECTRAL, NOTHING = "penalty", "clipped weights", "spectral norm", "nothing"
EACH, COORDINATE, ONE = "one per example", "one per coordinate", "always 1"


def penalised(state: Any) -> bool:
    return bool(state.hold == PENALTY)


@dataclass(frozen=True, kw_only=True)
class State:
    cloud: Annotated[str, Choice("Points", (LINES, BLOBS, RING), as_list=True)] = LINES
    distance: Annotated[float, Slider("Distance d", 0.5, 4.0, step=0.5, when=lambda s: s.cloud != RING)] = 2.0
    hold: Annotated[str, Choice("Slope held by", (PENALTY, CLIP, SPECTRAL, NOTHING), as_list=True)] = PENALTY
    strength: Annotated[int, Choice("λ", (1, 10, 100), when=penalised)] = 10
    rule: Annotated[str, Choice("ε", (EACH, COORDINATE, ONE), as_list=True, when=penalised)] = EACH
    clip: Annotated[float, Choice("Weights within ±", (0.01, 0.03, 0.1), when=lambda s: s.hold == CLIP)] = (
        0.01
    )
    moving: Annotated[bool, Toggle("Made points move")] = False
    steps: Annotated[int, Choice("Steps", (200, 1000))] = 200
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Step", seconds=0.2)] = None

    @property
    def amount(self) -> float:
        """λ, or the bound of clipped weights."""
        return self.clip if self.hold == CLIP else float(self.strength)


ROOM = Room(
    title="Critic constraint",
    idea="Only a critic of slope 1 measures W₁: three ways to hold it, and how near each comes.",
    place=90,
    minutes=5,
    words="WGAN; Wasserstein GAN; WGAN-GP; gradient penalty; weight clipping; spectral normalization; "
    "Lipschitz; 1-Lipschitz",
    references=(
        (
            "Arjovsky et al. 2017, arXiv:1701.07875 (clipping); "
            "Gulrajani et al. 2017, arXiv:1704.00028 (penalty)"
        ),
        "Miyato et al. 2018, arXiv:1802.05957 (spectral norm)",
        "[UDL] §15.2.5–15.2.6 (clipping to ±0.01 does not bound the slope by 1, but by far less)",
    ),
    state=State,
    scenes={
        "Penalty": Scene("Between the lines the slope is near 1; the value ends a little above W₁.", State()),
        "Too soft": Scene("λ = 1: twice too steep, as 1 + d/2λ says.", State(strength=1)),
        "Clipped": Scene(
            "Weights within ±0.01: a tiny, flat critic; its value is a few thousandths.", State(hold=CLIP)
        ),
        "Clipped wide": Scene(
            "Within ±0.1 it is four times too steep: the bound is not known.", State(hold=CLIP, clip=0.1)
        ),
        "Spectral norm": Scene(
            "Each layer's slope is at most about 1, and so is that of all.", State(hold=SPECTRAL)
        ),
        "A wrong ε": Scene(
            "ε always 1: the penalty sees real points alone; elsewhere f is steep.", State(rule=ONE)
        ),
        "Nothing": Scene("Nothing holds the slope: the value grows into the thousands.", State(hold=NOTHING)),
        "Points move": Scene(
            "The made points climb the critic's slope: value and W₁ fall together.", State(moving=True)
        ),
        "Ring and blob": Scene(
            "It climbs from the blob to the ring; its value is within a fifth of W₁.", State(cloud=RING)
        ),
    },
)
