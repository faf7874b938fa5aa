"""Architecture zoo: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = SCALE, SCATTER, CHANNELS, OWN = "To one scale", "Cost", "DenseNet channels", "Own network"
LENET, ALEX, UNET = "LeNet", "AlexNet", "U-Net"
VGG_NETS = {11: (1, 1, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}  # convolutions of each stack
RESNETS = (18, 34, 50, 101, 152, 200)
VGG_19, RESNET_50, RESNET_200, DENSE = "VGG-19", "ResNet-50", "ResNet-200", "DenseNet-121"
HOURGLASS = "Hourglass, stacked"
NETS = (
    LENET,
    ALEX,
    *(f"VGG-{d}" for d in VGG_NETS),
    *(f"ResNet-{d}" for d in RESNETS),
    DENSE,
    UNET,
    HOURGLASS,
)
NONE = "none"
LINEAR, LOG = "linear", "log"
TRAIN_STEPS, STRIDE = 160, 10
LOOKS = range(0, TRAIN_STEPS + 1, STRIDE)
STACKS = {
    "Two convolutions": "conv 8 3, pool, conv 16 3, pool, dense 32",
    "Dense": "dense 64",
    "Residual": "conv 8 3, res, pool, res, mean",
    "Too narrow": "conv 1 3, pool, pool, pool",
}


def scaled(state: Any) -> bool:
    return bool(state.view == SCALE)


def alex(state: Any) -> bool:
    return scaled(state) and bool(state.net == ALEX)


def dense(state: Any) -> bool:
    return bool(state.view == CHANNELS)


def own(state: Any) -> bool:
    return bool(state.view == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = SCALE
    net: Annotated[str, Choice("Network", NETS, as_list=True, when=scaled)] = ALEX
    beside: Annotated[str, Choice("Below it", (NONE, *NETS), as_list=True, when=scaled)] = VGG_19
    side: Annotated[
        int | None,
        Number("Side of the input", 8, 1024, first=late("nets", "published_side"), when=scaled, row="input"),
    ] = None
    padding: Annotated[int, Choice("Padding of layer 1", (0, 2), when=alex, row="first")] = 2
    window: Annotated[int, Choice("Side of poolings", (2, 3), when=alex, row="first")] = 3
    groups: Annotated[
        int, Choice("Groups", (1, 2), when=alex, help="The original ran on two processors.")
    ] = 1
    scale: Annotated[str, Choice("Height: side, width: channels", (LINEAR, LOG), when=scaled)] = LINEAR
    chains: Annotated[
        str,
        Text("Layers of each chain", 30, reads=late("channels", "lengths"), area=False, when=dense,
             examples={"One chain": "12", "Three chains": "6 6 6", DENSE: "6 12 24 16"}),
    ] = "12"  # fmt: skip
    start: Annotated[int, Number("Channels at first", 1, 256, when=dense, row="sizes")] = 64
    growth: Annotated[int, Number("Growth", 1, 64, when=dense, row="sizes")] = 32
    halved: Annotated[
        bool, Toggle("Transitions halve the channels", when=dense, help="By a 1×1 convolution.")
    ] = True
    listed: Annotated[
        str,
        Text("Layers", 200, reads=late("own", "parsed"), examples=STACKS, area=True, when=own,
             help="conv CHANNELS KERNEL, pool (maxima), mean, norm, res (residual block), dense UNITS. ReLU "
             "and the last layer, of ten logits, come by themselves."),
    ] = STACKS["Two convolutions"]  # fmt: skip
    rate: Annotated[float, Choice("Learning rate", (0.001, 0.003, 0.01, 0.03), when=own)] = 0.01
    seed: Annotated[int, Number("Seed", 0, 99, when=own, row="digit")] = 0
    example: Annotated[int, Slider("Test digit", 0, 99, when=own)] = 3
    block: Annotated[int, Frame("Layer", seconds=0.6, when=scaled)] = 0
    added: Annotated[int | None, Frame("Layers so far", seconds=0.5, when=dense)] = None
    step: Annotated[int, Frame("Step", LOOKS, seconds=0.3, when=own)] = TRAIN_STEPS


ROOM = Room(
    title="Architecture zoo",
    idea="Depth, width and grid of the well-known networks, and what each layer costs.",
    place=110,
    minutes=8,
    words="AlexNet; VGG; ResNet; DenseNet; LeNet; U-Net; hourglass; parameters; multiply-adds; FLOPs; "
    "receptive field; 1×1 convolution; bottleneck; growth rate; ImageNet; model size; architecture; "
    "layer list",
    references=(
        "[UDL] §10.5.1, §11.5, figures 10.16, 10.17, 11.7–11.12, problem 10.18",
        "Krizhevsky et al. 2012; Simonyan & Zisserman 2015, arXiv:1409.1556",
        "He et al. 2016, arXiv:1512.03385; Huang et al. 2017, arXiv:1608.06993",
    ),
    lenses=("receptive_field",),
    state=State,
    symbols={
        "n": "side of the grid that a layer reads", "K": "side of the kernel", "s": "stride",
        "p": "padding of each side", "m": "side of the grid that it leaves", "C": "channels that come in",
        "k": "growth: channels that each layer adds", r"\ell": "layers of the chain so far",
        "P": "parameters of the layer", "C_0": "channels at the start of the chain",
    },
    scenes={
        "AlexNet and VGG": Scene(
            "To one scale: 94 % of AlexNet's parameters are in its dense layers, which do 5 % of the work.",
            State(block=8),
        ),
        "Wrong input size": Scene(
            "224 without padding ends at 5×5: 6,400 values meet a dense layer made for 9,216.",
            State(padding=0, beside=NONE, block=8),
        ),
        "VGG and ResNet": Scene(
            "ResNet-50 is longer than VGG-19, has no large dense layer, and a fifth of its operations.",
            State(net=RESNET_50, beside=VGG_19, block=1),
        ),
        "Down and up": Scene(
            "U-Net goes down to 28² at 1,024 channels and comes up again, beside DenseNet's narrow layers.",
            State(net=UNET, beside=DENSE, block=13),
        ),
        "Parameters, operations": Scene(
            "At 224² VGG-19 costs most; AlexNet is as large as ResNet-200 at a thirteenth of its operations.",
            State(view=SCATTER),
        ),
        "DenseNet channels": Scene(
            "Each layer reads all before it, 32 channels more each time; from the 7th on a 1×1 pays.",
            State(view=CHANNELS),
        ),
        "Broken chains": Scene(
            "DenseNet-121: each transition halves grid and channels, and a new chain starts.",
            State(view=CHANNELS, chains="6 12 24 16"),
        ),
        "Own network": Scene(
            "A layer list, trained on digits as the page opened: wind it back and watch the maps.",
            State(view=OWN),
        ),
        "Too narrow": Scene(
            "One channel and three poolings leave one number of a digit: the error stays high.",
            State(view=OWN, listed=STACKS["Too narrow"]),
        ),
    },
)  # fmt: skip
