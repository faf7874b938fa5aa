"""A map of a layer to choose a unit on, and the frame that moves along its row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap


def marks(units: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """What moves in `feature_map`: the frame around the chosen (row, column)."""
    at = np.array(units, float)
    return {
        f"layout.shapes.0.{'yx'[axis]}{end}": at[:, axis] + end - 0.5 for axis in (0, 1) for end in (0, 1)
    }


def feature_map(
    values: Any, chosen: tuple[int, int] | None = None, title: str = "", height: int = 420
) -> go.Figure:
    """One map, clickable: (H, W) of a channel, or (channels, positions) of a 1-D layer.

    A click reports x = column, y = row; the `chosen` (row, column) has a frame.
    """
    z = array(values)
    wide = z.shape[0] < z.shape[1] / 2
    fig = heatmap(z, scale="diverging", clickable=True, title=title, square=not wide, height=height)
    fig.update_traces(selector={"type": "scatter"}, marker_size=max(6, min(36, 380 // max(z.shape))))
    if chosen is not None:
        row, column = chosen
        fig.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"color": theme.VERMILLION, "width": 4},
        )  # fmt: skip
    return fig
