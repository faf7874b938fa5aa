"""A point's way through the log-density of every time; the integral of its divergence; probes."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, click_plane
from lab.figures.moving import per_frame
from lab.figures.trails import trails

TICKS = [-4, -2, 0, 2, 4]


def way(maps: Any, clouds: Any, path: Any, reach: float) -> dict[str, Any]:
    """The log-density (F, R, R), or a cloud (F, N, 2), under the point's path (F, 2); click."""
    p = array(path)[:, None]  # (F, 1, 2)
    if maps is not None:
        scale = {"thickness": 12, "outlinewidth": 0, "title": {"text": "log p"}, "tickvals": [-8, -6, -4, -2]}
        ground = planar.field(per_frame(maps), reach, edges=True, zmin=-10, zmax=0, colorbar=scale)
    else:
        ground = planar.points(per_frame(clouds), {"size": 5, "color": theme.fade(theme.INPUT, 0.6)})
    so_far = per_frame(np.stack(trails(p), -1))
    places = np.round(np.arange(-4.0, 4.01, 0.25), 2)
    return {
        "data": [
            ground,
            planar.path(so_far, {"color": theme.OUTPUT, "width": 4}),
            planar.points(per_frame(p), {"size": 16, "color": theme.VERMILLION}),
            click_plane(places, places).to_plotly_json(),
        ],
        "layout": planar.axes(reach, tickvals=TICKS) | {"showlegend": False},
    }


def stretched(times: Any, stretch: Any, stops: Any, sums: Any) -> dict[str, Any]:
    """The integral of the divergence so far, (F,), and the solver's own steps."""
    t, s = array(times), array(stretch)
    dot, cross = {"size": 16, "color": theme.VERMILLION}, {"size": 11, "color": theme.text()}
    cross |= {"symbol": "x-thin", "line": {"width": 3}}
    now = {"x": per_frame(t[:, None]), "y": per_frame(s[:, None]), "mode": "markers", "hoverinfo": "skip"}
    return {
        "data": [
            {"x": t, "y": s, "mode": "lines", "name": "so far", "line": {"color": theme.OUTPUT, "width": 3}},
            now | {"showlegend": False, "marker": dot},
            {"x": stops, "y": sums, "mode": "markers", "name": "solver's steps", "marker": cross},
        ],
        "layout": {
            "xaxis": {"title": "t", "range": [-0.02, 1.02], "tickvals": [0.25, 0.5, 0.75, 1]},
            "yaxis": {"title": "∫ ∇·u dt, nats"},
        },
    }


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
