"""Memorise or generalise: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene

DATA = PLANE, DIGITS = "plane", "digits"
EXACT, NETWORK = "exact score", "network"


@dataclass(frozen=True, kw_only=True)
class State:
    data: Annotated[str, Choice("Data", DATA)] = PLANE
    n: Annotated[int, Choice("Training points n", (10, 50, 200, 1297))] = 50
    source: Annotated[str, Choice("Samples by", (EXACT, NETWORK))] = EXACT
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    step: Annotated[int | None, Frame("Step", seconds=0.15)] = None

    @property
    def model(self) -> Annotated[str, Model("Denoiser")]:
        return "ddpm-eight" if self.data == PLANE else "ddpm-digits"


ROOM = Room(
    title="Memorise or generalise",
    idea="The best denoiser of n points knows no others: it draws those n.",
    place=170,
    minutes=6,
    words=(
        "memorization; overfitting; generalization; optimal denoiser; training data extraction; empirical "
        "score"
    ),
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (the loss whose minimiser this is)",
        "Carlini et al. 2023, arXiv:2301.13188; Somepalli et al. 2022, arXiv:2212.03860 (copies found)",
        "Yoon, Choi, Kwon, Ryu 2023, ICML workshop: generalise when they fail to memorise (a third)",
        "Kadkhodaie et al. 2023, arXiv:2310.02557",
        "[BB] 6: mixtures",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    state=State,
    scenes={
        "Copies": Scene("With the exact score of 50 points nearly every sample is one of the 50.", State()),
        "A network": Scene(
            "The network has learned from 200,000: its samples fall between the 50.", State(source=NETWORK)
        ),
        "Ten points": Scene(
            "Two of the eight modes have none of the ten points, and get no sample.", State(n=10)
        ),
        "Many points": Scene(
            "1,297 lie close: fewer strict copies, each within 0.1 of a point.", State(n=1297)
        ),
        "Half-way": Scene(
            "At t = 491 no sample has settled for a point: each guess is a mean of many.", State(step=12)
        ),
        "Digits": Scene(
            "The exact score of all 1,297 digits draws digits that are there already.",
            State(data=DIGITS, n=1297),
        ),
        "Digits, network": Scene(
            "The network learned from the same 1,297, and draws none of them.",
            State(data=DIGITS, n=1297, source=NETWORK),
        ),
        "Ten digits": Scene("Ten training digits: the same ten again and again.", State(data=DIGITS, n=10)),
    },
)
