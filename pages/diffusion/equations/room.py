"""Noising as an SDE: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Number, Room, Scene, late

DATA = CLOUD, DIGIT = "eight Gaussians", "a digit"
KINDS = "VP", "sub-VP", "VE"
WAYS = NOISING, SDE_BACK, ODE_BACK = "noising", "back, SDE", "back, ODE"
DATAS, CLOUDS = "the data's", "the cloud's"


def in_plane(state: Any) -> bool:
    return bool(state.of == CLOUD)


def of_digit(state: Any) -> bool:
    return not in_plane(state)


@dataclass(frozen=True, kw_only=True)
class State:
    of: Annotated[str, Choice("Data", DATA)] = CLOUD
    kind: Annotated[str, Choice("Equation", KINDS, when=in_plane)] = "VE"
    way: Annotated[str, Choice("Way", WAYS, when=in_plane)] = NOISING
    S: Annotated[int, Choice("Steps S", (10, 20, 50, 100, 200), when=in_plane)] = 50
    end: Annotated[int, Choice("VE's σ at t = 1", (2, 5, 10, 50))] = 10
    unit: Annotated[str, Choice("Unit of the plane", (DATAS, CLOUDS), when=in_plane)] = DATAS
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    digit: Annotated[
        str | None, Drawing("Digit", 28, late("lab.lenses.drawing", "examples", (28,)), when=of_digit)
    ] = None
    step: Annotated[int | None, Frame("t =", seconds=0.12)] = None

    @property
    def own_unit(self) -> bool:
        """Check whether the plane is in the cloud's own unit."""
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
        "VP and VE": Scene(
            "VP scales the digit down while noise comes in; VE leaves the digit as it is and adds noise.",
            State(of=DIGIT, end=50, step=7),
        ),
        "Flow ODE": Scene(
            "Without noise on the way back paths are smooth; play on, and they end at the eight modes.",
            State(kind="VP", unit=CLOUDS, S=100, way=ODE_BACK, step=35),
        ),
        "VE cloud": Scene(
            "VE does not shrink the data: noise is added until the eight modes are a dot in it.", State()
        ),
        "VP cloud": Scene(
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
        1: "VE cloud",
        2: "VP cloud",
        3: "VE rescaled",
        4: "Reverse SDE",
        5: "Ten steps",
        6: "Flow ODE",
        7: "Ten Euler steps",
        8: "Prior mismatch",
        "Explodes": "VE cloud",
        "Preserves": "VP cloud",
        "Variance exploding": "VE cloud",
        "Variance preserving": "VP cloud",
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
