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
    cloud: Annotated[str, Choice("Data and samples", (LINES, BLOBS, RING), as_list=True)] = LINES
    distance: Annotated[float, Slider("Distance d", 0.5, 4.0, step=0.5, when=lambda s: s.cloud != RING)] = 2.0
    hold: Annotated[
        str,
        Choice(
            "Lipschitz constraint",
            (PENALTY, CLIP, SPECTRAL, NOTHING),
            as_list=True,
        ),
    ] = PENALTY
    strength: Annotated[int, Choice("λ", (1, 10, 100), when=penalised)] = 10
    rule: Annotated[str, Choice("ε", (EACH, COORDINATE, ONE), as_list=True, when=penalised)] = EACH
    clip: Annotated[
        float, Choice("Weights clipped to ±", (0.01, 0.03, 0.1), when=lambda s: s.hold == CLIP)
    ] = 0.01
    moving: Annotated[bool, Toggle("Samples follow the gradient")] = False
    steps: Annotated[int, Choice("Training steps", (200, 1000))] = 200
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Step of the critic", seconds=0.2)] = None

    @property
    def amount(self) -> float:
        """λ, or the bound of clipped weights."""
        return self.clip if self.hold == CLIP else float(self.strength)


ROOM = Room(
    title="Critic constraint",
    idea="Only a 1-Lipschitz critic measures W₁: penalty, clipping and spectral normalization compared.",
    place=60,
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
    symbols={
        "f": "critic: its score of an example",
    },
    state=State,
    scenes={
        "Ring of eight modes": Scene(
            "f rises from the samples in the centre to the data's ring; its value is within a fifth of W₁.",
            State(cloud=RING),
        ),
        "Gradient penalty": Scene(
            "Between the lines ‖∇f‖ is near 1; the critic's value ends slightly above W₁.", State()
        ),
        "Small λ": Scene(
            "λ = 1 is a soft penalty: the value is about twice W₁, as 1 + d/2λ predicts.", State(strength=1)
        ),
        "Weight clipping": Scene(
            "Weights within ±0.01 give a nearly flat critic, whose value is a few thousandths.",
            State(hold=CLIP),
        ),
        "Loose clipping": Scene(
            "Weights within ±0.1: ‖∇f‖ reaches about 4, as clipping sets no known Lipschitz constant.",
            State(hold=CLIP, clip=0.1),
        ),
        "Spectral norm": Scene(
            "Each layer's spectral norm is about 1, so f is 1-Lipschitz and its value near W₁.",
            State(hold=SPECTRAL),
        ),
        "ε always 1": Scene(
            "With ε = 1 the penalty acts at real points alone; elsewhere f is far too steep.",
            State(rule=ONE),
        ),
        "No constraint": Scene(
            "Without a constraint the critic's value grows into the thousands and measures nothing.",
            State(hold=NOTHING),
        ),
        "Moving samples": Scene(
            "The samples climb the critic's gradient to the data: its value and W₁ fall together.",
            State(moving=True),
        ),
    },
    was={
        1: "Gradient penalty",
        2: "Small λ",
        3: "Weight clipping",
        4: "Loose clipping",
        5: "Spectral norm",
        6: "ε always 1",
        7: "No constraint",
        8: "Moving samples",
        9: "Ring of eight modes",
        "Penalty": "Gradient penalty",
        "Too soft": "Small λ",
        "Clipped": "Weight clipping",
        "Clipped wide": "Loose clipping",
        "A wrong ε": "ε always 1",
        "Nothing": "No constraint",
        "Points move": "Moving samples",
        "Ring and blob": "Ring of eight modes",
    },
)
