"""Paths that grow from frame to frame."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array


def trails(paths: Any) -> tuple[np.ndarray, np.ndarray]:
    """Paths (F, N, 2) up to every frame, with gaps: x and y, (F, N (F + 1))."""
    p = array(paths).transpose(1, 0, 2)  # (N, F, 2)
    frames = p.shape[1]
    drawn = np.arange(frames) <= np.arange(frames)[:, None]  # (F now, F)
    shown = np.where(drawn[:, None, :, None], p[None], np.nan)
    shown = np.pad(shown, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    flat = shown.reshape(frames, -1, 2)
    return flat[..., 0], flat[..., 1]


def walking(points: np.ndarray, shown: int, at: int) -> tuple[list[go.Scatter], dict[str, Any]]:
    """Points (F, N, 2) at a frame on the paths of the first `shown`: the first two traces of a figure, and
    what a film moves in them."""
    x, y = trails(points[:, :shown])
    traces = [
        go.Scatter(x=x[at], y=y[at], mode="lines", hoverinfo="skip",
                   line={"color": theme.fade(theme.HIDDEN, 0.8), "width": 1.5}),
        go.Scatter(x=points[at, :, 0], y=points[at, :, 1], mode="markers", hoverinfo="skip",
                   marker={"size": 4, "color": theme.OUTPUT}),
    ]  # fmt: skip
    return traces, {"data.0.x": x, "data.0.y": y, "data.1.x": points[..., 0], "data.1.y": points[..., 1]}


def clouds(
    cloud: Any, shown: int, modes: Any, radius: float, reach: float, at: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Points (F, N, 2) at a frame, the paths of the first `shown`, circles around the modes; what moves."""
    p, m = array(cloud), array(modes)
    traces, moves = walking(p, shown, at)
    fig = go.Figure(traces)
    for a, b in m:
        fig.add_shape(type="circle", x0=a - radius, x1=a + radius, y0=b - radius, y1=b + radius,
                      line={"color": theme.INPUT, "width": 2})  # fmt: skip
    return fig.update_layout(showlegend=False, **planar.axes(reach, tickvals=[-3, 0, 3])), moves
