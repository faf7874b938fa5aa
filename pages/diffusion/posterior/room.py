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
    idea="Given the data, the step before is a Gaussian: two bells multiplied.",
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
        "Product": Scene(
            "The orange bell is the product: narrower than both, its mean between theirs.", State()
        ),
        "Certain": Scene("At t = 1 the step before is the data itself: nothing is left to draw.", State(t=1)),
        "Late": Scene(
            "Under much noise x₀ alone says little; xₜ has the greater weight.", State(t=8, top=0.4)
        ),
        "Small steps": Scene("Small steps: narrow bells, and a small step back.", State(top=0.05, t=4)),
        "At odds": Scene(
            "x₀ and xₜ disagree, and the mean still lies between the two bells.", State(x0=-2.0, xt=2.0)
        ),
    },
)
