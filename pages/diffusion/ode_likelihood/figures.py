"""A point's way through the log-density of every time; the integral of its divergence; probes."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, click_plane
from lab.figures.trails import trails

TICKS = [-4, -2, 0, 2, 4]


def way(maps: Any, clouds: Any, path: Any, reach: float, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The log-density at a frame (F, R, R), or a cloud (F, N, 2), under the point's path (F, 2); click."""
    p = array(path)
    x, y = trails(p[:, None])
    moves: dict[str, Any] = {"data.1.x": x, "data.1.y": y, "data.2.x": p[:, :1], "data.2.y": p[:, 1:]}
    if maps is not None:
        z = array(maps)
        scale = {"thickness": 12, "outlinewidth": 0, "title": {"text": "log p"}}
        ground = planar.field(z[at], reach, edges=True, zmin=-10, zmax=0, colorbar=scale)
        moves["data.0.z"] = z
    else:
        c = array(clouds)
        ground = planar.points(c[at], {"size": 5, "color": theme.fade(theme.INPUT, 0.6)})
        moves |= {"data.0.x": c[..., 0], "data.0.y": c[..., 1]}
    way = {"x": x[at], "y": y[at], "mode": "lines", "hoverinfo": "skip",
           "line": {"color": theme.OUTPUT, "width": 4}}  # fmt: skip
    fig = go.Figure([ground, way, planar.points(p[at : at + 1], {"size": 16, "color": theme.VERMILLION})])
    places = np.round(np.arange(-4.0, 4.01, 0.25), 2)
    fig.add_trace(click_plane(places, places))
    return fig.update_layout(showlegend=False, **planar.axes(reach, tickvals=TICKS)), moves


def stretched(times: Any, stretch: Any, stops: Any, sums: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The integral of the divergence so far, (F,), and the solver's own steps."""
    t, s = array(times), array(stretch)
    fig = go.Figure(
        [
            go.Scatter(x=t, y=s, mode="lines", name="so far", line={"color": theme.OUTPUT, "width": 3}),
            go.Scatter(x=t[at : at + 1], y=s[at : at + 1], mode="markers", hoverinfo="skip", showlegend=False,
                       marker={"size": 16, "color": theme.VERMILLION}),
            go.Scatter(x=list(stops), y=list(sums), mode="markers", name="solver's steps",
                       marker={"size": 11, "color": theme.text(), "symbol": "x-thin", "line": {"width": 3}}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="t", range=[-0.02, 1.02], tickvals=[0.25, 0.5, 0.75, 1])
    fig.update_yaxes(title="∫ ∇·u dt, nats")
    return fig, {"data.1.x": t[:, None], "data.1.y": s[:, None]}


def estimates(probed: Any, log_prob: float) -> go.Figure:
    """log p by each probe, their mean, and the one with the divergence computed."""
    p = array(probed)
    count = list(range(1, len(p) + 1))
    fig = go.Figure(
        [
            go.Scatter(x=count, y=p, mode="markers", name="one probe",
                       marker={"size": 9, "color": theme.HIDDEN}),
            go.Scatter(x=count, y=np.cumsum(p) / np.arange(1, len(p) + 1), mode="lines", name="mean so far",
                       line={"color": theme.OUTPUT, "width": 3}),
        ]
    )  # fmt: skip
    fig.add_hline(y=log_prob, line={"color": theme.INPUT, "width": 3, "dash": "dash"})
    fig.update_xaxes(title="probes", range=[0, len(p) + 1], nticks=6)
    fig.update_yaxes(title="log p, nats")
    return fig
