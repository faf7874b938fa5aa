"""Inputs of a search side by side, its course, pictures under a unit's mask, and concepts by layer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from datamodules.textured_shapes import CONCEPTS, TEXTURES
from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, heatmaps, per_frame, resting, turning
from pages.convolution.unit.dissection import Dissected, Table

HEIGHT = 470
WITH, WITHOUT = "with prior", "without"
COLORS = {WITH: theme.BLUE, WITHOUT: theme.VERMILLION}
KINDS = {"textures": theme.BLUE, "shapes": theme.ORANGE}


def tiles(pictures: Mapping[str, Any], columns: int, veils: Any = None) -> Tree:
    """Pictures (F, s, s) in [0, 1] by name, of which those of one frame rest.

    Args:
        veils: (F, pictures, s, s) bool, what is orange in each.
    """
    rows = -(-len(pictures) // columns)
    fig = make_subplots(
        rows=rows, cols=columns, subplot_titles=[name.rstrip() for name in pictures],
        horizontal_spacing=0.02, vertical_spacing=0.02 if not any(map(str.strip, pictures)) else 0.1,
    )  # fmt: skip
    turns: dict[int, Any] = {}
    for k, values in enumerate(map(array, pictures.values())):
        at = {"row": k // columns + 1, "col": k % columns + 1}
        if len(values) > 1:
            turns[len(fig.data)] = values
        fig.add_trace(
            go.Heatmap(z=values[0], zmin=0, zmax=1, colorscale=theme.scale("grey"), showscale=False,
                       hovertemplate="row %{y}, column %{x}: %{z:.2f}<extra></extra>"), **at
        )  # fmt: skip
        if veils is not None:
            red = theme.fade(theme.VERMILLION, 0.55)
            over = np.where(array(veils)[:, k], 1.0, np.nan).astype(np.float32)
            turns[len(fig.data)] = over
            fig.add_trace(go.Heatmap(z=over[0], zmin=0, zmax=1, showscale=False, hoverinfo="skip",
                                     colorscale=[[0, red], [1, red]]), **at)  # fmt: skip
        side = values.shape[-1]
        axis = {"visible": False, "constrain": "domain", "range": [-0.5, side - 0.5]}
        n = k + 1
        fig.update_layout({
            f"xaxis{n}": axis, f"yaxis{n}": axis | {"range": [side - 0.5, -0.5], "scaleanchor": f"x{n}"}
        })  # fmt: skip
    fig.update_annotations(font_size=theme.FONT_SIZE - 1)
    fig.update_layout(height=HEIGHT, margin={"l": 4, "r": 4, "t": 36, "b": 4}, showlegend=False)
    tree: Tree = fig.to_plotly_json()
    for trace, frames in turns.items():
        tree = turning(tree, trace, z=frames)
    return tree


def course(lines: Mapping[str, Tensor], ylabel: str, level: float | None = None, log: bool = False) -> Tree:
    """Values (T + 1,) by step with dots where the frame is, and a level to compare with."""
    steps = list(range(len(next(iter(lines.values())))))
    fig = basic.curves(lines, steps, xlabel="step", ylabel=ylabel, colors=COLORS, log_y=log, height=HEIGHT)
    if level is not None:
        basic.rule(fig, y=level, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_xaxes(nticks=4)
    return resting(fig, *((steps, array(line), COLORS[name]) for name, line in lines.items()), size=16)


def overlaps(one: Dissected) -> Tree:
    """IoU of a unit with each concept."""
    iou = array(one.iou)
    fig = basic.bars(list(CONCEPTS), iou[0], horizontal=True, xlabel="IoU", height=HEIGHT)
    colors = [KINDS["textures" if k < len(TEXTURES) else "shapes"] for k in range(len(CONCEPTS))]
    fig.data[0].marker.color = colors
    fig.data[0].hovertext, fig.data[0].hoverinfo = None, "x"
    fig.update_xaxes(range=[0, max(0.3, 1.05 * float(iou.max()))], nticks=4)
    return turning(fig, x=iou)


def by_layer(tables: Mapping[str, Table]) -> Tree:
    """Of each unit the best IoU with a texture and with a shape, and their means by layer."""
    data: list[dict[str, Any]] = []
    layers = list(tables)
    for side, (kind, color) in zip((-0.14, 0.14), KINDS.items(), strict=True):
        values = [array(getattr(table, kind)) for table in tables.values()]  # (F, K) each
        x = np.concatenate([n + side + np.linspace(-0.1, 0.1, v.shape[1]) for n, v in enumerate(values)])
        data.append({"type": "scatter", "mode": "markers", "x": x, "y": per_frame(np.concatenate(values, 1)),
                     "marker": {"size": 8, "color": theme.fade(color, 0.55)}, "showlegend": False,
                     "hovertemplate": "%{y:.2f}<extra>" + kind + "</extra>"})  # fmt: skip
        means = np.stack([v.mean(1) for v in values], 1)
        data.append({"type": "scatter", "mode": "lines+markers", "x": [n + side for n in range(len(layers))],
                     "y": per_frame(means), "name": kind, "line": {"color": color, "width": 4},
                     "marker": {"size": 14}})  # fmt: skip
    top = max(float(getattr(table, kind).max()) for table in tables.values() for kind in KINDS)
    return {
        "data": data,
        "layout": {
            "height": HEIGHT, "showlegend": True,
            "xaxis": {"tickvals": list(range(len(layers))), "ticktext": layers, "showgrid": False},
            "yaxis": {"title": "best IoU of a unit", "range": [0, 1.05 * top]},
        },
    }  # fmt: skip


def best_units(tables: Mapping[str, Table]) -> Tree:
    """The best IoU of any unit, concept by layer."""
    best = np.stack([array(table.iou).max(1) for table in tables.values()], 2)  # (F, M, L)
    return heatmaps(
        best, [name.removeprefix("layer ") for name in tables], list(CONCEPTS), numbers=True, colorbar=False,
        xlabel="layer", height=HEIGHT,
    )  # fmt: skip
