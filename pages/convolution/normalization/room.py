"""BatchNorm and its relatives: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, late

VIEWS = BY_HAND, TEST, CUBE = "By hand", "Training and test", "Norm cube"
FORMS = ROOT, BESIDE = "√(s² + ε)", "s + ε"
NORMS = OF_BATCH, OF_GHOST, OF_PLACE, OF_LAYER, OF_TOKEN, OF_GROUP, OF_INSTANCE = (
    "batch", "ghost", "batch, each position", "layer (C, HW)", "layer (C)", "group", "instance",
)  # fmt: skip
BATCHES, STEPS, CHANNELS = (2, 3, 4, 8, 32), range(1, 61), 4
NODES = ("z", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "y")
MOVES = range(2 * len(NODES))  # forwards, then backwards
OWN = {"Four numbers": "1 2 4 7", "All alike": "3 3 3 3", "One far off": "0 1 0 1 0 100"}


def of(*views: str) -> Any:
    return lambda now: now.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = BY_HAND
    given: Annotated[
        str,
        Text("Batch z", 60, reads=late("by_hand", "batch"), examples=OWN, area=False,
             when=of(BY_HAND, TEST), help="Two to six numbers."),
    ] = OWN["Four numbers"]  # fmt: skip
    above: Annotated[
        str,
        Text("Gradients ∂L/∂y", 60, reads=late("by_hand", "gradients"), area=False, when=of(BY_HAND),
             help="One for each number of the batch; those that are missing are 0."),
    ] = "1"  # fmt: skip
    c: Annotated[
        float, Choice("Weights before it times c", (0.25, 0.5, 1.0, 2.0, 4.0), label_of="{:g}".format,
                      when=of(BY_HAND))
    ] = 1.0  # fmt: skip
    gamma: Annotated[float, Slider("γ", -3.0, 3.0, step=0.25, when=of(BY_HAND), row="scale")] = 1.5
    delta: Annotated[float, Slider("δ", -3.0, 3.0, step=0.25, when=of(BY_HAND), row="scale")] = -0.5
    form: Annotated[str, Choice("Divided by", FORMS, when=of(BY_HAND))] = ROOT
    power: Annotated[int, Slider("log₁₀ ε", -8, 1, when=of(BY_HAND))] = -5
    size: Annotated[int, Choice("Batch size B", BATCHES, when=of(TEST))] = 2
    momentum: Annotated[float, Choice("Momentum", (0.01, 0.1, 0.5, 1.0), when=of(TEST))] = 0.1
    example: Annotated[
        int, Slider("Example", 1, late("testing", "count"), when=of(TEST), help="Its place in the batch.")
    ] = 2  # fmt: skip
    norm: Annotated[str, Choice("Norm", NORMS, as_list=True, when=of(CUBE))] = OF_GROUP
    examples: Annotated[int, Slider("Examples N", 1, 4, when=of(CUBE), row="size")] = 3
    positions: Annotated[int, Slider("Positions HW", 1, 5, when=of(CUBE), row="size")] = 4
    groups: Annotated[int, Choice("Groups of channels", (1, 2, 4), when=of(CUBE))] = 2
    ghost: Annotated[int, Choice("Ghost batch", (1, 2, 3, 4), when=of(CUBE))] = 2
    seed: Annotated[int, Number("Seed", 0, 99, when=of(TEST, CUBE))] = 0
    move: Annotated[int, Frame("Step", MOVES, seconds=1.0, when=of(BY_HAND))] = MOVES[-1]
    step: Annotated[int, Frame("Batch", STEPS, seconds=0.2, when=of(TEST))] = STEPS[-1]
    part: Annotated[int, Frame("Set", seconds=0.6, when=of(CUBE))] = 3


ROOM = Room(
    title="BatchNorm and its relatives",
    idea="Which numbers share a mean and a variance makes the norm.",
    place=145,
    minutes=8,
    words="batch normalization; BatchNorm; layer normalization; LayerNorm; group normalization; GroupNorm; "
    "instance normalization; ghost batch normalization; running mean; running variance; batch statistics; "
    "backpropagation by hand; computational graph; gamma and delta; epsilon; scale invariance; train and "
    "eval; norm cube",
    references=(
        "[UDL] §11.4, figures 11.14 and 11.15, problem 11.5; [BB] 1.6; [LLM] part 4",
        "Ioffe & Szegedy 2015, arXiv:1502.03167 (BatchNorm)",
        "Wu & He 2018, arXiv:1803.08494 (GroupNorm); Hoffer et al. 2017, arXiv:1705.08741 (ghost batches)",
    ),
    state=State,
    symbols={
        "z": "a batch of numbers", "y": "what BatchNorm makes of it", "L": "loss", "m": "mean",
        "s^2": "variance of the whole set", "N": "size of the batch", r"\epsilon": "kept from 0",
        r"\gamma": "scale", r"\delta": "shift", "i": "an example", "f_1": "mean", "f_2": "less the mean",
        "f_3": "its square", "f_4": "variance", "f_5": "deviation", "f_6": "one over it",
        "f_7": "normalised", r"\hat{x}": "normalised", "x": "a number of the cube", "z_i": "one of them",
        "v": "variance of the lit cells", r"\bar{s}^2": "running average of the variance",
        "B": "size of a batch",
    },
    scenes={
        "Forwards": Scene(
            "Blue numbers run from z to y: less the mean 3.5, over the deviation 2.291, times γ, plus δ.",
            State(move=8),
        ),
        "Backwards": Scene(
            "A gradient at one y (red) reaches every z, through the mean and the variance; they sum to 0.",
            State(),
        ),
        "Scale of weights": Scene(
            "Weights before the norm times 4: y is the same, the gradients at z are a quarter.",
            State(c=4.0),
        ),
        "All alike": Scene(
            "Four equal numbers: y is δ for all, and the gradient is times γ/√ε, hundreds of times larger.",
            State(given=OWN["All alike"]),
        ),
        "Batches of 2": Scene(
            "Batches of 2: the training output jumps with its mate; torch's average has twice the variance.",
            State(view=TEST),
        ),
        "Batches of 32": Scene(
            "In batches of 32 training and test outputs nearly agree.", State(view=TEST, size=32)
        ),
        "GroupNorm": Scene(
            "Lit cells share a mean and a variance: half of the channels of one example.", State(view=CUBE)
        ),
        "BatchNorm": Scene(
            "BatchNorm: one channel of all examples is lit; what is in the batch changes the answer.",
            State(view=CUBE, norm=OF_BATCH, part=2),
        ),
        "Same norm": Scene(
            "One group is layer norm, a ghost batch of all is batch norm: equals signs off the diagonal.",
            State(view=CUBE, norm=OF_LAYER, groups=1, ghost=3, part=2),
        ),
    },
)  # fmt: skip
