"""A bent grid with a cloud, the profile of the push, and samples over a target."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array


def bent(grid: Any, cloud: Any, point: Any, dots: int, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The grid (F, P, 2), the cloud (F, N, 2) and the marked point (F, 2) at a frame, and what moves."""
    g, c, q = array(grid), array(cloud), array(point)
    lines = np.pad(g.reshape(len(g), -1, dots, 2), ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    joined = lines.reshape(len(g), -1, 2)
    fig = go.Figure(
        [
            go.Scatter(x=joined[at, :, 0], y=joined[at, :, 1], mode="lines", hoverinfo="skip", name="grid",
                       line={"color": theme.fade(theme.HIDDEN, 0.8), "width": 1.5}),
            go.Scatter(x=c[at, :, 0], y=c[at, :, 1], mode="markers", hoverinfo="skip", name="samples",
                       marker={"color": theme.OUTPUT, "size": 5, "opacity": 0.7}),
            go.Scatter(x=q[at, :1], y=q[at, 1:], mode="markers", hoverinfo="skip", name="point",
                       marker={"color": theme.INPUT, "size": 14}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="x₁", range=[-4, 4], constrain="domain", tickvals=[-2, 0, 2])
    fig.update_yaxes(title="x₂", range=[-4, 4], scaleanchor="x", constrain="domain", tickvals=[-2, 0, 2])
    return fig.update_layout(showlegend=False), {
        "data.0.x": joined[..., 0], "data.0.y": joined[..., 1], "data.1.x": c[..., 0], "data.1.y": c[..., 1],
        "data.2.x": q[:, :1], "data.2.y": q[:, 1:],
    }  # fmt: skip


def profile(along: Any, values: Any, name: str, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """New coordinate over the old one, and the frames of trace 1."""
    a, v = array(along), array(values)
    fig = go.Figure(
        [
            go.Scatter(x=a, y=a, mode="lines", name="stays", hoverinfo="skip",
                       line={"color": theme.HIDDEN, "width": 2, "dash": "dot"}),
            go.Scatter(x=a, y=v[at], mode="lines", name="goes to",
                       line={"color": theme.OUTPUT, "width": 4}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title=name, range=[-4, 4], nticks=7)
    fig.update_yaxes(range=[-5, 5], nticks=7)
    return fig, {"data.1.y": v}


def over(density: Any, samples: Any, at: int, reach: float = 4.0) -> tuple[go.Figure, dict[str, Any]]:
    """Samples (F, N, 2) at a frame over the target's density, and what moves: trace 1."""
    z, s = array(density), array(samples)
    fig = go.Figure(
        [
            planar.field(z, reach, zmin=0, zmax=1, showscale=False),
            planar.points(s[at], {"size": 4, "color": theme.OUTPUT, "opacity": 0.75}, name="samples"),
        ]
    )
    fig.update_xaxes(title="x₁", range=[-reach, reach], constrain="domain", tickvals=[-2, 0, 2])
    fig.update_yaxes(
        title="x₂", range=[-reach, reach], scaleanchor="x", constrain="domain", tickvals=[-2, 0, 2]
    )
    return fig.update_layout(showlegend=False), {"data.1.x": s[..., 0], "data.1.y": s[..., 1]}


def course(steps: list[int], kl: list[float], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """KL over training, and the place of the frame: trace 1."""
    y = np.asarray(kl)
    fig = go.Figure(
        [
            go.Scatter(x=steps, y=y, mode="lines", line={"color": theme.OUTPUT, "width": 4}, name="KL"),
            go.Scatter(x=[steps[at]], y=[y[at]], mode="markers", marker={"size": 15, "color": theme.OUTPUT},
                       hoverinfo="skip", name="now"),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="steps", nticks=6)
    fig.update_yaxes(title="KL(flow ‖ target), nats", rangemode="tozero")
    return fig.update_layout(showlegend=False), {
        "data.1.x": np.asarray(steps, float)[:, None], "data.1.y": y[:, None]
    }  # fmt: skip
