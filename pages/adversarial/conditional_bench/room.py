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
    number: Annotated[str, Choice("Number", NUMBERS, when=late("lens", "coding"))] = NUMBERS[0]
    target: Annotated[int, Slider("Mix with class", 0, 9, when=late("lens", "conditional"))] = 8
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    turn: Annotated[int | None, Frame("Stop", first=late("lens", "plain"))] = None

    @property
    def turned(self) -> int:
        """Which of an InfoGAN's numbers is turned."""
        return NUMBERS.index(self.number)


ROOM = Room(
    title="Conditional bench",
    idea="Rows are classes, columns noise: does the generator make what is asked for?",
    place=120,
    minutes=5,
    words="conditional GAN; cGAN; ACGAN; InfoGAN; projection discriminator; auxiliary classifier; "
    "class-conditional",
    references=(
        "Mirza & Osindero 2014, arXiv:1411.1784; Odena et al. 2017, arXiv:1610.09585",
        "Miyato & Koyama 2018, arXiv:1802.05637; Chen et al. 2016, arXiv:1606.03657",
        "[UDL] §15.4.1–15.4.3, figs 15.13–15.15",
    ),
    machine="gan",
    state=State,
    scenes={
        "A channel": Scene("D sees the class as one more image: rows obey, columns share a hand.", State()),
        "A projection": Scene(
            "D weighs its features by the class: rows obey as well.", State(model="projectiongan-digits")
        ),
        "Extra logits": Scene(
            "ACGAN: D names the class itself; a little less variety within it.", State(model="acgan-digits")
        ),
        "Half an eight": Scene(
            "Half of every class, half of the eight: most keep their name.", State(turn=5)
        ),
        "All eights": Scene(
            "At the end of the film all rows are eights, each column one hand.", State(turn=10)
        ),
        "No labels": Scene(
            "InfoGAN saw no class: its code finds most, and mistakes some.", State(model=INFO)
        ),
        "A number": Scene(
            "Its number c₃ from −1 to 1: play the film.", State(model=INFO, number="c₃", turn=0)
        ),
    },
)
