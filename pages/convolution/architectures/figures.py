"""Networks to one scale, what they cost, and channels of dense chains."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array, click_plane, click_targets
from lab.figures.moving import Tree, turning
from pages.convolution.architectures.channels import Layer
from pages.convolution.architectures.nets import CONV, DENSE_LAYER, NORM, POOL, QUOTED, UP, Net
from pages.convolution.architectures.room import ALEX, LENET, LINEAR
from pages.convolution.architectures.words import grid, short

HEIGHT = 470
KINDS = {
    "input": theme.INPUT, CONV: theme.HIDDEN, POOL: theme.SKY, UP: theme.GREEN, DENSE_LAYER: theme.OUTPUT,
    NORM: theme.PURPLE,
}  # fmt: skip
LEAST, GAP = 0.004, 0.0015  # width of the narrowest block and between blocks, of the longest network
COLUMNS, ROWS = 600, 90  # places of the plane that can be clicked


@dataclass(frozen=True)
class Box:
    """A block on the sheet: its corners, what it is, and its number among all layers (−1: an input)."""

    left: float
    right: float
    low: float
    high: float
    kind: str
    index: int


def length(value: float, scale: str) -> float:
    """How long so many channels or pixels are drawn."""
    return value if scale == LINEAR else float(np.log2(1 + value))


def boxes(nets: Sequence[Net], scale: str) -> tuple[list[Box], float, float]:
    """The blocks of networks, one below the other, the width of the longest one and the height of a row."""
    widths = [[0 if b.kind == POOL else length(b.after[0], scale) for b in net.blocks] for net in nets]
    total = max(sum(row) for row in widths)
    room = max(length(net.side, scale) for net in nets)
    results, index, longest = [], 0, 0.0
    for number, (net, row) in enumerate(zip(nets, widths, strict=True)):
        middle, x = -number * 1.45 * room, 0.0
        shapes = [("input", net.blocks[0].before, 0.0, -1)]
        for block, width in zip(net.blocks, row, strict=True):
            shapes.append((block.kind, block.after, width, index))
            index += 1
        for kind, (_, side), width, at in shapes:
            half, width = max(length(side, scale), 0.04 * room) / 2, max(width, LEAST * total)
            results.append(Box(x, x + width, middle - half, middle + half, kind, at))
            x += width + GAP * total
        longest = max(longest, x)
    return results, longest, room


def outline(box: Box, pad: float = 0.0) -> tuple[list[float], list[float]]:
    left, right = box.left - pad, box.right + pad
    return [left, right, right, left, left], [box.low, box.low, box.high, box.high, box.low]


def sheet(nets: Sequence[Net], scale: str, height: int = HEIGHT, turns: bool = True) -> Tree:
    """Every layer as a block, its height the side of its grid, its width the channels; the layer of the frame
    is framed."""
    every, wide, room = boxes(nets, scale)
    fig = go.Figure()
    for kind, color in KINDS.items():
        chosen = [box for box in every if box.kind == kind]
        xs, ys = ([v for box in chosen for v in [*outline(box)[axis], np.nan]] for axis in (0, 1))
        if chosen:
            fig.add_scatter(x=xs, y=ys, mode="lines", fill="toself", fillcolor=color, name=kind,
                            line={"color": theme.paper(), "width": 0.5}, hoverinfo="skip")  # fmt: skip
    layers = [box for box in every if box.index >= 0]
    if turns:
        fig.add_scatter(x=[], y=[], mode="lines", fill="toself", fillcolor=theme.VERMILLION, showlegend=False,
                        line={"color": theme.VERMILLION, "width": 3}, hoverinfo="skip")  # fmt: skip
        fig.add_scatter(x=[], y=[], mode="text", text=[""], showlegend=False, hoverinfo="skip",
                        textfont={"size": theme.FONT_SIZE, "color": theme.VERMILLION})  # fmt: skip
        x, y = np.linspace(0, wide, COLUMNS), np.linspace(*span(nets, room), ROWS)
        fig.add_trace(click_plane(x, y))
    for number, net in enumerate(nets):
        fig.add_annotation(
            x=0, y=(-1.45 * number + 0.5) * room, xanchor="left", yanchor="bottom", showarrow=False,
            text=f"<b>{net.name}</b>: {short(net.parameters)} parameters, {short(net.operations)} "
            "multiply-adds",
        )  # fmt: skip
    fig.update_xaxes(visible=False, range=[-0.01 * wide, 1.01 * wide])
    fig.update_yaxes(visible=False, range=list(span(nets, room)))
    fig.update_layout(height=height, showlegend=turns, margin={"l": 4, "r": 4, "t": 4, "b": 4},
                      legend={"orientation": "h", "y": -0.02, "x": 0, "yanchor": "top"})  # fmt: skip
    if not turns:
        return fig.to_plotly_json()
    blocks = [block for net in nets for block in net.blocks]
    corners = [outline(box, 0.001 * wide) for box in layers]
    tree = turning(fig, len(fig.data) - 3, x=[c[0] for c in corners], y=[c[1] for c in corners])
    named = [min(max((box.left + box.right) / 2, 0.07 * wide), 0.93 * wide) for box in layers]
    under = [[(box.low + box.high) / 2 - 0.56 * room] for box in layers]
    texts = [[grid(block.after)] for block in blocks]
    return turning(tree, len(fig.data) - 2, x=[[v] for v in named], y=under, text=texts)


def span(nets: Sequence[Net], room: float) -> tuple[float, float]:
    """Lowest and highest place of the sheet."""
    return -1.45 * (len(nets) - 1) * room - 0.68 * room, 0.72 * room


def pressed(nets: Sequence[Net], scale: str, x: float, y: float) -> int:
    """The layer that is nearest to a place."""
    every, _, room = boxes(nets, scale)

    def away(box: Box) -> tuple[float, float]:
        row = abs((box.low + box.high) / 2 - y) / room
        return round(row), max(box.left - x, x - box.right, 0.0)

    return min((box for box in every if box.index >= 0), key=away).index


def shares(nets: Sequence[Net], height: int = HEIGHT) -> go.Figure:
    """Parameters and operations of each network by kind of layer, in per cent."""
    labels, parts = [], []
    for net in nets:
        for what, name in (("parameters", "parameters"), ("operations", "multiply-adds")):
            labels.append(f"{net.name}<br>{name}" if len(nets) > 1 else name)
            sums = net.shares(what)
            parts.append([sums[kind] / max(1, sum(sums.values())) for kind in (CONV, NORM, DENSE_LAYER)])
    fig = go.Figure()
    for at, kind in enumerate((CONV, NORM, DENSE_LAYER)):
        values = [100 * row[at] for row in parts]
        fig.add_bar(y=labels, x=values, orientation="h", name=kind, marker_color=KINDS[kind],
                    hoverinfo="skip", text=[f"{v:.0f} %" if v >= 20 else "" for v in values], textangle=0,
                    insidetextanchor="middle", textfont={"color": "#fff"})  # fmt: skip
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(range=[0, 100], tickvals=[0, 50, 100], title="share, %")
    fig.update_layout(height=height, barmode="stack", showlegend=True, bargap=0.35,
                      legend={"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"})  # fmt: skip
    return fig


def cost(nets: Sequence[Net], height: int = HEIGHT) -> go.Figure:
    """Operations of every network for photographs over its parameters, with quoted errors."""
    nets = [net for net in nets if net.name != LENET]
    x, y = [net.parameters for net in nets], [net.operations for net in nets]
    texts = [
        net.name + (f"<br>[UDL]: {QUOTED[net.name][0]:g} %" if net.name in QUOTED else "") for net in nets
    ]
    colors = [theme.OUTPUT if net.name in QUOTED else theme.HIDDEN for net in nets]
    fig = go.Figure(go.Scatter(
        x=x, y=y, mode="markers+text", text=texts, hoverinfo="skip", showlegend=False,
        textposition=[SIDES.get(net.name, "top center") for net in nets],
        marker={"size": 16, "color": colors},
    ))  # fmt: skip
    fig.add_trace(click_targets(x, y))
    fig.update_xaxes(type="log", title="parameters", range=[6.55, 8.65], dtick=1)
    fig.update_yaxes(type="log", title="multiply-adds for a picture", range=[8.6, 11.6], dtick=1)
    fig.update_layout(height=height)
    return fig


BELOW, RIGHT = "bottom center", "middle right"
SIDES = dict.fromkeys((ALEX, "ResNet-18", "ResNet-34", "VGG-11"), BELOW) | dict.fromkeys(
    ("ResNet-50", "ResNet-101", "ResNet-152", "VGG-16"), RIGHT
)


# --- Channels ---------------------------------------------------------------------------------------


def widths(layers: Sequence[Layer], height: int = HEIGHT) -> Tree:
    """What each layer reads and adds, channel upon channel; the frame adds layers."""
    count = len(layers)
    parts = {
        "start of the chain": (theme.INPUT, [layer.first for layer in layers]),
        "earlier layers": (theme.HIDDEN, [layer.reads - layer.first for layer in layers]),
        "this layer": (theme.OUTPUT, [layer.adds for layer in layers]),
    }
    fig = go.Figure()
    for name, (color, values) in parts.items():
        fig.add_bar(x=list(range(1, count + 1)), y=values, name=name, marker_color=color, hoverinfo="skip")
    tops = [layer.reads + layer.adds for layer in layers]
    if count <= 16:
        fig.add_scatter(x=list(range(1, count + 1)), y=tops, mode="text", text=list(map(str, tops)),
                        textposition="top center", showlegend=False, hoverinfo="skip")  # fmt: skip
    fig.update_xaxes(title="layer of the network", range=[0.4, count + 0.6], tickvals=ticks(count))
    fig.update_yaxes(title="channels", range=[0, 1.1 * max(tops)])
    fig.update_layout(height=height, barmode="stack", bargap=0.12, showlegend=True,
                      legend={"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"})  # fmt: skip
    tree: Tree = fig.to_plotly_json()
    for at, values in enumerate(
        [*(values for _, values in parts.values()), *([tops] if count <= 16 else [])]
    ):
        tree = turning(tree, at, y=so_far(values, count))
    return tree


def ticks(count: int) -> list[int]:
    step = 1 if count <= 16 else 5 if count <= 40 else 10
    return [1, *range(step if step > 1 else 2, count + 1, step)]


def so_far(values: Sequence[float], count: int) -> np.ndarray:
    """In frame f the first f values, (F, count)."""
    return np.where(np.arange(count) < np.arange(count + 1)[:, None], array(values), np.nan)


def weights(layers: Sequence[Layer], height: int = HEIGHT) -> Tree:
    """Weights of each layer with a 1×1 convolution before the 3×3 and without."""
    count = len(layers)
    lines = {
        "without 1×1": [layer.plain for layer in layers],
        "with 1×1": [layer.squeezed for layer in layers],
    }
    xs = list(range(1, count + 1))
    fig = basic.curves(lines, xs, xlabel="number of the layer", ylabel="its weights", markers=True,
                       height=height,
                       colors={"without 1×1": theme.VERMILLION, "with 1×1": theme.INPUT})  # fmt: skip
    fig.update_xaxes(range=[0.4, count + 0.6], tickvals=ticks(count))
    fig.update_yaxes(range=[0, 1.1 * max(max(line) for line in lines.values())])
    fig.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"})
    tree: Tree = fig.to_plotly_json()
    for at, values in enumerate(lines.values()):
        tree = turning(tree, at, y=so_far(values, count))
    return tree
