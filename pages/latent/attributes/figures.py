"""The grid of pictures, and the lattice of the steps that come back."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import sheets, theme
from lab.figures.basic import array
from pages.latent.attributes.lens import ENDS, STRENGTHS


def grid(pictures: Tensor, across: str, down: str) -> go.Figure:
    """Pictures (V, U, H, W) with −s to s on both sides."""
    words = ["−s", "", "0", "", "s"]
    fig = sheets.contact_sheet(pictures, words, words, xlabel=f"{across} →")
    return fig.update_yaxes(title=f"← {down}")


def lines(points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points (..., V, U, 2) as one line along all rows and columns, NaN between: x and y."""
    p = array(points)
    gap = np.full((*p.shape[:-2], 1, 2), np.nan)
    rows = np.concatenate([p, gap], -2)
    turned = np.concatenate([np.swapaxes(p, -3, -2), gap], -2)
    both = np.concatenate([rows, turned], -3).reshape(*p.shape[:-3], -1, 2)
    return both[..., 0], both[..., 1]


def lattice(planned: Tensor, read: Tensor, across: str, down: str) -> go.Figure:
    """The steps planned (V, U, 2), grey, and those that come back, orange (trace 1)."""
    fig = go.Figure()
    for name, points, color, width in (
        ("taken", planned, theme.HIDDEN, 2), ("read again", read, theme.OUTPUT, 3)
    ):  # fmt: skip
        x, y = lines(points)
        fig.add_scatter(x=x, y=y, mode="lines+markers", name=name, line={"color": color, "width": width},
                        marker={"size": 2.5 * width}, hoverinfo="skip", connectgaps=False)  # fmt: skip
    reach = 1.25 * max(STRENGTHS) * max(ENDS)
    fig.update_xaxes(title=across, range=[-reach, reach], constrain="domain", dtick=1)
    fig.update_yaxes(title=down, range=[reach, -reach], scaleanchor="x", constrain="domain", dtick=1)
    return fig.update_layout(showlegend=True)


def moves(planned: Tensor, read: Tensor) -> dict[str, np.ndarray]:
    """Both lattices at every strength, for a film."""
    (x0, y0), (x1, y1) = lines(planned), lines(read)
    return {"data.0.x": x0, "data.0.y": y0, "data.1.x": x1, "data.1.y": y1}
