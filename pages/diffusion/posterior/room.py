"""One step back: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Frame, Room, Scene, Slider


@dataclass(frozen=True, kw_only=True)
class State:
    x0: Annotated[float, Slider("Data x₀", -2.0, 2.0, step=0.1)] = 1.0
    xt: Annotated[float, Slider("Noisy xₜ", -2.0, 2.0, step=0.1)] = -0.4
    top: Annotated[float, Slider("Largest β", 0.05, 0.9, step=0.05)] = 0.4
    T: Annotated[int, Slider("Steps T", 4, 12)] = 8
    t: Annotated[int, Frame("t =", seconds=0.8)] = 4


ROOM = Room(
    title="One step back",
    idea="Given x₀ and xₜ, the step before is Gaussian: the product of two Gaussian densities of it.",
    place=30,
    minutes=6,
    words="forward posterior; Bayes; Gaussian conditioning; reverse process; product of Gaussians",
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239, eq. 6-7",
        "[BB] 5: Gaussian conditioning",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    state=State,
    scenes={
        "Product of Gaussians": Scene(
            "The orange density is the product: narrower than both, with its mean between theirs.", State()
        ),
        "Last step": Scene(
            "At t = 1 the step before is x₀ itself: the posterior has variance 0.", State(t=1)
        ),
        "High noise": Scene(
            "Near t = T the density given x₀ is wide, so xₜ has the greater weight in the mean.",
            State(t=8, top=0.4),
        ),
        "Small β": Scene(
            "With small β the density about xₜ is narrow, and one reverse step moves little.",
            State(top=0.05, t=4),
        ),
        "x₀ far from xₜ": Scene(
            "x₀ and xₜ are far apart, and the posterior mean still lies between the two densities.",
            State(x0=-2.0, xt=2.0),
        ),
    },
    was={
        "Product": "Product of Gaussians",
        "Certain": "Last step",
        "Late": "High noise",
        "Small steps": "Small β",
        "At odds": "x₀ far from xₜ",
    },
)
