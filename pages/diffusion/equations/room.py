"""Equations of noise: what the room is, what its controls hold, its scenes."""

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
    title="Equations of noise",
    idea="Noise can replace the data or be heaped upon them: one walk in two units.",
    place=150,
    minutes=3,
    words=(
        "SDE; stochastic differential equation; VP-SDE; VE-SDE; variance exploding; variance preserving; "
        "probability flow ODE; Fokker-Planck"
    ),
    references=(
        "Song et al. 2021, arXiv:2011.13456 (VP, sub-VP, VE; the probability-flow ODE); Anderson 1982",
        "Song & Ermon 2019, arXiv:1907.05600 (noise that is added and nothing shrinks)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    state=State,
    scenes={
        "Explodes": Scene(
            "VE shrinks nothing: noise is heaped on the data until they are a dot in it.", State()
        ),
        "Preserves": Scene(
            "VP shrinks the data as the noise comes: the cloud stays one unit wide.", State(kind="VP")
        ),
        "One walk": Scene(
            "Seen in its own unit VE's cloud drowns as VP's does, at other times.", State(unit="the cloud's")
        ),
        "Back": Scene(
            "From a cloud ten wide, noisy steps lead back to the eight.",
            State(unit="the cloud's", S=100, way=SDE_BACK),
        ),
        "Ten steps": Scene(
            "In ten noisy steps VE brings most points home, VP little more than half.",
            State(unit="the cloud's", S=10, way=SDE_BACK),
        ),
        "Without noise": Scene(
            "The flow of the same marginals: smooth paths, the same end.",
            State(kind="VP", unit="the cloud's", S=100, way=ODE_BACK),
        ),
        "Too far": Scene(
            "From σ = 50 ten steps of the ODE leave every point short of the eight.",
            State(end=50, S=10, unit="the cloud's", way=ODE_BACK),
        ),
        "Ends too soon": Scene(
            "σ up to 2: the noise it starts from is narrower than p₁ by a tenth.",
            State(end=2, S=100, unit="the cloud's", way=SDE_BACK),
        ),
    },
)
