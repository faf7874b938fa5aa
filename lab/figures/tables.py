"""Figures of the rooms of image flows: a table of pictures with a frame that walks over it, lines over a
knob."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, sheets, theme
from lab.figures.basic import array

GAP = 1  # pixels between two pictures of a sheet


def sheet(pictures: Any, rows: Sequence[str], top: float, columns: Sequence[str] = ()) -> go.Figure:
    """Pictures (R, C, H, W) of 0 … top as a table with names of the rows, and of columns where given."""
    z = array(pictures)
    r, c, h, w = z.shape
    fig = basic.images(z.reshape(r * c, h, w), columns=c, zmin=0, zmax=top, gap=GAP)
    fig.update_xaxes(
        visible=bool(columns), showgrid=False, zeroline=False,
        tickvals=[j * (w + GAP) + (w - 1) / 2 for j in range(len(columns))], ticktext=list(columns),
    )  # fmt: skip
    fig.update_yaxes(
        visible=any(rows), showgrid=False, zeroline=False, ticktext=list(rows),
        tickvals=[i * (h + GAP) + (h - 1) / 2 for i in range(r)],
    )  # fmt: skip
    return fig


def frames(pictures: Any) -> np.ndarray:
    """The frames of `sheet`: (F, R, C, H, W) -> (F, rows, columns) of pixels."""
    z = array(pictures)
    return sheets.frames(z.reshape(len(z), -1, *z.shape[3:]), z.shape[2])


def frame(fig: go.Figure, at: int, side: int, rows: int) -> go.Figure:
    """A frame around a column of a sheet: shape 0 of the layout."""
    x0, x1 = edges(at, side)
    fig.add_shape(type="rect", x0=x0, x1=x1, y0=-1, y1=rows * (side + GAP) - 1,
                  line={"color": theme.VERMILLION, "width": 4})  # fmt: skip
    return fig


def edges(at: int, side: int) -> tuple[float, float]:
    return at * (side + GAP) - 1, (at + 1) * (side + GAP) - 1


def moves(count: int, side: int) -> dict[str, list[float]]:
    """The frame's film."""
    return {f"layout.shapes.0.x{end}": [edges(i, side)[end] for i in range(count)] for end in (0, 1)}


def course(
    lines: Mapping[str, Any],
    x: Sequence[float],
    at: float,
    xlabel: str,
    ylabel: str,
    levels: Mapping[str, float] | None = None,
) -> go.Figure:
    """Lines over a knob, a mark (shape 0) where it stands, and dashed levels to compare with."""
    fig = basic.curves(lines, x, mark=at, xlabel=xlabel, ylabel=ylabel)
    for (name, value), color in zip((levels or {}).items(), theme.CATEGORIES, strict=False):
        fig.add_scatter(x=[x[0], x[-1]], y=[value, value], mode="lines", name=name,
                        line={"color": color, "width": 2, "dash": "dash"})  # fmt: skip
    fig.update_layout(showlegend=True)
    return fig


def mark(x: Sequence[float]) -> dict[str, list[float]]:
    """The film of `course`."""
    return {"layout.shapes.0.x0": list(x), "layout.shapes.0.x1": list(x)}
