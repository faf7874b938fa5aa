"""The well-known networks at full size, without weights: blocks, what they cost, and what they read.

    m = ⌊(n + 2p − K)/s⌋ + 1        P = K² C C'/groups + C'

A block is a layer with weights or a pooling. Norms count in the sums of a network and have no block of their
own. A receptive field is that of the largest path; behind an upsampling units see more or less, and the most
counts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import torch
from torch import nn

from lab.errors import UserError
from lab.lenses.layer_graph import Reach, following, leaves
from modules.convolution.alexnet import AlexNet
from modules.convolution.counting import CONVOLUTIONS, TRANSPOSED, Row, count
from modules.convolution.densenet import DenseNet, densenet_121
from modules.convolution.hourglass import StackedHourglass
from modules.convolution.lenet import LeNet
from modules.convolution.resnet import ResNet, imagenet
from modules.convolution.segmentation import SegmentationUNet
from modules.convolution.vgg import VGG
from pages.convolution.architectures.room import (
    ALEX,
    DENSE,
    HOURGLASS,
    LENET,
    NETS,
    NONE,
    RESNETS,
    UNET,
    VGG_NETS,
)

BUILDS: dict[str, Callable[..., nn.Module]] = {
    LENET: LeNet,
    ALEX: AlexNet,
    **{f"VGG-{depth}": partial(VGG, blocks=blocks) for depth, blocks in VGG_NETS.items()},
    **{f"ResNet-{depth}": partial(ResNet, **imagenet(depth)) for depth in RESNETS},
    DENSE: partial(DenseNet, **densenet_121()),
    UNET: SegmentationUNet,
    HOURGLASS: StackedHourglass,
}
SIDES = {LENET: (1, 28), UNET: (1, 572), HOURGLASS: (3, 256)}  # channels and side of the input
USUAL = 3, 224
# Top-5 and top-1 errors on ImageNet in per cent, as [UDL] §10.5.1 and §11.5.1 quote them.
QUOTED = {ALEX: (16.4, 38.1), "VGG-19": (6.8, 23.7), "ResNet-200": (4.8, 20.1)}
READS = {LENET: 400, ALEX: 9216, **dict.fromkeys((f"VGG-{depth}" for depth in VGG_NETS), 25088)}
WINDOW = dict(kernel_size=1, stride=1, padding=0)
CONV, DENSE_LAYER, POOL, UP, NORM = "convolution", "dense", "pooling", "up", "norm"


@dataclass(frozen=True)
class Block:
    """A layer as it is drawn.

    Attributes:
        kind: CONV, DENSE_LAYER, POOL or UP. before, after: (C, side), sides of 1 in dense layers.
        kernel_size, stride, padding: of its window, 1, 1, 0 in dense layers. ceil: whether the
            last window may hang over. groups: of a convolution. bias: whether there are C' of them.
        parameters, operations: of the layer, for one picture. field: what one of its units sees, or None.
    """

    kind: str
    before: tuple[int, int]
    after: tuple[int, int]
    kernel_size: int
    stride: int
    padding: int
    ceil: bool
    groups: int
    bias: bool
    parameters: int
    operations: int
    field: Reach | None


@dataclass(frozen=True)
class Net:
    """A network.

    Attributes:
        side: of its input. blocks: in the order in which they run. rows: all layers.
        misfit: why its published weights cannot read this input, or "".
    """

    name: str
    side: int
    blocks: tuple[Block, ...]
    rows: tuple[Row, ...]
    misfit: str

    @property
    def parameters(self) -> int:
        return sum(row.parameters for row in self.rows)

    @property
    def operations(self) -> int:
        return sum(row.operations for row in self.rows)

    def shares(self, what: str) -> dict[str, int]:
        """Parameters or operations by kind of layer."""
        sums = {kind: 0 for kind in (CONV, DENSE_LAYER, NORM)}
        for row in self.rows:
            kind = DENSE_LAYER if row.kind == "Linear" else NORM if "Norm" in row.kind else CONV
            sums[kind] += getattr(row, what)
        return sums


def published_side(net: str) -> int:
    """Side of the pictures for which a network was published."""
    return SIDES.get(net, USUAL)[1]


def network(net: str, side: int, **options: Any) -> nn.Module:
    """A network for pictures of this side, without weights.

    Raises:
        UserError: they are too small, or cannot be halved so often.
    """
    channels = SIDES.get(net, USUAL)[0]
    try:
        with torch.device("meta"):
            return BUILDS[net](image_shape=(channels, side, side), **options).eval()
    except ValueError as error:
        sentence = str(error) if net in (UNET, HOURGLASS) else too_small(net, side, **options)
        raise UserError(sentence) from error


@torch.no_grad()
def too_small(net: str, side: int, **options: Any) -> str:
    """How far a picture comes that is too small, in one sentence."""
    channels, published = SIDES.get(net, USUAL)
    with torch.device("meta"):
        layers: Any = BUILDS[net](image_shape=(channels, published, published), **options).eval().layers
    sides, x = [side], torch.empty(1, channels, side, side, device="meta")
    for layer in layers:
        try:
            x = layer(x)
        except RuntimeError:
            way = " → ".join(map(str, sides))
            return (
                f"A side of {side} is too small for {net}: {way}, and the next layer reads "
                f"{pair(layer.kernel_size)}×{pair(layer.kernel_size)}. Use a larger one."
            )
        sides += [x.shape[-1]] if x.shape[-1] != sides[-1] else []
    return f"{net} cannot read a side of {side}."


@lru_cache(maxsize=64)
def net_of(net: str, side: int | None = None, padding: int = 2, window: int = 3, groups: int = 1) -> Net:
    """A network, its blocks and what they cost.

    Args:
        side: of the input; None is the published one. padding, window of the poolings, groups: of AlexNet.

    Raises:
        UserError: the input does not fit.
    """
    side = published_side(net) if side is None else side
    options = dict(padding=padding, pool=window, groups=groups) if net == ALEX else {}
    return measured(net, network(net, side, **options), (SIDES.get(net, USUAL)[0], side, side))


def measured(name: str, model: nn.Module, shape: tuple[int, ...]) -> Net:
    """The blocks of a network on the meta device, for pictures of this shape."""
    with following(model) as fields:
        rows = count(model, shape)
    layers = leaves(model)
    blocks, runs = [], {name: iter(seen) for name, seen in fields.items()}
    for row in rows:
        field = next(runs[row.name])
        if kind := kind_of(layers[row.name]):
            blocks.append(block_of(layers[row.name], kind, row, field))
    return Net(name, shape[-1], tuple(blocks), tuple(rows), misfit(name, shape[-1], blocks))


def kind_of(layer: nn.Module) -> str:
    """What a layer is drawn as, "" if it is not."""
    kinds = (
        (CONV, CONVOLUTIONS),
        (DENSE_LAYER, (nn.Linear,)),
        (UP, (*TRANSPOSED, nn.Upsample)),
        (POOL, (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d)),
    )
    return next((name for name, classes in kinds if isinstance(layer, classes)), "")


def block_of(layer: Any, kind: str, row: Row, field: Reach | None) -> Block:
    """A layer as it is drawn."""
    window = {name: pair(getattr(layer, name, one)) for name, one in WINDOW.items()}
    if isinstance(layer, nn.AdaptiveAvgPool2d):  # one window over the whole grid
        window = {**window, "kernel_size": row.reads[-1]}
    elif isinstance(layer, nn.Upsample):
        window = {
            **window,
            "kernel_size": row.shape[-1] // row.reads[-1],
            "stride": row.shape[-1] // row.reads[-1],
        }
    return Block(
        kind=kind, before=grid(row.reads), after=grid(row.shape), **window,
        ceil=getattr(layer, "ceil_mode", False), groups=layer.groups if kind == CONV else 1,
        bias=getattr(layer, "bias", None) is not None,
        parameters=row.parameters, operations=row.operations, field=field,
    )  # fmt: skip


def pair(value: Any) -> int:
    """The one of two equal numbers."""
    return int(value[0] if isinstance(value, tuple) else value)


def grid(shape: tuple[int, ...]) -> tuple[int, int]:
    """Channels and side."""
    return shape[0], shape[-1] if len(shape) > 1 else 1


def shown(net: str, beside: str, side: int | None, padding: int, window: int, groups: int) -> tuple[Net, ...]:
    """The network that is chosen, and the one below it, as it was published."""
    first = net_of(net, side, padding, window, groups)
    return (first,) if beside == NONE else (first, net_of(beside))


def costs(view: str) -> Iterator[tuple[float, tuple[Net, ...]]]:
    """All networks, one after the other."""
    found: list[Net] = []
    for net in NETS:
        found.append(net_of(net))
        yield len(found) / len(NETS), tuple(found)


def misfit(net: str, side: int, blocks: list[Block]) -> str:
    """Why the published weights cannot read this input, or ""."""
    first = next((block for block in blocks if block.kind == DENSE_LAYER), None)
    made = READS.get(net)
    if first is None or made is None or first.before[0] == made:
        return ""
    channels, last = next(block.after for block in reversed(blocks) if block.kind == POOL)
    sides = [block.after[1] for block in blocks if block.kind == POOL or block.stride > 1]
    way = " → ".join(map(str, [side, *sides]))
    return (
        f"{net} cannot read this input: {way}, and {last}·{last}·{channels:,} = {last * last * channels:,} "
        f"values reach a dense layer with weights for {made:,}. Drawn is one with as many."
    )
