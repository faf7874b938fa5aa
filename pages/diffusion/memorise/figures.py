"""Samples among training points, and how far from them samples and held-out data lie."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, planar, sheets, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame, turning
from lab.figures.trails import trails

COLORS = {"exact score": theme.OUTPUT, "network": theme.INPUT, "held-out data": theme.HIDDEN}


def cloud(points: Any, training: Any, shown: int, color: str, reach: float) -> dict[str, Any]:
    """Samples (F, N, 2) with the paths of the first `shown`, and training points (n, 2) as crosses under
    them."""
    p, known = array(points), array(training)
    size, line = 11 if len(known) <= 200 else 5, {"width": 2, "color": theme.text()}
    cross = {"size": size, "color": theme.text(), "symbol": "cross-thin", "line": line}
    paths = per_frame(np.stack(trails(p[:, :shown]), -1))
    dots = {"size": 6, "color": color, "opacity": 0.8}
    return {
        "data": [
            planar.points(known, cross, name="training points"),
            planar.path(paths, {"color": theme.fade(theme.HIDDEN, 0.7), "width": 1.5}, showlegend=False),
            planar.points(per_frame(p), dots, name="samples"),
        ],
        "layout": planar.axes(reach, tickvals=[-3, 0, 3]),
    }


def twelve(pictures: Any, title: str) -> dict[str, Any]:
    """Digits (F, 12, 64) in rows of three."""
    z = sheets.frames(pictures.clamp(0, 1).unflatten(-1, (8, 8)), 3, between=0)
    return turning(basic.image(z[0], title=title, zmin=0, zmax=1), z=z)


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
    fig.update_xaxes(
        title="distance to the nearest", range=[0, float(e[-1])], nticks=5, ticklabelposition="outside right"
    )
    fig.update_yaxes(title="share", range=[0, 1.02], tickvals=[0.5, 1])
    return fig.update_layout(bargap=0.1)
