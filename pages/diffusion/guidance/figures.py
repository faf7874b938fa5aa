"""Densities of the toy, digits by the weight, and numbers against it."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array


def toy(x: Any, sampled: Any, tilted: Any, every: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """All data (P,), the tilted and the sampled law (F, P) at a frame; and what moves."""
    axis, p, q = array(x), array(sampled), array(tilted)
    fig = go.Figure(
        [
            go.Scatter(x=axis, y=array(every), name="all data", mode="lines",
                       line={"width": 3, "color": theme.HIDDEN}),
            go.Scatter(x=axis, y=q[at], name="tilted density", mode="lines",
                       line={"width": 3, "color": theme.INPUT, "dash": "dash"}),
            go.Scatter(x=axis, y=p[at], name="sampled", mode="lines",
                       line={"width": 4, "color": theme.OUTPUT}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="x", range=[float(axis[0]), float(axis[-1])], tickvals=[-3, -2, -1, 0, 1, 2, 3])
    fig.update_yaxes(title="density", range=[0, 3])
    return fig, {"data.1.y": q, "data.2.y": p}


def digits(pictures: Any) -> go.Figure:
    """A column a class (N, 8, 8)."""
    return basic.images(pictures, columns=10, zmin=0.0, zmax=1.0)


def by_weight(
    weights: Any, values: dict[str, Any], shown: str, at: int, ylabel: str, top: float
) -> tuple[go.Figure, dict[str, Any]]:
    """A number against w for every way to lead, with the point of the way `shown` at a frame."""
    w = array(weights)
    looks = {True: {"width": 4, "color": theme.OUTPUT}, False: {"width": 3, "color": theme.HIDDEN}}
    lines = [
        go.Scatter(x=w, y=array(p), mode="lines+markers", name=way, line=looks[way == shown])
        for way, p in values.items()
    ]
    p = array(values[shown])
    point = go.Scatter(x=[w[at]], y=[p[at]], mode="markers", hoverinfo="skip", showlegend=False,
                       marker={"size": 15, "color": theme.VERMILLION})  # fmt: skip
    fig = go.Figure([*lines, point])
    fig.update_xaxes(title="w", tickvals=[-1, 0, 1, 2, 3, 4], range=[-1.35, 4.35])
    fig.update_yaxes(title=ylabel, range=[0, top], nticks=5)
    last = len(lines)
    return fig, {f"data.{last}.x": w[:, None], f"data.{last}.y": p[:, None]}


def against(
    weights: Any, sampled: Any, tilted: Any, at: int, ylabel: str
) -> tuple[go.Figure, dict[str, Any]]:
    """A number of both laws against w, with the point at a frame (trace 2)."""
    w, p = array(weights), array(sampled)
    fig = go.Figure(
        [
            go.Scatter(x=w, y=array(tilted), name="tilted", mode="lines",
                       line={"width": 3, "color": theme.INPUT, "dash": "dash"}),
            go.Scatter(x=w, y=p, name="sampled", mode="lines", line={"width": 4, "color": theme.OUTPUT}),
            go.Scatter(x=[w[at]], y=[p[at]], mode="markers", hoverinfo="skip",
                       marker={"size": 15, "color": theme.VERMILLION}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="w", tickvals=[-1, 0, 1, 2, 3, 4])
    fig.update_yaxes(title=ylabel)
    fig.update_layout(showlegend=False)
    return fig, {"data.2.x": w[:, None], "data.2.y": p[:, None]}
