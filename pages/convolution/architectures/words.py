"""What the page says of a layer, of networks, and of what they cost."""

import math
from collections.abc import Sequence

from pages.convolution.architectures.nets import CONV, DENSE_LAYER, POOL, QUOTED, UP, Block, Net

GIGA, MEGA = 10**9, 10**6


def short(value: float) -> str:
    """A large count in thousands, millions or thousands of millions."""
    for size, name in ((GIGA, " G"), (MEGA, " M"), (1000, " k")):
        if value >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:g}"


def grid(shape: tuple[int, int]) -> str:
    """Side and channels: 55² × 96; of a dense layer its units."""
    channels, side = shape
    return f"{side}² × {channels:,}" if side > 1 else f"{channels:,}"


def describe(block: Block) -> str:
    """A layer by its name and settings."""
    if block.kind == DENSE_LAYER:
        return "dense"
    K = block.kernel_size
    names = {CONV: "convolution", POOL: "pooling", UP: "upsampling"}
    texts = [f"{names[block.kind]} {K}×{K}"]
    texts += [f"stride {block.stride}"] if block.stride > 1 else []
    texts += [f"padding {block.padding}"] if block.padding else []
    texts += [f"{block.groups} groups"] if block.groups > 1 else []
    return ", ".join(texts)


def captions(nets: Sequence[Net]) -> list[str]:
    """Of each block what it is, its shapes, and what it costs."""
    texts = []
    for net in nets:
        for number, block in enumerate(net.blocks, 1):
            costs = (
                f"{block.parameters:,} parameters, {block.operations:,} multiply-adds"
                if block.parameters
                else "no parameters"
            )
            size = block.field.size if block.field else 0
            most = "at most " if block.field and len(block.field.first) > 1 else ""
            sees = (
                f"; a unit sees {most}{size:,}²"
                if size and size < net.side
                else "; a unit may see all" * bool(size)
            )
            texts.append(
                f"{net.name}, {number} of {len(net.blocks)}: {describe(block)}, {grid(block.before)} → "
                f"{grid(block.after)}. {costs[:1].upper()}{costs[1:]}{sees}."
            )
    return texts


def size_formula(block: Block) -> str:
    """How the side of the grid comes about, LaTeX."""
    n, m = block.before[1], block.after[1]
    K, s, p = block.kernel_size, block.stride, block.padding
    if block.kind == UP:
        return rf"m = ({n} - 1) \cdot {s} + {K} = {m}"
    low, high = (r"\lceil", r"\rceil") if block.ceil else (r"\lfloor", r"\rfloor")
    pad = rf" + 2 \cdot {p}" if p else ""
    return rf"m = \left{low} \frac{{{n}{pad} - {K}}}{{{s}}} \right{high} + 1 = {m}"


def parameter_formula(block: Block) -> str:
    """How the number of parameters comes about, LaTeX."""
    C, D = block.before[0], block.after[0]
    factors = [str(C), str(D)] if block.kind == DENSE_LAYER else [f"{block.kernel_size}^2", str(C), str(D)]
    product = r" \cdot ".join(factors) + (f" / {block.groups}" if block.groups > 1 else "")
    total = f"{block.parameters:,}".replace(",", "{,}")
    return f"P = {product}" + (f" + {D}" if block.bias else "") + f" = {total}"


def equations(nets: Sequence[Net]) -> list[str]:
    """Of each block its grid and its parameters with their numbers."""
    texts = []
    for net in nets:
        for block in net.blocks:
            parts = [] if block.kind == DENSE_LAYER else [size_formula(block)]
            parts += [parameter_formula(block)] if block.parameters else []
            texts.append(r", \qquad ".join(parts))
    return texts


def about(nets: Sequence[Net]) -> str:
    """What to notice of the networks that are drawn."""
    texts = []
    for net in nets:
        dense = net.shares("parameters")[DENSE_LAYER] / net.parameters
        texts.append(
            f"{net.name}: {net.parameters:,} parameters, {dense:.1%} of them in dense layers, and "
            f"{net.operations:,} multiply-adds for one picture of side {net.side}."
        )
    if nets[0].name == "AlexNet":
        texts.append(
            "The text says about 60 million parameters: in two groups it is 60,965,224, in one 62,378,344. "
            "Its input of 224 needs a padding of 2, or 227 pixels."
        )
    texts.append(
        "Activations and norms are not drawn; norms are in the sums. Shortcuts with weights stand beside "
        "their block."
    )
    return " ".join(texts)


def costs_table(nets: Sequence[Net]) -> dict[str, list[object]]:
    """What each network costs, and the errors that the text quotes."""
    quoted = [QUOTED.get(net.name) for net in nets]
    return {
        "network": [net.name for net in nets],
        "parameters": [net.parameters for net in nets],
        "multiply-adds": [net.operations for net in nets],
        "input side": [net.side for net in nets],
        "top-5 error, %, as [UDL] says": ["–" if q is None else f"{q[0]:g}" for q in quoted],
        "top-1 error, %, as [UDL] says": ["–" if q is None else f"{q[1]:g}" for q in quoted],
    }


def layer_table(nets: Sequence[Net]) -> dict[str, list[object]]:
    """Every block of the networks that are drawn."""
    rows = [(net, block) for net in nets for block in net.blocks]
    return {
        "network": [net.name for net, _ in rows],
        "kind": [describe(block) for _, block in rows],
        "output": [grid(block.after) for _, block in rows],
        "parameters": [block.parameters for _, block in rows],
        "multiply-adds": [block.operations for _, block in rows],
        "field": [str(block.field.size) if block.field else "–" for _, block in rows],
    }


def names(nets: Sequence[Net]) -> list[str]:
    """Of each block its network and its number there."""
    return [f"{net.name} {number}" for net in nets for number in range(1, len(net.blocks) + 1)]


def shares_table(nets: Sequence[Net]) -> dict[str, list[object]]:
    """Parameters and operations by kind of layer."""
    kinds = list(nets[0].shares("parameters"))
    return {
        "network": [net.name for net in nets],
        **{f"{what}: {kind}": [net.shares(what)[kind] for net in nets]
           for what in ("parameters", "operations") for kind in kinds},
    }  # fmt: skip


def nearest(nets: Sequence[Net], x: float, y: float) -> str:
    """The network at a place of the chart of costs, on logarithmic axes."""

    def away(net: Net) -> float:
        return math.log(net.parameters / x) ** 2 + math.log(net.operations / y) ** 2 if min(x, y) > 0 else 0.0

    return min(nets, key=away).name


QUOTES = (
    "Orange: with the top-5 error on ImageNet that [UDL] quotes; none was measured here. The hourglass reads "
    "256², U-Net 572², all others 224²; LeNet is in the table alone. Click one to see its layers."
)
COSTS = (
    "Parameters are what is stored and learned, multiply-adds what a picture costs. Dense layers have many "
    "of the first and few of the second, convolutions on large grids the reverse. U-Net computes most: it "
    "keeps 64 channels on the full grid of a large picture."
)
