"""Sheets of two styles and of maps, shares of the variance, where noise shows, and two numbers against ψ."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.sheets import sheet as laid
from pages.adversarial.stylegan import truncation


def mixing(pictures: Any) -> go.Figure:
    """The first row and column are the sources, (R + 1, C + 1, S, S); a line sets them off."""
    fig = basic.image(laid(pictures), zmin=0, zmax=1)
    pitch = array(pictures).shape[-1] + max(1, array(pictures).shape[-1] // 14)
    for axis in ("vline", "hline"):
        getattr(fig, f"add_{axis}")(
            **{axis[0].replace("v", "x").replace("h", "y"): pitch - 1},
            line={"color": theme.ATTENTION, "width": 2},
        )
    return fig


def mixings(seen: Sequence[Any]) -> np.ndarray:
    """The frames of `mixing`."""
    return np.stack([laid(pictures) for pictures in seen])


def shares(said: Sequence[tuple[float, float]], at: int) -> go.Figure:
    """What row and column explain at each crossing; trace 2 and 3: where the film rests."""
    fig = go.Figure()
    places = list(range(len(said)))
    for i, (name, color) in enumerate((("row", theme.OUTPUT), ("column", theme.INPUT))):
        fig.add_scatter(
            x=places, y=[pair[i] for pair in said], name=name, mode="lines+markers",
            line={"color": color, "width": 3}, marker={"size": 7},
        )  # fmt: skip
    for i, color in enumerate((theme.OUTPUT, theme.INPUT)):
        fig.add_scatter(
            x=[at], y=[said[at][i]], mode="markers", showlegend=False, hoverinfo="skip",
            marker={"size": 15, "color": color, "line": {"width": 2, "color": theme.text()}},
        )  # fmt: skip
    fig.update_xaxes(title="layers with the row's style", tickvals=places, range=[-0.3, len(said) - 0.7])
    fig.update_yaxes(title="share of variance", range=[-0.06, 1.06], tickvals=[0.2, 0.4, 0.6, 0.8, 1])
    return fig


def points(said: Sequence[tuple[float, float]]) -> dict[str, list[Any]]:
    """The points of `shares` or `against` at each frame, for a film."""
    at = [[i] for i in range(len(said))]
    return {
        "data.2.x": at, "data.3.x": at,
        "data.2.y": [[a] for a, _ in said], "data.3.y": [[b] for _, b in said],
    }  # fmt: skip


def spread(map_: Any, top: float) -> go.Figure:
    """Standard deviation of each pixel, up to `top`."""
    fig = basic.heatmap(map_, scale="violet", zmin=0, zmax=top, colorbar=False, square=True)
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False)
    return fig


def against(sure: Sequence[float], spread: Sequence[float], at: int) -> go.Figure:
    """How sure the reader is, and how far pictures spread as a share of its value at ψ = 1."""
    fig = shares([(a, b / spread[-1]) for a, b in zip(sure, spread, strict=True)], at)
    for trace, name in zip(fig.data, ("reader's certainty", "spread"), strict=False):
        trace.name = name
    fig.update_xaxes(title="ψ", tickvals=list(range(11)), ticktext=[f"{c:g}" for c in truncation.CUTS])
    fig.update_yaxes(title="certainty; spread, of that at 1")
    return fig


def maps(h: Any) -> go.Figure:
    """The maps (C, H, W) of a layer, each on its own scale: AdaIN gives each its own mean and spread."""
    z = array(h)
    low, high = z.min((1, 2), keepdims=True), z.max((1, 2), keepdims=True)
    return basic.images((z - low) / np.maximum(high - low, 1e-9), columns=8, zmin=0, zmax=1)
