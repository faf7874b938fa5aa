"""Flow matching: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Model, Number, Room, Scene

VIEWS = FLOW, PAIRS = "Flow", "Pairs"
COUPLINGS = "at random", "by the best assignment"
FLOWS = FIRST, REFLOW, EXACT, BEST = "first round", "after reflow", "exact", "best pairs"
STEPS, BATCHES = (1, 2, 4, 8, 16, 50), (8, 16, 32, 64, 128, 256)
MOMENTS = tuple(round(0.025 * i, 3) for i in range(41))


def in_flow(state: Any) -> bool:
    return bool(state.view == FLOW)


def in_pairs(state: Any) -> bool:
    return bool(state.view == PAIRS)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Fixed = "reflow-eight"
    paired: Fixed = "fm-optimal-eight"
    view: Annotated[str, Choice("Show", VIEWS)] = FLOW
    flow: Annotated[str, Choice("Velocity", FLOWS, when=in_flow)] = FIRST
    N: Annotated[int, Choice("Euler steps N", STEPS, when=in_flow)] = 8
    pairs: Annotated[str, Choice("Pairs", COUPLINGS, as_list=True, when=in_pairs)] = COUPLINGS[0]
    batch: Annotated[int, Choice("Batch", BATCHES, as_list=True, when=in_pairs)] = 64
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    t: Annotated[float, Frame("t =", MOMENTS, seconds=0.08)] = 1.0

    @property
    def flow_model(self) -> Annotated[str, Model("Velocity")]:
        """The model whose velocity it is."""
        return self.paired if self.flow == BEST else self.model


ROOM = Room(
    title="Flow matching",
    idea="A network learns the velocity of straight lines from noise to data; an ODE follows it.",
    place=190,
    minutes=3,
    words=(
        "rectified flow; flow matching; reflow; optimal transport; conditional flow matching; straight "
        "paths; stochastic interpolants"
    ),
    references=(
        "Lipman et al. 2023, arXiv:2210.02747; Albergo and Vanden-Eijnden 2023, arXiv:2209.15571",
        "Liu et al. 2023, Rectified flow, arXiv:2209.03003",
        "Tong et al. 2023, arXiv:2302.00482 (pairs by assignment within a batch)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    symbols={
        "x": "a point on its way from noise to data",
        "x_t": "the point at time t",
        "x_0": "noise: where a point begins",
        "x_1": "a point of the data: where it ends",
        "t": "time from noise (0) to data (1)",
    },
    state=State,
    scenes={
        "Curved paths": Scene(
            "The lines of random pairs cross, paths of one ODE cannot: they bend towards the modes.",
            State(N=50, t=0.7),
        ),
        "Crossings": Scene(
            "Paired at random, as in training: more than one pair of lines in four crosses.",
            State(view=PAIRS),
        ),
        "One Euler step": Scene(
            "One step of the exact velocity takes every point to the mean of the data.",
            State(flow=EXACT, N=1),
        ),
        "Two Euler steps": Scene(
            "Two steps of the first velocity: most points end outside the circles of the modes.", State(N=2)
        ),
        "Straight paths": Scene(
            "After the reflow (trained again on its own pairs) the paths are nearly straight.",
            State(flow=REFLOW, N=50),
        ),
        "Reflow": Scene(
            "After the reflow one Euler step brings points as near to the data as fifty did before.",
            State(flow=REFLOW, N=1),
        ),
        "Optimal pairs": Scene(
            "The same points, paired by the best assignment: next to no lines cross.",
            State(view=PAIRS, pairs=COUPLINGS[1]),
        ),
        "Minibatch pairs": Scene(
            "Trained on optimal pairs of each batch: one Euler step is as near as eight were.",
            State(flow=BEST, N=1),
        ),
    },
    was={
        2: "One Euler step",
        3: "Two Euler steps",
        4: "Reflow",
        5: "Curved paths",
        6: "Straight paths",
        7: "Crossings",
        8: "Optimal pairs",
        9: "Minibatch pairs",
        "Followed": "Curved paths",
        "One step": "One Euler step",
        "Two steps": "Two Euler steps",
        "Paths bend": "Curved paths",
        "Straight": "Straight paths",
        "Lines cross": "Crossings",
        "Best pairs": "Optimal pairs",
        "Trained on them": "Minibatch pairs",
        "Minibatch optimal transport": "Minibatch pairs",
        "Crossing lines": "Crossings",
    },
)
