"""A Glow's pictures: the numbers of every stage on one canvas, sums along the way, sheets of digits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array

GAP = 1  # pixels between two pictures of a sheet


def canvas(values: Any, left: Sequence[Any], side: int) -> np.ndarray:
    """All numbers of a picture of side × side on one canvas: on top the channels (C, h, w) that go on, below
    what has left, the first to leave lowest; tiles are parted by a line."""
    scale = 5 if side <= 8 else 3  # pixels of the canvas a number
    out = np.full((side * scale, side * scale), np.nan, dtype=np.float32)
    row = 0
    for block in (values, *reversed(list(left))):
        z = array(block)
        c, h, w = z.shape
        across = side // w
        for i in range(c):
            top, edge = (row + i // across * h) * scale, i % across * w * scale
            tile = z[i].repeat(scale, 0).repeat(scale, 1)
            out[top : top + h * scale - 1, edge : edge + w * scale - 1] = tile[:-1, :-1]
        row += -(-c // across) * h
    return out


def stage(z: Any, reach: float = 3.0) -> go.Figure:
    """A canvas, on the diverging scale."""
    fig = basic.image(z, scale="diverging", zmin=-reach, zmax=reach)
    scale = {"thickness": 14, "outlinewidth": 0, "x": 1.0, "xpad": 6}
    fig.update_traces(hoverinfo="skip", showscale=True, colorbar=scale, selector={"type": "heatmap"})
    return fig.update_layout(margin={"r": 84})  # enough for the scale's numbers in a large hall, too


def sums(ladj: Sequence[float], base: Sequence[float], at: int) -> go.Figure:
    """Σ ladj and Σ log p_Z so far at every stage; shape 0 of the layout is the line at one of them."""
    lines = {
        "Σ ladj": ladj,
        "Σ log p_Z": base,
        "sum": [a + b for a, b in zip(ladj, base, strict=True)],
    }
    colors = {"Σ ladj": theme.BLUE, "Σ log p_Z": theme.ORANGE, "sum": theme.text()}
    return basic.curves(lines, mark=at, colors=colors, xlabel="stage", ylabel="nats")


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


def sheets(pictures: Any, top: float) -> np.ndarray:
    """The frames of `sheet`: (F, R, C, H, W) -> (F, rows, columns) of pixels."""
    return np.stack([basic.mosaic(one.reshape(-1, *one.shape[2:]), one.shape[1]) for one in array(pictures)])


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
