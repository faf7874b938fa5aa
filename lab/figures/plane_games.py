"""A game on the plane: D as colours, data, what is made and where it is sent."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array
from lab.lenses.plane_games import REACH, Look, segments


def board(data: Any, looks: list[Look], at: int) -> go.Figure:
    """Traces: 0 D over the plane, 1 data, 2 arrows, 3 what is made."""
    now = looks[at]
    bar = {"thickness": 12, "outlinewidth": 0, "len": 0.9, "title": {"text": "D"}}
    traces = [
        planar.field(array(now.surface), REACH, edges=True, zmin=0, zmax=1, zsmooth="fast", colorbar=bar),
        planar.points(data, {"size": 4, "color": theme.HIDDEN}, name="data"),
        planar.path(segments([now])[0], {"color": theme.VERMILLION, "width": 2}, name="where G is sent"),
        planar.points(now.made, {"size": 5, "color": theme.OUTPUT}, name="made"),
    ]
    return go.Figure(traces, planar.axes(REACH, nticks=5))


def moves(looks: list[Look]) -> dict[str, np.ndarray]:
    """What turns in `board`."""
    lines = array(segments(looks))
    made = np.stack([array(one.made) for one in looks])
    return {
        "data.0.z": np.stack([array(one.surface) for one in looks]),
        "data.2.x": lines[..., 0], "data.2.y": lines[..., 1],
        "data.3.x": made[..., 0], "data.3.y": made[..., 1],
    }  # fmt: skip
