"""Neighbours of a pixel, painted cell by cell."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import raster, theme
from lab.figures.basic import bars, heatmap


def painter(grid: Any, columns: Sequence[int], rows: Sequence[int], title: str = "") -> go.Figure:
    """Cells that come before a pixel: parents blue, the pixel orange, later pixels (NaN) the colour of lines.

    A click reports x = column, y = row, counted from 0.
    """
    fig = heatmap(
        grid, title=title, scale="diverging", square=True, colorbar=False, x=columns, y=rows,
        clickable=True,
    )  # fmt: skip
    fig.update_traces(xgap=3, ygap=3, selector={"type": "heatmap"})
    return fig.update_layout(plot_bgcolor=theme.grid())


def surprisal(values: Any, side: int, pixel: int, title: str = "") -> go.Figure:
    """Surprisal of each pixel, nats; the last trace is a ring around `pixel`."""
    fig = raster.surprisal(values, side, title)
    fig.update_traces(showscale=False)
    return fig.add_trace(raster.ring(pixel % side, pixel // side, 12)).update_layout(height=None)


def states(after: Any, rest: Any, title: str) -> go.Figure:
    """The distribution of the state (trace 1) beside the stationary one (trace 0)."""
    names = [str(i + 1) for i in range(len(rest))]
    return bars(names, after, baseline=rest, probability=True, title=title, xlabel="state",
                names=("ν Aᵐ", "in the long run"))  # fmt: skip
