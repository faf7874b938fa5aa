"""Noise schedules: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Room, Scene, Slider, Text, Toggle, late

KINDS = LINEAR, COSINE, OWN = "linear", "cosine", "own"


@dataclass(frozen=True, kw_only=True)
class State:
    kind: Annotated[str, Choice("Schedule", KINDS)] = LINEAR
    T: Annotated[int, Choice("Steps T", (10, 100, 1000))] = 1000
    top: Annotated[
        float,
        Slider("Last β at T = 1000", 0.002, 0.04, step=0.002, disabled=lambda s: s.kind != LINEAR),
    ] = 0.02
    s: Annotated[float, Slider("Offset s", 0.0, 0.1, step=0.004, disabled=lambda s: s.kind != COSINE)] = 0.008
    bars: Annotated[
        str,
        Text(
            "ᾱ after each of equal stretches",
            80,
            reads=late("lens", "typed_bars"),
            says=late("lens", "left_out"),
            when=lambda s: s.kind == OWN,
        ),
    ] = "0.98 0.95 0.5 0.05 0.02"
    zero: Annotated[bool, Toggle("Zero SNR at T")] = False
    step: Annotated[int | None, Frame("t =", first=lambda s: min(s.T, 41) // 2)] = None


ROOM = Room(
    title="Noise schedules",
    idea="A schedule says how much of the data each step of noise leaves.",
    place=20,
    minutes=2,
    words=(
        "noise schedule; cosine schedule; linear schedule; SNR; signal-to-noise ratio; zero terminal SNR; "
        "beta schedule"
    ),
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "Nichol & Dhariwal 2021, arXiv:2102.09672",
        "Lin et al. 2023, arXiv:2305.08891",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    symbols={
        "s": "a step",
    },
    state=State,
    scenes={
        "Cosine schedule": Scene(
            "Half-way the cosine schedule still has ᾱ = ½; the linear one has nearly no data left.",
            State(kind="cosine", step=20),
        ),
        "Linear schedule": Scene(
            "Half-way hardly any data is left, so the steps of the second half have little to teach.", State()
        ),
        "Cap on β": Scene(
            "The last β of the cosine schedule is capped at 0.999: see the last point of its curve.",
            State(kind="cosine", step=40),
        ),
        "Ten steps": Scene(
            "With few steps each β is large: it reaches its cap, and the first takes 1 % of the variance.",
            State(T=10, step=9),
        ),
        "Signal left at T": Scene(
            "With a small β some of the data is left at t = T: xₜ does not end as pure noise.",
            State(top=0.004, step=40),
        ),
        "Zero terminal SNR": Scene(
            "Rescaled, the schedule leaves no data at t = T: there ε tells nothing about x₀.",
            State(zero=True, step=40),
        ),
        "Your own schedule": Scene(
            "Type ᾱ after equal stretches of time: β is largest where ᾱ falls tenfold.",
            State(kind="own", step=20),
        ),
    },
    was={
        1: "Linear schedule",
        2: "Cosine schedule",
        "Linear": "Linear schedule",
        "Cosine": "Cosine schedule",
        "The clip": "Cap on β",
        "Gentle": "Signal left at T",
        "Zero at the end": "Zero terminal SNR",
        "Your own": "Your own schedule",
    },
)
