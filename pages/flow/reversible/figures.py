"""A sheared grid with one patch and one point; a Jacobian; bytes by depth."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap


def in_one(points: Any, dots: int) -> tuple[np.ndarray, np.ndarray]:
    """Lines of `dots` points, (F, P, 2), as x and y with a gap after each line."""
    p = array(points).astype(float)
    lines = p.reshape(len(p), -1, dots, 2)
    gaps = np.pad(lines, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    joined = gaps.reshape(len(p), -1, 2)
    return joined[..., 0], joined[..., 1]


def plane(grid: Any, patch: Any, point: Any, dots: int, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The figure at a frame, and what moves in it: grid, patch, point."""
    gx, gy = in_one(grid, dots)
    p, q = array(patch).astype(float), array(point).astype(float)
    reach = float(np.nanmax(np.abs(np.concatenate([gx.ravel(), gy.ravel()])))) * 1.04
    fig = go.Figure(
        [
            go.Scatter(x=gx[at], y=gy[at], mode="lines", hoverinfo="skip", name="grid",
                       line={"color": theme.HIDDEN, "width": 1.5}),
            go.Scatter(x=p[at, :, 0], y=p[at, :, 1], mode="lines", fill="toself", hoverinfo="skip",
                       fillcolor=theme.fade(theme.OUTPUT, 0.45), name="patch",
                       line={"color": theme.OUTPUT, "width": 3}),
            go.Scatter(x=q[at, :1], y=q[at, 1:], mode="markers", name="point", hoverinfo="skip",
                       marker={"size": 14, "color": theme.INPUT}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="h₁", range=[-reach, reach], constrain="domain", nticks=7)
    fig.update_yaxes(title="h₂", range=[-reach, reach], scaleanchor="x", constrain="domain", nticks=7)
    return fig.update_layout(showlegend=False), {
        "data.0.x": gx, "data.0.y": gy, "data.1.x": p[..., 0], "data.1.y": p[..., 1],
        "data.2.x": q[:, :1], "data.2.y": q[:, 1:],
    }  # fmt: skip


def matrix(jacobians: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """J of what has been done so far at a frame, and what moves in it."""
    z = array(jacobians).astype(float)
    reach = float(np.abs(z).max())
    fig = heatmap(z[at], ["h₁", "h₂"], ["h₁", "h₂"], "J so far", "diverging", zmin=-reach, zmax=reach,
                  numbers=".2f", square=True, colorbar=False)  # fmt: skip
    fig.update_xaxes(tickfont={"size": 20}).update_yaxes(tickfont={"size": 20})
    return fig.update_traces(textfont={"size": 24}, hoverinfo="skip"), {"data.0.z": z}


def blocks(jacobian: Any) -> go.Figure:
    """J of one wide block, its four parts divided by lines."""
    z = array(jacobian)
    half = len(z) / 2 - 0.5
    fig = heatmap(z, scale="diverging", square=True, title="J = [[I, J₁], [J₂, I + J₂J₁]]")
    for line in ({"x0": half, "x1": half, "y0": -0.5, "y1": len(z) - 0.5},
                 {"y0": half, "y1": half, "x0": -0.5, "x1": len(z) - 0.5}):  # fmt: skip
        fig.add_shape(type="line", line={"color": theme.text(), "width": 3}, **line)
    return fig


def memory(rows: Mapping[str, Sequence[float]]) -> go.Figure:
    """KiB kept for the backward pass, by depth."""
    fig = go.Figure()
    for key, name, color in (
        ("stored", "stored activations", theme.HIDDEN),
        ("recomputed", "recomputed", theme.OUTPUT),
    ):
        fig.add_trace(
            go.Scatter(x=list(rows["depth"]), y=list(rows[key]), mode="lines+markers", name=name,
                       line={"width": 4, "color": color}, marker={"size": 11})
        )  # fmt: skip
    fig.update_xaxes(title="blocks", nticks=7)
    fig.update_yaxes(title="KiB kept", rangemode="tozero")
    return fig
