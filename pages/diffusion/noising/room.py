"""Noising: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Number, Room, Scene, Slider, late


@dataclass(frozen=True, kw_only=True)
class State:
    drawing: Annotated[str | None, Drawing("Your drawing", 16, late("lab.lenses.ink", "examples", (16,)))] = (
        None
    )
    kind: Annotated[str, Choice("Schedule", ("linear", "cosine"))] = "linear"
    T: Annotated[int, Choice("Steps T", (10, 100, 1000))] = 1000
    way: Annotated[str, Choice("Noise", ("at once", "step by step"))] = "at once"
    pixel: Annotated[float, Slider("Pixel x₀ on the right", -1.0, 1.0, step=0.25)] = 1.0
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    t: Annotated[int | None, Frame("t =", seconds=0.1, first=lambda s: s.T // 4)] = None


ROOM = Room(
    title="Noising",
    idea="Each step shrinks the drawing a little and adds a little noise, until only noise is left.",
    place=10,
    minutes=5,
    words="forward process; diffusion; DDPM; noise schedule; Markov chain; signal-to-noise ratio",
    references=(
        "Sohl-Dickstein et al. 2015, arXiv:1503.03585; Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "[BB] §5, thm 5.3 and ex. 5.6: images and sums of Gaussians",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    state=State,
    scenes={
        "Your drawing": Scene("Play: the drawing drowns, and its pixel's law becomes N(0, 1).", State(t=0)),
        "Half-way": Scene("At t = 500 the linear schedule has left little of the drawing.", State(t=500)),
        "Cosine": Scene("The cosine has left more of it at the same t.", State(kind="cosine", t=500)),
        "Step by step": Scene(
            "Five hundred single steps end under the same law; switch Noise to compare.",
            State(way="step by step", t=500),
        ),
        "Few steps": Scene("Ten large steps end in the same noise.", State(T=10, t=10, way="step by step")),
        "Paper": Scene(
            "A pixel of paper starts at −1 and ends where all others do.", State(pixel=-1.0, t=100)
        ),
    },
)
