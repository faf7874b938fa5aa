"""The triangle of weights with the row that is read, and the strings that agree with a beginning."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import bars, heatmap


def triangle(weights: Any, names: Sequence[str], row: int) -> go.Figure:
    """A (n, n) with the bias first, NaN above the diagonal; a frame around `row`, shape 0 of the layout."""
    fig = heatmap(
        weights, x=["1", *names[:-1]], y=names, title="A: rows read columns", scale="diverging",
        numbers=".4~g", colorbar=False,
    )  # fmt: skip
    fig.add_shape(
        type="rect", x0=-0.5, x1=len(names) - 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": theme.VERMILLION, "width": 4},
    )  # fmt: skip
    return fig


def conditionals(p: Any, names: Sequence[str]) -> go.Figure:
    """p(x_i = 1) of each bit given those before it; trace 0 has its heights in `y`."""
    fig = bars(names, p, title="p(bit = 1 | bits before)", probability=True)
    return fig.update_yaxes(nticks=3)


def strings(names: Sequence[str], p: Any, agree: Any, chosen: int) -> go.Figure:
    """p of every string; those that agree with a beginning are full (`marker.opacity` of trace 0), and the
    chosen one has an outline."""
    fig = bars(names, p, horizontal=True, title="p of each string: click one")
    outline = [3 if i == chosen else 0 for i in range(len(names))]
    fig.update_traces(marker={"opacity": agree, "line": {"width": outline, "color": theme.text()}})
    return fig.update_xaxes(nticks=5)
