"""Pictures of a translation, with what one logit of D sees, D's map, and distances over the phase."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves, heatmap, image
from lab.figures.moving import marking
from pages.adversarial.translate.room import DISTANCE, GAME, PHASES


def picture(x: Any, title: str, box: Sequence[tuple[int, int]] | None = None) -> go.Figure:
    """One picture as ink on paper; `box` of first and last row and column is framed."""
    fig = image(x, title=title, zmin=0, zmax=1)
    if box is not None:
        (top, bottom), (left, right) = box
        frame(fig, (left, right), (top, bottom))
    return fig


def frame(fig: go.Figure, columns: tuple[int, int], rows: tuple[int, int]) -> go.Figure:
    """The first to the last column and row are framed."""
    box = {"x0": columns[0] - 0.5, "x1": columns[1] + 0.5, "y0": rows[0] - 0.5, "y1": rows[1] + 0.5}
    return fig.add_shape(type="rect", line={"color": theme.VERMILLION, "width": 3}, **box)


def verdict(values: Any, at: tuple[int, int]) -> go.Figure:
    """σ(f) of every patch, to be clicked; the chosen one is framed."""
    fig = heatmap(values, clickable=True, square=True, title="D, by patch", colorbar=False)
    fig.update_traces(xgap=0, ygap=0, selector={"type": "heatmap"})
    fig.update_xaxes(visible=False).update_yaxes(visible=False)
    fig.update_layout(margin={"l": 4, "r": 4, "t": 36, "b": 4})
    row, column = at
    return frame(fig, (column, column), (row, row))


def distances(lines: dict[str, Any]) -> dict[str, Any]:
    """Mean |x − x̂| of both generators over the phase of the truth, and a line at that of each frame."""
    colours = {"ℓ₁ alone": theme.HIDDEN, "adversarial": theme.OUTPUT}
    fig = curves(
        {"ℓ₁ alone": lines[DISTANCE], "adversarial": lines[GAME]},
        mark=0,
        xlabel="phase of the target",
        ylabel="mean |x − x̂|",
        colors=colours,
        ends=True,
    )
    fig.update_yaxes(rangemode="tozero", nticks=4)
    fig.update_xaxes(nticks=4, ticklabelposition="outside right")  # else two 0 meet in the corner
    return marking(fig, range(PHASES))
