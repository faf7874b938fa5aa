"""Birthday: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, late

REAL, KNOWN = "training digits", "known digits, with repeats"
SHELF = ("dcgan-digits", "acgan-digits", "infogan-digits", "dcgan-mnist")
THRESHOLDS = tuple(round(0.025 * i, 3) for i in range(17))  # of the median distance
SUPPORTS = (100, 365, 1000, 10_000, 115_260, 400_000)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str,
        Model(
            "Draws of",
            only=late("lab.lenses.generated", "makes_digits"),
            first=(*SHELF, KNOWN, REAL),
            also=(KNOWN, REAL),
            as_list=True,
        ),
    ] = SHELF[0]
    size: Annotated[int, Slider("Digits to repeat", 10, 1000, when=lambda s: s.model == KNOWN)] = 365
    support: Annotated[int, Choice("N of the grey line", SUPPORTS, as_list=True)] = 1000
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    threshold: Annotated[float, Frame("Threshold", THRESHOLDS, seconds=0.5)] = 0.3


ROOM = Room(
    title="Birthday",
    idea="Two that are the same among a few hundred draws tell how many there are at all.",
    place=140,
    minutes=6,
    words="birthday paradox; support size; diversity; mode collapse; memorization",
    references=(
        "Arora & Zhang 2017, arXiv:1706.08224",
        "[UDL] §15 notes (more than half at 400 draws speaks of 115,260 things at most, not of 400,000)",
    ),
    machine="gan",
    state=State,
    scenes={
        "DCGAN": Scene(
            "No two are equal; how many are nearly so depends on what counts as the same.", State()
        ),
        "Training digits": Scene(
            "Real digits without repeats: at 0.3 about as many pairs as the GAN's.", State(model=REAL)
        ),
        "ACGAN": Scene(
            "At the same threshold more than twice as many pairs: less variety.", State(model="acgan-digits")
        ),
        "365 birthdays": Scene(
            "365 digits with repeats: half of the time two of 23 are the same.",
            State(model=KNOWN, size=365, threshold=0.0, support=365),
        ),
        "A thousand": Scene(
            "Nearly three times the things, but only half as many draws again.",
            State(model=KNOWN, size=1000, threshold=0.0, support=1000),
        ),
        "400 draws": Scene("Grey: of 400,000 things 18 % at 400 draws, not half.", State(support=400_000)),
        "115,260": Scene("Grey: half at 400 draws needs as few as 115,260 things.", State(support=115_260)),
        "28 × 28": Scene(
            "Larger pictures have more ways to differ: far fewer pairs are within 0.3.",
            State(model="dcgan-mnist"),
        ),
    },
)
