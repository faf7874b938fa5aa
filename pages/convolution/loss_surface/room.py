"""Loss surface: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Toggle, late

VIEWS = CONTOURS, RELIEF, SAME, PATH = "Contours", "Relief", "Same function", "Training path"
NETWORKS = WITHOUT, WITH = "without skips", "with skips"
HOLDS = SHARE, HALF, BATCH = "h + f·√(1/K)", "(h + f)/√2", "batch norm"
DEPTHS, FACTORS, REACHES = (4, 8, 16, 24), (1, 3, 10, 30), (0.1, 0.25, 0.5, 1.0)
TENTHS = 10  # of the range, from the centre to the edge
TRAIN_STEPS, STRIDE = 120, 8
LOOKS = range(0, TRAIN_STEPS + 1, STRIDE)
TURNS = range(0, 360, 20)


def of(*views: str) -> Any:
    return lambda now: now.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    networks = late("lens", "trained")
    slices = late("lens", "slices")

    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = CONTOURS
    layers: Annotated[int, Choice("Layers", DEPTHS)] = 16
    hold: Annotated[
        str,
        Choice("What holds the sums", HOLDS, as_list=True, when=lambda now: now.view != SAME,
               help="With batch norm the network without skips has it too; K is the number of blocks."),
    ] = SHARE  # fmt: skip
    which: Annotated[str, Choice("Network", NETWORKS, as_list=True, when=of(SAME))] = WITH
    factor: Annotated[
        int,
        Choice("Layer × c, the next ÷ c", FACTORS, when=of(SAME),
               help="The two layers of the first block; only a ReLU stands between them."),
    ] = 10  # fmt: skip
    filters: Annotated[
        bool,
        Toggle("Filter-normalised", when=lambda now: now.view != PATH,
               help="Else raw: one factor for the whole direction."),
    ] = True  # fmt: skip
    reach: Annotated[
        float, Choice("Range of α and β", REACHES, as_list=True, when=lambda now: now.view != PATH)
    ] = 1.0  # fmt: skip
    alpha: Annotated[
        int,
        Slider("α", -TENTHS, TENTHS, when=of(CONTOURS, SAME), row="place",
               help="In tenths of the range; or click a place in a picture."),
    ] = 0  # fmt: skip
    beta: Annotated[int, Slider("β", -TENTHS, TENTHS, when=of(CONTOURS, SAME), row="place")] = 0
    draw: Annotated[int, Number("Draw of d", 0, 99, when=lambda now: now.view != PATH, row="draws")] = 0
    seed: Annotated[int, Number("Training", 0, 99, row="draws", help="Its seed.")] = 0
    turn: Annotated[int, Frame("Turned by", TURNS, seconds=0.35, when=of(RELIEF))] = 40
    step: Annotated[int, Frame("Step", LOOKS, seconds=0.3, when=of(PATH))] = TRAIN_STEPS

    @property
    def held(self) -> str:
        """What holds the sums: no norm where a layer is multiplied."""
        return SHARE if self.view == SAME else self.hold


ROOM = Room(
    title="Loss surface",
    idea="Two directions in the space of weights make a map of the loss: rough without skips, a bowl with.",
    place=150,
    minutes=7,
    words="loss landscape; loss slice; filter normalisation; sharpness; flat minimum; curvature; Hessian; "
    "random directions; skip connection; residual network; ResNet; convexity; scale invariance; ReLU; "
    "training trajectory; contour",
    references=(
        "[UDL] §11.6, figure 11.13",
        "Li et al. 2018, arXiv:1712.09913 (filter normalisation, paths)",
        "Dinh et al. 2017, arXiv:1703.04933 (sharp minima by rescaling)",
        "Goodfellow et al. 2015, arXiv:1412.6544 (slices of the loss)",
    ),
    state=State,
    symbols={
        "L": "loss on 128 training curves", r"\theta^*": "weights after training",
        r"\theta": "weights at this step", r"\alpha": "how far along the first direction",
        r"\beta": "how far along the second direction",
        "d_1": "first direction", "d_2": "second direction", "c": "factor of the layer",
        "u_1": "main direction of the path", "u_2": "second direction of the path",
    },
    scenes={
        "Rough and bowl": Scene(
            "Without skips the contours have bays and are not convex; with skips they are rings around θ*.",
            State(),
        ),
        "Relief": Scene(
            "Turn both: without skips ridges and walls, with skips a bowl, on one logarithmic scale.",
            State(view=RELIEF),
        ),
        "Four layers": Scene(
            "With four layers both are bowls: the roughness comes with depth.",
            State(layers=4),
        ),
        "Batch norm": Scene(
            "Batch norm in both: without skips the surface stays rough and steep, with skips nearly a bowl.",
            State(hold=BATCH),
        ),
        "24 layers": Scene(
            "A skip is no guarantee: at 24 layers with (h + f)/√2 the right surface has bays, too.",
            State(hold=HALF, layers=24),
        ),
        "Raw misleads": Scene(
            "One function twice: a layer × 10, the next ÷ 10; raw directions make its minimum look sharp.",
            State(view=SAME, filters=False, reach=0.25),
        ),
        "Normalised": Scene(
            "Filter-normalised directions grow and shrink with the filters: both pictures are one.",
            State(view=SAME),
        ),
        "Training path": Scene(
            "The path from the start to θ* on its own two main directions; on random ones it is a point.",
            State(view=PATH, step=56),
        ),
        "Another draw": Scene(
            "Two other directions, other contours: still rough on the left, rings on the right.",
            State(draw=1),
        ),
    },
)  # fmt: skip
