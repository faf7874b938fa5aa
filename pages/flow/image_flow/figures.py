"""The numbers of a Glow's every stage on one canvas, and sums along the way."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array


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
    return fig.update_layout(margin={"r": 100})  # enough for the scale's numbers in a large hall, too


def sums(ladj: Sequence[float], base: Sequence[float], at: int) -> go.Figure:
    """Σ ladj and Σ log p_Z so far at every stage; shape 0 of the layout is the line at one of them."""
    lines = {
        "Σ ladj": ladj,
        "Σ log p_Z": base,
        "sum": [a + b for a, b in zip(ladj, base, strict=True)],
    }
    colors = {"Σ ladj": theme.BLUE, "Σ log p_Z": theme.ORANGE, "sum": theme.text()}
    return basic.curves(lines, mark=at, colors=colors, xlabel="stage", ylabel="nats")
