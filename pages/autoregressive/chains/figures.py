"""Neighbours of a pixel, painted cell by cell."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import raster, theme
from lab.figures.basic import array, bars, curves, heatmap, image


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


def ring_frames(side: int, trace: int) -> dict[str, Any]:
    """Frames that move the ring of `trace` over all pixels of a picture."""
    places = np.arange(side * side)
    return {f"data.{trace}.x": (places % side)[:, None], f"data.{trace}.y": (places // side)[:, None]}


def states(after: Any, rest: Any, title: str) -> go.Figure:
    """The distribution of the state (trace 1) beside the stationary one (trace 0)."""
    names = [str(i + 1) for i in range(len(rest))]
    return bars(names, after, baseline=rest, probability=True, title=title, xlabel="state",
                names=("ν Aᵐ", "in the long run"))  # fmt: skip


def read(
    x: Any, side: int, at: int, parents: tuple[Any, Any], title: str
) -> tuple[go.Figure, dict[str, Any]]:
    """A picture x (n,), a ring around pixel `at` and dots on those that it knows; and all frames.

    Args:
        parents: columns and rows (n, k) of what each pixel knows, NaN where there is nothing.
    """
    fig = image(array(x).reshape(side, side), title=title, zmin=0, zmax=1)
    columns, rows = (array(one) for one in parents)
    fig.add_scatter(
        x=columns[at], y=rows[at], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"size": 60 / side + 4, "color": theme.INPUT, "line": {"width": 1, "color": theme.paper()}},
    )  # fmt: skip
    fig.add_trace(raster.ring(at % side, at // side, side, 200))
    return fig, {"data.1.x": columns, "data.1.y": rows, **ring_frames(side, 2)}


def orders(own: Mapping[int, float], shared: Mapping[int, float], mark: int) -> go.Figure:
    """Test cost by order, nats: a table for every pixel, and one for all."""
    lines = {"a table a pixel": list(own.values()), "one table": list(shared.values())}
    fig = curves(lines, list(own), mark=mark, markers=True, xlabel="order k", ylabel="test nats", height=320)
    return fig.update_xaxes(tickvals=list(own))
