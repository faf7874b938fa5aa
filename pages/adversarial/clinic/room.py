"""Collapse clinic: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, late

NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class State:
    target: Annotated[str, Choice("Data", ("ring8", "grid25"))] = "ring8"
    failure: Annotated[str, Choice("Failure", late("lens", "failures"), as_list=True)] = "5 turns of G"
    cure: Annotated[str, Choice("Cure", late("lens", "cures"), as_list=True)] = "packs of 4"
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Batch", seconds=0.2)] = None


ROOM = Room(
    title="Collapse clinic",
    idea="Left a game that collapses to few modes, right the same game with one cure.",
    place=90,
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
    symbols={
        r"\hat{p}": "share of the samples at each mode",
        "K": "number of modes",
    },
    state=State,
    was={
        1: "PacGAN",
        2: "Minibatch std",
        3: "Penalty",
        4: "Fast G",
        5: "Weak D",
        6: "Mode collapse",
        "Too greedy": "PacGAN",
        "Spread of a batch": "Minibatch std",
        "A penalty": "Penalty",
        "Too fast": "Fast G",
        "A weak judge": "Weak D",
        "Paid for variety": "Mode collapse",
        "Mode seeking": "Mode collapse",
        "A way back": "VEEGAN",
        "Softer labels": "Soft labels",
        "Twenty-five": "25 Gaussians",
    },
    scenes={
        "Mode collapse": Scene(
            "Left all samples are one or two clusters; right G is rewarded for variety: count the modes.",
            State(cure="mode seeking", look=20),
        ),
        "PacGAN": Scene(
            "Right D sees packs of four samples: count the modes, then watch how near to them samples lie.",
            State(look=12),
        ),
        "Minibatch std": Scene(
            "Right D also sees the standard deviation of its batch: watch when the cluster spreads.",
            State(cure="minibatch std", look=15),
        ),
        "Penalty": Scene(
            "Right a gradient penalty bounds the slope of D: watch whether the collapse goes away.",
            State(cure="penalty", look=15),
        ),
        "Fast G": Scene(
            "G learns ten times as fast as D: count the modes, without packs (left) and with packs (right).",
            State(failure="G's rate × 10"),
        ),
        "Weak D": Scene(
            "D has one layer of eight units: count the modes, then watch how near to them the samples lie.",
            State(failure="D of 8 units"),
        ),
        "VEEGAN": Scene(
            "Right a network reconstructs the noise of each sample: count the modes, then watch their place.",
            State(cure="noise found again"),
        ),
        "Soft labels": Scene(
            "Right D learns labels of 0.9 for real examples: watch whether the collapse goes away.",
            State(cure="labels of 0.9"),
        ),
        "25 Gaussians": Scene(
            "Five steps of G for one of D, on a grid of 25 modes: count the modes left and right.",
            State(target="grid25"),
        ),
    },
)
