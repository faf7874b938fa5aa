"""A density with paths through it; error against calls of the field."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array
from lab.figures.trails import trails


def stream(density: Any, paths: Any, marked: Any, reach: float, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The density at a frame, the paths so far and where they are now; and what moves."""
    z, p, q = array(density), array(paths), array(marked)
    x, y = trails(p)
    fig = go.Figure(
        [
            planar.field(z[at], reach, zmin=0, zmax=float(z[at].max()), showscale=False),
            go.Scatter(x=x[at], y=y[at], mode="lines", hoverinfo="skip", name="paths",
                       line={"color": theme.fade(theme.HIDDEN, 0.9), "width": 1.5}),
            planar.points(p[at], {"size": 8, "color": theme.OUTPUT}, name="points"),
            planar.points(q[at : at + 1], {"size": 15, "color": theme.VERMILLION}, name="marked"),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="h₁", range=[-reach, reach], constrain="domain", tickvals=[-2, 0, 2])
    fig.update_yaxes(
        title="h₂", range=[-reach, reach], scaleanchor="x", constrain="domain", tickvals=[-2, 0, 2]
    )
    return fig.update_layout(showlegend=False), {
        "data.0.z": z, "data.0.zmax": z.max((1, 2)).tolist(), "data.1.x": x, "data.1.y": y,
        "data.2.x": p[..., 0], "data.2.y": p[..., 1], "data.3.x": q[:, :1], "data.3.y": q[:, 1:],
    }  # fmt: skip


def costs(result: Mapping[str, Any], solver: str, calls: int, error: float) -> go.Figure:
    """Error against calls of every solver; a ring around the one in use."""
    fig = go.Figure()
    for (name, cost), color in zip(result.items(), (theme.HIDDEN, theme.INPUT, theme.OUTPUT), strict=True):
        fig.add_trace(go.Scatter(x=cost.calls, y=cost.errors, mode="lines+markers", name=name,
                                 line={"width": 3, "color": color}, marker={"size": 9}))  # fmt: skip
    fig.add_trace(
        go.Scatter(x=[calls], y=[error], mode="markers", showlegend=False, name=solver, hoverinfo="skip",
                   marker={"size": 22, "symbol": "circle-open", "color": theme.VERMILLION,
                           "line": {"width": 4}})
    )  # fmt: skip
    fig.update_xaxes(title="calls of the field", type="log", tickvals=[1, 4, 16, 64, 256])
    fig.update_yaxes(title="error at T", type="log", exponentformat="power", nticks=6)
    return fig
