"""Birthday: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, late

REAL, KNOWN = "training digits", "known digits, with repeats"
SHELF = ("dcgan-digits", "acgan-digits", "infogan-digits", "dcgan-mnist", "infogan-mnist")
THRESHOLDS = tuple(round(0.025 * i, 3) for i in range(17))  # of the median distance
SUPPORTS = (100, 365, 1000, 10_000, 115_260, 400_000)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str,
        Model(
            "Samples of",
            only=late("lab.lenses.generated", "makes_digits"),
            first=(*SHELF, KNOWN, REAL),
            also=(KNOWN, REAL),
            as_list=True,
        ),
    ] = SHELF[0]
    size: Annotated[int, Slider("Number of known digits", 10, 1000, when=lambda s: s.model == KNOWN)] = 365
    support: Annotated[int, Choice("N of the grey curve", SUPPORTS, as_list=True)] = 1000
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    threshold: Annotated[float, Frame("Threshold", THRESHOLDS, seconds=0.5)] = 0.3


ROOM = Room(
    title="Birthday",
    idea="Duplicates among a few hundred samples tell how many different ones a generator makes.",
    place=210,
    minutes=6,
    words="birthday paradox; support size; diversity; mode collapse; memorization",
    references=(
        "Arora & Zhang 2017, arXiv:1706.08224",
        "[UDL] §15 notes (more than half at 400 draws speaks of 115,260 things at most, not of 400,000)",
    ),
    machine="gan",
    symbols={
        "N": "estimated number of different pictures",
    },
    state=State,
    scenes={
        "Near-duplicates": Scene(
            "Each frame holds two samples within 0.35 of the median distance: are they the same digit?",
            State(model="infogan-mnist", threshold=0.35, support=365),
        ),
        "DCGAN": Scene(
            "No two samples are equal; how many pairs are near-duplicates depends on the threshold.", State()
        ),
        "Training set": Scene(
            "Real digits without duplicates: at 0.3 about as many pairs are near as among the DCGAN's.",
            State(model=REAL),
        ),
        "ACGAN": Scene(
            "At the same threshold more than twice as many near pairs as for the DCGAN: less variety.",
            State(model="acgan-digits"),
        ),
        "Birthdays": Scene(
            "Of 365 digits, drawn with repeats, 23 draws hold two equal ones with probability one half.",
            State(model=KNOWN, size=365, threshold=0.0, support=365),
        ),
        "N = 1,000": Scene(
            "2.7 times as many digits need only some 1.6 times as many draws: the number grows as √N.",
            State(model=KNOWN, size=1000, threshold=0.0, support=1000),
        ),
        "N = 400,000": Scene(
            "The grey curve reaches 18 % at 400 draws, and not one half.", State(support=400_000)
        ),
        "N = 115,260": Scene(
            "The grey curve reaches one half at 400 draws: it takes no more than 115,260 different samples.",
            State(support=115_260),
        ),
        "28 × 28": Scene(
            "Larger pictures can differ in more pixels: far fewer pairs are within 0.3 than at 8 × 8.",
            State(model="dcgan-mnist"),
        ),
    },
    was={
        1: "DCGAN",
        2: "Training set",
        3: "ACGAN",
        4: "Birthdays",
        5: "N = 1,000",
        6: "N = 400,000",
        7: "N = 115,260",
        8: "28 × 28",
        "DCGAN, 8 × 8": "DCGAN",
        "Training digits": "Training set",
        "365 birthdays": "Birthdays",
        "Birthday paradox": "Birthdays",
        "A thousand": "N = 1,000",
        "400 draws": "N = 400,000",
        "115,260": "N = 115,260",
    },
)
