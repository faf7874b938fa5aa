"""Figures of pictures read or drawn pixel by pixel."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_targets, heatmap, image, images


def canvas(
    picture: Any, side: int, pixel: int = -1, title: str = "", clickable: bool = False, height: int = 400
) -> go.Figure:
    """A picture being drawn, (side * side,) with NaN where nothing is known yet; a ring around `pixel`.

    A click reports x = column, y = row.
    """
    z = array(picture).reshape(side, side)
    fig = image(np.where(np.isnan(z), np.nan, z), title=title, zmin=0, zmax=1, height=height)
    fig.update_layout(plot_bgcolor=theme.fade(theme.INPUT, 0.18))
    mark_unknown(fig, z)
    if 0 <= pixel < side * side:
        fig.add_trace(ring(pixel % side, pixel // side, side))
    if clickable:
        i, j = (index.ravel() for index in np.indices((side, side)))
        fig.add_trace(click_targets(j, i, np.column_stack([i, j])))
        fig.update_layout(hoverdistance=-1)
    return fig


def mark_unknown(fig: go.Figure, z: np.ndarray) -> None:
    """Unknown pixels in the input's pale blue, unlike the paper of a zero."""
    unknown = np.where(np.isnan(z), 1.0, np.nan)
    blue = theme.fade(theme.INPUT, 0.22)
    fig.add_trace(go.Heatmap(z=unknown, colorscale=[[0, blue], [1, blue]], showscale=False, hoverinfo="skip"))


def ring(column: float, row: float, side: int, room: float = 330) -> go.Scatter:
    """A frame around one of side × side pixels; `room`: px that the picture has, about."""
    return go.Scatter(
        x=[column], y=[row], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"symbol": "square-open", "size": max(8, room // side), "color": theme.VERMILLION,
                "line": {"width": 3}},
    )  # fmt: skip


def surprisal(values: Any, side: int, title: str = "", height: int = 400) -> go.Figure:
    """-log p of each known pixel, nats; from 0 to at least 3 so that pictures compare."""
    z = array(values).reshape(side, side).astype(float)
    top = max(3.0, float(np.nanmax(z, initial=0.0)))
    fig = heatmap(z, scale="violet", zmin=0, zmax=top, title=title, height=height)
    fig.update_traces(xgap=0, ygap=0, selector={"type": "heatmap"})
    mark_unknown(fig, z)
    fig.update_xaxes(visible=False, constrain="domain")
    fig.update_yaxes(visible=False, scaleanchor="x", constrain="domain")
    return fig


def reads(gradient: Any, side: int, pixel: int, title: str = "", height: int = 400) -> go.Figure:
    """∂ logit of one pixel / ∂ every pixel, on the picture; cells of exactly zero stay empty; a ring around
    `pixel`, if there is one."""
    z = array(gradient).reshape(side, side).astype(float)
    reach = float(np.abs(z).max()) or 1.0
    fig = heatmap(np.where(z == 0, np.nan, z), scale="diverging", zmin=-reach, zmax=reach, title=title,
                  height=height)  # fmt: skip
    fig.update_traces(xgap=0, ygap=0, selector={"type": "heatmap"})
    fig.update_xaxes(visible=False, constrain="domain")
    fig.update_yaxes(visible=False, scaleanchor="x", constrain="domain")
    if 0 <= pixel < side * side:
        fig.add_trace(ring(pixel % side, pixel // side, side, 0.82 * height))
    fig.update_layout(margin_r=110)  # the numbers of the scale, large on the stage too
    return fig


def completions(
    pictures: Any, known: Any, side: int, title: str = "", columns: int | None = None
) -> go.Figure:
    """Completed pictures as a sheet; what was given in full ink, what was drawn in the output's orange.

    Args:
        pictures: (N, n) bits.
        known: (n,) bool.
    """
    z = array(pictures).reshape(-1, side, side).astype(float)
    given = array(known).astype(bool).reshape(side, side)
    shade = np.where(given, z, 0.55 * z)  # drawn ink is paler than given ink
    fig = images(shade, columns, title=title, zmin=0, zmax=1, gap=1, height=400)
    fig.update_layout(plot_bgcolor=theme.grid())  # shows through the gaps between pictures
    ink, back = theme.text(), theme.paper()
    fig.update_traces(
        colorscale=[[0, back], [0.01, back], [0.5, theme.OUTPUT], [0.6, theme.OUTPUT], [0.99, ink], [1, ink]],
        selector={"type": "heatmap"},
    )
    return fig
