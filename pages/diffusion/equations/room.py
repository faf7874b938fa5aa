"""Noising as an SDE: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene

KINDS = "VP", "sub-VP", "VE"
WAYS = NOISING, SDE_BACK, ODE_BACK = "noising", "back, SDE", "back, ODE"
DATAS, CLOUDS = "the data's", "the cloud's"


@dataclass(frozen=True, kw_only=True)
class State:
    kind: Annotated[str, Choice("Equation", KINDS)] = "VE"
    way: Annotated[str, Choice("Way", WAYS)] = NOISING
    S: Annotated[int, Choice("Steps S", (10, 20, 50, 100, 200))] = 50
    end: Annotated[int, Choice("VE's σ at t = 1", (2, 5, 10, 50))] = 10
    unit: Annotated[str, Choice("Unit of the plane", (DATAS, CLOUDS))] = DATAS
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    step: Annotated[int | None, Frame("t =", seconds=0.12)] = None

    @property
    def own_unit(self) -> bool:
        """Whether the plane is in the cloud's own unit."""
        return self.unit == CLOUDS


ROOM = Room(
    title="Noising as an SDE",
    idea="VP noise shrinks the data, VE noise does not: the same marginals in two units, and a way back.",
    place=150,
    minutes=3,
    words=(
        "equations of noise; SDE; stochastic differential equation; VP-SDE; VE-SDE; variance exploding; "
        "variance preserving; probability flow ODE; Fokker-Planck"
    ),
    references=(
        "Song et al. 2021, arXiv:2011.13456 (VP, sub-VP, VE; the probability-flow ODE); Anderson 1982",
        "Song & Ermon 2019, arXiv:1907.05600 (noise that is added and nothing shrinks)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    symbols={
        "m": "what is left of a point of the data",
        "v": "variance of the noise",
    },
    state=State,
    scenes={
        "Flow ODE": Scene(
            "Without noise on the way back paths are smooth; play on, and they end at the eight modes.",
            State(kind="VP", unit=CLOUDS, S=100, way=ODE_BACK, step=35),
        ),
        "Variance exploding": Scene(
            "VE does not shrink the data: noise is added until the eight modes are a dot in it.", State()
        ),
        "Variance preserving": Scene(
            "VP shrinks the data while noise comes in: the cloud keeps the deviation 1.", State(kind="VP")
        ),
        "VE rescaled": Scene(
            "In the cloud's own unit VE passes through the same marginals as VP, at other times.",
            State(unit=CLOUDS),
        ),
        "Reverse SDE": Scene(
            "A cloud of σ = 10 is led back to the eight modes in 100 steps with noise.",
            State(unit=CLOUDS, S=100, way=SDE_BACK),
        ),
        "Ten steps": Scene(
            "In ten steps VE brings most points to a mode, VP little more than half: see the bars.",
            State(unit=CLOUDS, S=10, way=SDE_BACK),
        ),
        "Ten Euler steps": Scene(
            "From σ = 50 ten steps of the ODE bring no point to a mode.",
            State(end=50, S=10, unit=CLOUDS, way=ODE_BACK),
        ),
        "Prior mismatch": Scene(
            "At σ = 2 the prior that the way back starts from is narrower than p₁ by a tenth.",
            State(end=2, S=100, unit=CLOUDS, way=SDE_BACK),
        ),
    },
    was={
        1: "Variance exploding",
        2: "Variance preserving",
        3: "VE rescaled",
        4: "Reverse SDE",
        5: "Ten steps",
        6: "Flow ODE",
        7: "Ten Euler steps",
        8: "Prior mismatch",
        "Explodes": "Variance exploding",
        "Preserves": "Variance preserving",
        "One walk": "VE rescaled",
        "Back": "Reverse SDE",
        "Without noise": "Flow ODE",
        "Too far": "Ten Euler steps",
        "Ends too soon": "Prior mismatch",
        "Discretisation error": "Ten Euler steps",
        "Ten steps of the SDE": "Ten steps",
        "Probability flow ODE": "Flow ODE",
    },
)
