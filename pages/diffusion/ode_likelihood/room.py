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
    idea="Noising without noise: a smooth way to N(0, I), and back to log p.",
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
    state=State,
    scenes={
        "A point": Scene(
            "The hills melt into N(0, I); how much the point's neighbourhood grows adds up.", State()
        ),
        "Far out": Scene(
            "A point far off the data has a log p too, and a very low one: a GAN has none.",
            State(x1=4.0, x2=-3.5),
        ),
        "Too little noise": Scene(
            "Noise ends early, p₁ is not N(0, I): no tolerance mends the mismatch.", State(last=2.0)
        ),
        "Loose solver": Scene(
            "At tolerance 0.1 a few steps serve, and log p is off from the truth.",
            State(tolerance=0.1, source="eight modes", x1=3.0, x2=0.5),
        ),
        "Probes": Scene(
            "One random probe for the divergence is off; the mean of many comes near.", State(probes=32)
        ),
        "Other noise": Scene(
            "sub-VP noises less on the way: another path, and nearly the same log p.", State(kind="sub-VP")
        ),
        "Network": Scene(
            "A trained network's own log p, next to the data's.",
            State(source="eight, network", x1=3.0, x2=0.25),
        ),
        "Between moons": Scene(
            "Between the arms the network's log p is far below that on an arm.",
            State(source="moons, network", x1=-2.0, x2=0.25),
        ),
    },
)
