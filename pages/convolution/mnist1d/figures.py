"""Errors of two networks over the training, kernels, a curve and what is said of it, layers as matrices."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from lab.figures import basic, theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import Tree, marking, resting, turning
from lab.figures.pictures import Sheet, reach_of, signed
from pages.convolution.mnist1d.lens import NAMES, Look, Moved, Written
from pages.convolution.mnist1d.room import REACH

HEIGHT = 460
COLORS = (theme.INPUT, theme.OUTPUT)  # CNN, MLP
LIMIT = 3.0  # of a curve that is drawn


def errors(looks: Sequence[Look], steps: int) -> Tree:
    """Errors on training curves dashed, on test curves full; the line stands at the step of the frame."""
    x = [look.step for look in looks]
    values = 100 * np.stack([array(look.errors) for look in looks])  # (F, networks, splits)
    lines = {f"{name}, {split}": values[:, n, k] for n, name in enumerate(NAMES)
             for k, split in enumerate(("training", "test"))}  # fmt: skip
    colors = {name: COLORS[name.startswith(NAMES[1])] for name in lines}
    fig = basic.curves(lines, x, xlabel="step of training", ylabel="error, %", mark=0, height=HEIGHT,
                       colors=colors, markers=len(x) < 3)  # fmt: skip
    for line in fig.data:
        line.line.dash = "dot" if "training" in line.name else "solid"
    fig.update_xaxes(range=[-0.02 * steps, steps])
    fig.update_yaxes(range=[0, 95], tickvals=[0, 20, 40, 60, 80])
    fig.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"})
    return marking(fig, x)


def kernels(looks: Sequence[Look]) -> Tree:
    """The kernels of the CNN's first layer, a row each, at every look."""
    z = np.stack([array(look.kernels) for look in looks])
    reach = reach_of(z[np.isfinite(z)]) if np.isfinite(z).any() else 1.0
    names = [str(k) for k in range(1, z.shape[2] + 1)]
    fig = heatmap(z[-1], names, list(range(1, z.shape[1] + 1)), scale="diverging", zmin=-reach, zmax=reach,
                  xlabel="number of the weight", ylabel="kernel of layer 1", height=HEIGHT,
                  hover=False)  # fmt: skip
    return turning(fig, z=z)


def curve(x: Tensor, height: int = 150) -> go.Figure:
    """A curve as it is read, (1, n)."""
    fig = basic.curves({"x": array(x[0])}, xlabel="position", ylabel="x", colors={"x": theme.text()},
                       markers=True, height=height)  # fmt: skip
    fig.update_traces(marker_size=5, line_width=2, hoverinfo="skip")
    fig.update_yaxes(range=[-LIMIT, LIMIT], tickvals=[-2, 0, 2])
    return fig.update_layout(showlegend=False)


def classes(p: Tensor, height: int = 300) -> Tree:
    """Probabilities of the ten classes by both networks, (2, F, 10)."""
    names = [str(k) for k in range(p.shape[-1])]
    fig = basic.bars(names, p[0, -1], probability=True, xlabel="class", ylabel="P", color=COLORS[0],
                     height=height)  # fmt: skip
    second = basic.bars(names, p[1, -1], color=COLORS[1]).data[0]
    fig.add_trace(second)
    for bar, name in zip(fig.data, NAMES, strict=True):
        bar.update(name=name, hoverinfo="skip", hovertext=None)
    fig.update_layout(barmode="group", showlegend=True,
                      legend={"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"})  # fmt: skip
    return turning(turning(fig, 0, y=p[0]), 1, y=p[1])


def shifted(one: Moved) -> Tree:
    """The curve where the frame has it."""
    return turning(curve(one.x[:1]), y=one.x)


def by_shift(one: Moved, names: Sequence[str], told: int) -> Tree:
    """Probability of a class over the shift, by both networks; dots stand at the frame's shift."""
    s = np.arange(-REACH, REACH + 1)
    p = array(one.p[..., told])
    fig = basic.curves(dict(zip(names, p, strict=True)), s, xlabel="shift s, positions",
                       ylabel=f"P of {told}", colors=dict(zip(names, COLORS, strict=True)),
                       height=300)  # fmt: skip
    fig.update_yaxes(range=[-0.04, 1.04], tickvals=[0, 0.5, 1])
    fig.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"})
    return resting(fig, *((s, line, color) for line, color in zip(p, COLORS, strict=True)))


def maps(one: Moved) -> Tree:
    """Feature maps of each layer of the CNN, a row a channel."""
    wide = [m.shape[2] for m in one.maps]
    fig = make_subplots(rows=1, cols=len(wide), column_widths=[w + 4 for w in wide], horizontal_spacing=0.06,
                        subplot_titles=[f"layer {k}" for k in range(1, len(wide) + 1)])  # fmt: skip
    for column, values in enumerate(one.maps, 1):
        z = array(values)
        fig.add_trace(heatmap(z[0], zmin=0, zmax=reach_of(z), colorbar=False, hover=False).data[0],
                      row=1, col=column)  # fmt: skip
        ends = [0, z.shape[2] - 1]
        fig.update_xaxes(tickvals=ends, showgrid=False, zeroline=False, row=1, col=column)
        fig.update_yaxes(range=[z.shape[1] - 0.5, -0.5], showticklabels=False, showgrid=False,
                         zeroline=False, row=1, col=column)  # fmt: skip
    fig.update_xaxes(title="position", row=1, col=1)
    fig.update_yaxes(title="channel", row=1, col=1)
    fig.update_layout(height=HEIGHT, showlegend=False, margin={"t": 36})
    tree: Tree = fig.to_plotly_json()
    for k, values in enumerate(one.maps):
        tree = turning(tree, k, z=np.round(array(values), 3))
    return tree


def matrices(layers: Sequence[Written]) -> Tree:
    """Every layer as its matrix, all to one scale; the one of the frame is framed."""
    sheet, gap = Sheet(), 24
    shapes = [tuple(layer.matrix.shape) for layer in layers]
    total = sum(columns for _, columns in shapes) + gap * (len(shapes) + 1)
    x = float(gap)
    for k, (layer, (rows, columns)) in enumerate(zip(layers, shapes, strict=True)):
        z = array(layer.matrix)
        frames = [[-0.5, columns - 0.5, -0.5, rows - 0.5] if f == k else [-9.0] * 4
                  for f in range(len(layers))]  # fmt: skip
        sheet.panel(
            f"{k + 1}: {rows} × {columns}", [signed(z, float(np.quantile(np.abs(z[z != 0]), 0.95)))],
            (rows, columns), (x / total, (x + columns) / total), (0.0, 0.93), boxes=frames, size=16,
        )  # fmt: skip
        x += columns + gap
    return sheet.tree
