"""A game on the plane: D as colours, data, what is made and where it is sent."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.lenses.plane_games import REACH, Look, segments


def plane(data: Any, looks: list[Look], at: int) -> go.Figure:
    """Traces: 0 D over the plane, 1 data, 2 arrows, 3 what is made."""
    now, d = looks[at], array(data)
    step = 2 * REACH / (len(now.surface) - 1)
    lines = array(segments([now])[0])
    made = array(now.made)
    fig = go.Figure(
        [
            go.Heatmap(z=array(now.surface), x0=-REACH, dx=step, y0=-REACH, dy=step, zmin=0, zmax=1,
                       colorscale=theme.scale("probability"), zsmooth="fast", hoverinfo="skip",
                       colorbar={"thickness": 12, "outlinewidth": 0, "len": 0.9, "title": {"text": "D"}}),
            go.Scatter(x=d[:, 0], y=d[:, 1], mode="markers", name="data", hoverinfo="skip",
                       marker={"size": 4, "color": theme.HIDDEN}),
            go.Scatter(x=lines[:, 0], y=lines[:, 1], mode="lines", name="where G is sent", hoverinfo="skip",
                       line={"color": theme.VERMILLION, "width": 2}),
            go.Scatter(x=made[:, 0], y=made[:, 1], mode="markers", name="made", hoverinfo="skip",
                       marker={"size": 5, "color": theme.OUTPUT}),
        ]
    )  # fmt: skip
    fig.update_xaxes(range=[-REACH, REACH], zeroline=False, constrain="domain", nticks=5)
    fig.update_yaxes(range=[-REACH, REACH], zeroline=False, constrain="domain", scaleanchor="x", nticks=5)
    return fig


def moves(looks: list[Look]) -> dict[str, np.ndarray]:
    """What turns in `plane`."""
    lines = array(segments(looks))
    made = np.stack([array(one.made) for one in looks])
    return {
        "data.0.z": np.stack([array(one.surface) for one in looks]),
        "data.2.x": lines[..., 0], "data.2.y": lines[..., 1],
        "data.3.x": made[..., 0], "data.3.y": made[..., 1],
    }  # fmt: skip
