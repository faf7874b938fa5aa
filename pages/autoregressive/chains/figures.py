"""Neighbours of a pixel, painted cell by cell."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import heatmap


def painter(
    grid: Any, columns: Sequence[int], rows: Sequence[int], title: str = "", height: int = 380
) -> go.Figure:
    """Cells that come before a pixel: parents blue, the pixel orange, later pixels (NaN) the colour of lines.

    A click reports x = column, y = row, counted from 0.
    """
    fig = heatmap(
        grid, title=title, scale="diverging", square=True, colorbar=False, x=columns, y=rows,
        xlabel="columns right", ylabel="rows down", height=height, clickable=True,
    )  # fmt: skip
    fig.update_traces(xgap=3, ygap=3, selector={"type": "heatmap"})
    return fig.update_layout(plot_bgcolor=theme.grid())
