"""Flow matching: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene

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
    model: Annotated[str, Model("Reflow", ("reflow-eight",), when=False)] = "reflow-eight"
    paired: Annotated[str, Model("Best pairs", ("fm-optimal-eight",), when=False)] = "fm-optimal-eight"
    view: Annotated[str, Choice("Show", VIEWS)] = FLOW
    flow: Annotated[str, Choice("Velocity", FLOWS, when=in_flow)] = FIRST
    N: Annotated[int, Choice("Euler steps N", STEPS, when=in_flow)] = 8
    pairs: Annotated[str, Choice("Pairs", COUPLINGS, as_list=True, when=in_pairs)] = COUPLINGS[0]
    batch: Annotated[int, Choice("Batch", BATCHES, as_list=True, when=in_pairs)] = 64
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    t: Annotated[float, Frame("Time t", MOMENTS, seconds=0.08)] = 1.0

    @property
    def flow_model(self) -> Annotated[str, Model("Velocity")]:
        """The model whose velocity it is."""
        return self.paired if self.flow == BEST else self.model


ROOM = Room(
    title="Flow matching",
    idea="Learn the velocity of straight lines from noise to data, and follow it.",
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
    state=State,
    scenes={
        "Followed": Scene(
            "Play: in fifty small steps the cloud flows to the eight circles.", State(N=50, t=0.0)
        ),
        "One step": Scene(
            "One step lands on the mean of the data, whatever the data are.", State(flow="exact", N=1)
        ),
        "Two steps": Scene("Two steps of the first round: most points miss their circles.", State(N=2)),
        "Reflow": Scene(
            "Trained again on its own pairs, even one step does what took fifty.",
            State(flow="after reflow", N=1),
        ),
        "Paths bend": Scene(
            "Lines of pairs cross, paths cannot: they bend and share out the modes.", State(N=50, t=0.7)
        ),
        "Straight": Scene("After the reflow paths are nearly lines.", State(flow="after reflow", N=50)),
        "Lines cross": Scene(
            "Paired at random, as in training: two lines cross over one time in four.", State(view=PAIRS)
        ),
        "Best pairs": Scene(
            "The same points, paired by the best assignment: next to none cross.",
            State(view=PAIRS, pairs=COUPLINGS[1]),
        ),
        "Trained on them": Scene(
            "Trained on the best pairs of each batch: one step does what took eight.",
            State(flow="best pairs", N=1),
        ),
    },
)
