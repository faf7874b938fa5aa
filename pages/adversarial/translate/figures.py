"""Pictures of a translation, with what one logit of D sees, D's map, and distances over the phase."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves, heatmap, image


def picture(x: Any, title: str, box: Sequence[tuple[int, int]] | None = None) -> go.Figure:
    """One picture as ink on paper; `box` of first and last row and column is framed."""
    fig = image(x, title=title, zmin=0, zmax=1)
    if box is not None:
        (top, bottom), (left, right) = box
        fig.add_shape(
            type="rect", x0=left - 0.5, x1=right + 0.5, y0=top - 0.5, y1=bottom + 0.5,
            line={"color": theme.VERMILLION, "width": 3},
        )  # fmt: skip
    return fig


def verdict(values: Any, at: tuple[int, int]) -> go.Figure:
    """σ(f) of every patch, to be clicked; the chosen one is framed."""
    fig = heatmap(values, clickable=True, square=True, title="D: how real")
    fig.update_traces(xgap=0, ygap=0, selector={"type": "heatmap"})
    fig.update_xaxes(visible=False).update_yaxes(visible=False)
    row, column = at
    return fig.add_shape(
        type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": theme.VERMILLION, "width": 3},
    )  # fmt: skip


def distances(lines: dict[str, Any], at: int) -> go.Figure:
    """Mean |x − x̂| of both generators over the phase of the truth; shape 0 is the phase now."""
    colours = dict(zip(lines, (theme.HIDDEN, theme.OUTPUT), strict=True))
    fig = curves(lines, mark=at, xlabel="phase of the truth", ylabel="mean |x − x̂|", colors=colours)
    fig.update_yaxes(rangemode="tozero", nticks=4)
    return fig.update_xaxes(nticks=4, ticklabelposition="outside right")  # else two 0 meet in the corner
