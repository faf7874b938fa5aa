"""Conditional bench: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, late

SHELF = ("cgan-digits", "projectiongan-digits", "acgan-digits", "infogan-digits", "infogan-mnist")
INFO = "infogan-mnist"
NUMBERS = ("c₂", "c₃")


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Model", only=late("lens", "fits"), first=SHELF, as_list=True)] = SHELF[0]
    number: Annotated[str, Choice("Continuous code", NUMBERS, when=late("lens", "coding"))] = NUMBERS[0]
    target: Annotated[int, Slider("Interpolate to class", 0, 9, when=late("lens", "conditional"))] = 8
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    turn: Annotated[int | None, Frame(late("lens", "quantity"), first=late("lens", "plain"))] = None

    @property
    def turned(self) -> int:
        """Index of the InfoGAN's number that is turned."""
        return NUMBERS.index(self.number)


ROOM = Room(
    title="Conditional bench",
    idea="Each row asks for one class, each column has one z: does G make the class that is asked for?",
    place=110,
    minutes=5,
    words="conditional GAN; cGAN; ACGAN; InfoGAN; projection discriminator; auxiliary classifier; "
    "class-conditional",
    references=(
        "Mirza & Osindero 2014, arXiv:1411.1784; Odena et al. 2017, arXiv:1610.09585",
        "Miyato & Koyama 2018, arXiv:1802.05637; Chen et al. 2016, arXiv:1606.03657",
        "[UDL] §15.4.1–15.4.3, figs 15.13–15.15",
    ),
    machine="gan",
    symbols={
        "p": "probability that the classifier gives",
        r"\hat{y}": "class that the classifier reads",
    },
    state=State,
    scenes={
        "InfoGAN": Scene(
            "InfoGAN saw no labels, and yet most pictures of a row, one code c₁, show the same digit.",
            State(model=INFO),
        ),
        "Conditional GAN": Scene(
            "D sees the class as one more channel: each row shows its class; the matrix is diagonal.", State()
        ),
        "Projection": Scene(
            "D adds the inner product of its features and the class: each row shows its class, too.",
            State(model="projectiongan-digits"),
        ),
        "ACGAN": Scene(
            "D also classifies: rows show their class, with a little less variety than the conditional GAN.",
            State(model="acgan-digits"),
        ),
        "Class interpolation": Scene(
            "At m = 0.5 every row asks for half its class and half the 8: most keep their own class.",
            State(turn=5),
        ),
        "One class, other z": Scene(
            "At m = 1 all rows ask for the 8: each column, one z, shows the same 8 in every row.",
            State(turn=10),
        ),
        "Continuous code": Scene(
            "The film turns the code c₃ of InfoGAN from −1 to 1; class and noise stay fixed.",
            State(model=INFO, number="c₃", turn=0),
        ),
    },
    was={
        1: "Conditional GAN",
        2: "Projection",
        3: "ACGAN",
        4: "Class interpolation",
        5: "One class, other z",
        6: "InfoGAN",
        "A channel": "Conditional GAN",
        "A projection": "Projection",
        "Extra logits": "ACGAN",
        "Half an eight": "Class interpolation",
        "All eights": "One class, other z",
        "No labels": "InfoGAN",
        "A number": "Continuous code",
    },
)
