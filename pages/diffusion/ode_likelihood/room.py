"""Likelihood by ODE: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider

TWO, EIGHT_NET, MOONS_NET = "two modes", "eight, network", "moons, network"
EQUATIONS = "VP", "sub-VP"


@dataclass(frozen=True, kw_only=True)
class State:
    source: Annotated[str, Choice("Score of", (TWO, "eight modes", EIGHT_NET, MOONS_NET), as_list=True)] = TWO
    x1: Annotated[float, Number("x₁", -4.0, 4.0, step=0.25)] = -1.5
    x2: Annotated[float, Number("x₂", -4.0, 4.0, step=0.25)] = 0.5
    last: Annotated[float, Choice("β at the end", (2.0, 5.0, 20.0), label_of="{:g}".format)] = 20.0
    kind: Annotated[str, Choice("Noising", EQUATIONS)] = "VP"
    tolerance: Annotated[float, Choice("Tolerance", (0.1, 1e-3, 1e-5), label_of="{:g}".format)] = 1e-3
    probes: Annotated[int, Slider("Hutchinson probes", 0, 64, step=4)] = 0
    step: Annotated[int, Frame("t =", seconds=0.15)] = 6

    @property
    def point(self) -> tuple[float, float]:
        return self.x1, self.x2

    @property
    def model(self) -> Annotated[str | None, Model("Network")]:
        """Whose score it is; None where the score is known."""
        return {EIGHT_NET: "ddpm-eight", MOONS_NET: "ddpm-moons"}.get(self.source)


ROOM = Room(
    title="Likelihood by ODE",
    idea="The probability flow ODE maps data to N(0, I); the change of variables gives log p.",
    place=160,
    minutes=6,
    words="probability flow ODE; Hutchinson; exact likelihood; neural ODE; ODE solver",
    references=(
        "Song et al. 2021, arXiv:2011.13456",
        "Grathwohl et al. 2019, arXiv:1810.01367 (one probe a solve)",
        "[UDL] fig. 14.3 and §16.5.1 grant diffusion a lower bound only",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    machine="diffusion",
    symbols={
        "dt": "integral over time",
        "u": "velocity of the ODE",
        "p_0": "density of the model at the data",
        "x_1": "where the ODE takes the data at time 1",
    },
    state=State,
    scenes={
        "Change of variables": Scene(
            "Along the path to N(0, I) the divergence of the flow adds up to the change of log p (right).",
            State(),
        ),
        "Far away": Scene(
            "A point far from the data has a very low log p; a GAN gives none.", State(x1=4.0, x2=-3.5)
        ),
        "Prior mismatch": Scene(
            "With β up to 2, p₁ is not yet N(0, I): log p is off, whatever the tolerance.", State(last=2.0)
        ),
        "Discretisation error": Scene(
            "At tolerance 0.1 the solver takes few steps (crosses), and log p is off.",
            State(tolerance=0.1, source="eight modes", x1=3.0, x2=0.5),
        ),
        "Hutchinson": Scene(
            "One random probe of the divergence gives a noisy log p; the mean of 32 is near (lower right).",
            State(probes=32),
        ),
        "sub-VP": Scene(
            "sub-VP has less noise on the way: another path, and nearly the same log p.",
            State(kind="sub-VP"),
        ),
        "Network's score": Scene(
            "The log p by a trained network's score comes near that of the data.",
            State(source="eight, network", x1=3.0, x2=0.25),
        ),
        "Between moons": Scene(
            "Between the moons the network's log p is far below that on a moon.",
            State(source="moons, network", x1=-2.0, x2=0.25),
        ),
    },
    was={
        "A point": "Change of variables",
        "Far out": "Far away",
        "Too little noise": "Prior mismatch",
        "Loose solver": "Discretisation error",
        "Probes": "Hutchinson",
        "Other noise": "sub-VP",
        "Network": "Network's score",
        "Score of a network": "Network's score",
        "Far from the data": "Far away",
        "Hutchinson's estimator": "Hutchinson",
        "Between the moons": "Between moons",
    },
)
