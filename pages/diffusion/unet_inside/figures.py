"""Sheets of feature maps, what a pixel reads, attention, and errors with and without skips."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme


def maps(values: Any, title: str) -> go.Figure:
    """A sheet from −1 to 1 on the diverging scale."""
    return basic.image(values, title=title, scale="diverging", zmin=-1, zmax=1)


def picture(values: Any, title: str) -> go.Figure:
    """A picture from 0 to 1."""
    return basic.image(values, title=title, zmin=0, zmax=1)


def reads(values: Any, row: int, column: int) -> go.Figure:
    """Shares (8, 8) of what a pixel reads, relative to the largest; a ring around the pixel."""
    fig = basic.image(values, scale="violet", zmin=0, zmax=1)
    return ringed(fig, row, column)


def ringed(fig: go.Figure, row: int, column: int) -> go.Figure:
    """A frame around a cell."""
    fig.add_shape(type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
                  line={"color": theme.VERMILLION, "width": 4})  # fmt: skip
    return fig


def looks(weights: Any, row: int, column: int) -> go.Figure:
    """Weights (4, 4) of a place's attention on the violet scale from 0 to 1; a frame around the place."""
    return ringed(basic.image(weights, scale="violet", zmin=0, zmax=1), row, column)


def by_time(times: Any, lines: Any, at: int, ylabel: str, top: float) -> tuple[go.Figure, dict[str, Any]]:
    """Numbers (F,) by name against t, with this t as a line; and what moves."""
    fig = basic.curves(lines, times, xlabel="t", ylabel=ylabel, mark=times[at])
    fig.update_xaxes(range=[0, 1000], tickvals=[250, 500, 750])
    fig.update_yaxes(range=[0, top], nticks=5)
    return fig, {"layout.shapes.0.x0": list(times), "layout.shapes.0.x1": list(times)}
