"""Collapse clinic: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, late

NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class State:
    target: Annotated[str, Choice("Data", ("ring8", "grid25"))] = "ring8"
    failure: Annotated[str, Choice("Spoil it by", late("lens", "failures"), as_list=True)] = "5 turns of G"
    cure: Annotated[str, Choice("Cure", late("lens", "cures"), as_list=True)] = "packs of 4"
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Batch", seconds=0.2)] = None


ROOM = Room(
    title="Collapse clinic",
    idea="A spoiled game holds few modes; beside it the same game, with a cure.",
    place=70,
    minutes=5,
    words="mode collapse; mode dropping; minibatch discrimination; minibatch standard deviation; PacGAN; "
    "label smoothing; unrolled GAN; missing modes; VEEGAN",
    references=(
        "Lin et al. 2018, PacGAN, arXiv:1712.04086; Karras et al. 2018, arXiv:1710.10196 (minibatch std)",
        "Srivastava et al. 2017, arXiv:1705.07761 (modes and high-quality share)",
        (
            "Mao et al. 2019, arXiv:1903.05628 (mode seeking); "
            "Srivastava et al. 2017 (noise found again: VEEGAN)"
        ),
        (
            "Ghosh et al. 2018, arXiv:1704.02906 (several generators: MAD-GAN); "
            "Sinha et al. 2020, arXiv:2002.06224"
        ),
        "Salimans et al. 2016, arXiv:1606.03498 (smoothed labels); Shrivastava et al. 2017, arXiv:1612.07828",
        "[UDL] §15.1.3, §15.2.3 (mode dropping and collapse), notes",
    ),
    machine="gan",
    state=State,
    scenes={
        "Too greedy": Scene(
            "Five turns of G for one of D; right D judges four points at once: count modes.", State(look=12)
        ),
        "Spread of a batch": Scene(
            "Minibatch std shows D how alike a batch is: watch the heap.", State(cure="minibatch std", look=0)
        ),
        "A penalty": Scene(
            "A penalty holds D's slope: watch whether the heap opens.", State(cure="penalty", look=0)
        ),
        "Too fast": Scene(
            "Ten times G's rate: count the modes held at a time, without packs and with.",
            State(failure="G's rate × 10"),
        ),
        "A weak judge": Scene(
            "D has eight units: count the modes, then watch how well they are placed.",
            State(failure="D of 8 units"),
        ),
        "Paid for variety": Scene(
            "Mode seeking pays G to keep samples apart: count the modes it holds.", State(cure="mode seeking")
        ),
        "A way back": Scene(
            "The noise must be found again: count the modes, then watch their place.",
            State(cure="noise found again"),
        ),
        "Softer labels": Scene(
            "Labels of 0.9 keep D from certainty: watch whether the heap opens.", State(cure="labels of 0.9")
        ),
        "Twenty-five": Scene(
            "The same greed on a grid: count the modes of 25, left and right.", State(target="grid25")
        ),
    },
)
