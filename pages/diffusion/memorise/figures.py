"""Samples among training points, and how far from them samples and held-out data lie."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array
from lab.figures.trails import trails

COLORS = {"exact score": theme.OUTPUT, "network": theme.INPUT, "held-out data": theme.HIDDEN}


def cloud(
    points: Any, training: Any, shown: int, color: str, reach: float, at: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Samples (F, N, 2) at a frame with the paths of the first `shown`, and training points (n, 2) as crosses
    under them; and what moves."""
    p, known = array(points), array(training)
    x, y = trails(p[:, :shown])
    size = 11 if len(known) <= 200 else 5
    fig = go.Figure(
        [
            planar.points(known, {"size": size, "color": theme.text(), "symbol": "cross-thin",
                                 "line": {"width": 2, "color": theme.text()}}, name="training points"),
            go.Scatter(x=x[at], y=y[at], mode="lines", hoverinfo="skip", showlegend=False,
                       line={"color": theme.fade(theme.HIDDEN, 0.7), "width": 1.5}),
            planar.points(p[at], {"size": 6, "color": color, "opacity": 0.8}, name="samples"),
        ],
        planar.axes(reach, tickvals=[-3, 0, 3]),
    )  # fmt: skip
    return fig, {"data.1.x": x, "data.1.y": y, "data.2.x": p[..., 0], "data.2.y": p[..., 1]}


def distances(edges: Any, shares: Mapping[str, Any]) -> go.Figure:
    """Shares of each bin by name, (BINS,) each, as bars side by side."""
    e = array(edges)
    middle = (e[1:] + e[:-1]) / 2
    fig = go.Figure(
        [
            go.Bar(x=middle, y=array(values), name=name, hoverinfo="skip", marker={"color": COLORS[name]})
            for name, values in shares.items()
        ]
    )
    fig.update_xaxes(title="distance to the nearest", range=[0, float(e[-1])], nticks=5,
                     ticklabelposition="outside right")  # fmt: skip
    fig.update_yaxes(title="share", range=[0, 1.02], tickvals=[0.5, 1])
    return fig.update_layout(bargap=0.1)
