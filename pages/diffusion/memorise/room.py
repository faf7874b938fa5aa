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
    step: Annotated[int | None, Frame("t =", seconds=0.15)] = None

    @property
    def model(self) -> Annotated[str, Model("Denoiser")]:
        return "ddpm-eight" if self.data == PLANE else "ddpm-digits"


ROOM = Room(
    title="Memorise or generalise",
    idea="The exact score of n training points generates those n; a network generates others.",
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
    symbols={
        "x_k": "training example k",
        "k": "number of a training example",
        "n": "how many training examples",
        "r_k": "responsibility of example k for the noisy point",
    },
    state=State,
    scenes={
        "Memorisation": Scene(
            "The exact score of 50 training points (crosses) draws each sample towards one of them.",
            State(step=27),
        ),
        "Copies": Scene(
            "With the exact score of 50 points nearly every sample is a copy: see the bar at 0.", State()
        ),
        "Generalisation": Scene(
            "A network trained on 200,000 points: its samples fall between the 50 crosses.",
            State(source=NETWORK),
        ),
        "Missing modes": Scene(
            "Two of the eight modes have none of the ten training points, and get no sample.", State(n=10)
        ),
        "1,297 points": Scene(
            "The points lie close: each sample is within 0.1 of one, and fewer count as copies.",
            State(n=1297),
        ),
        "Much noise": Scene(
            "At t = 491 each prediction x̂₀ is a mean of many points, and no sample is a copy.", State(step=12)
        ),
        "Memorised digits": Scene(
            "The exact score of all 1,297 digits generates training digits: left and middle are equal.",
            State(data=DIGITS, n=1297),
        ),
        "Network": Scene(
            "The network was trained on the same 1,297 digits, and generates none of them.",
            State(data=DIGITS, n=1297, source=NETWORK),
        ),
        "Ten digits": Scene(
            "With ten training digits the exact score generates the same ten again and again.",
            State(data=DIGITS, n=10),
        ),
    },
    was={
        1: "Copies",
        2: "Generalisation",
        3: "Missing modes",
        4: "1,297 points",
        5: "Much noise",
        6: "Memorised digits",
        7: "Network",
        8: "Ten digits",
        "A network": "Generalisation",
        "Ten points": "Missing modes",
        "Many points": "1,297 points",
        "Half-way": "Much noise",
        "Digits": "Memorised digits",
        "Digits, network": "Network",
        "Digits of a network": "Network",
        "Under much noise": "Much noise",
    },
)
