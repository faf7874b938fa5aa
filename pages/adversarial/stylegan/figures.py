"""Sheets of two styles and of maps, shares of the variance, where noise shows, and two numbers against ψ."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import heatmaps, turning
from lab.figures.sheets import gap_of
from lab.figures.sheets import sheet as laid
from pages.adversarial.stylegan.room import CUTS

COLORS = (theme.OUTPUT, theme.INPUT)


def mixing(seen: Any) -> dict[str, Any]:
    """The first row and column are the sources, (F, R + 1, C + 1, S, S); a line sets them off."""
    z, side = laid(seen), array(seen).shape[-1]
    line = {"line": {"color": theme.ATTENTION, "width": 2}}
    edge = side + gap_of(side) - 1
    fig = basic.image(z[0], zmin=0, zmax=1).add_vline(x=edge, **line).add_hline(y=edge, **line)
    return turning(fig, z=z)


def shares(text: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Shares that row and column explain at each crossing."""
    return pairs(text, ("row", "column"), "layers with the row's style", "share of variance")


def against(text: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Confidence of the reader, and the spread of pictures as a share of its value at ψ = 1."""
    names = ("certainty", "spread")
    return pairs(
        text, names, "ψ", "certainty of the classifier; spread / spread at 1", [f"{c:g}" for c in CUTS]
    )


def pairs(
    text: Sequence[tuple[float, float]],
    names: tuple[str, str],
    xlabel: str,
    ylabel: str,
    ticks: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Two numbers at each place, and their points at that of each frame."""
    places, y = range(len(text)), np.array(text)
    fig = go.Figure()
    for i, (name, color) in enumerate(zip(names, COLORS, strict=True)):
        fig.add_scatter(
            x=list(places), y=y[:, i], name=name, mode="lines+markers", line={"color": color, "width": 3},
            marker={"size": 7}, showlegend=False,
        )  # fmt: skip
    last = len(text) - 1
    label = {"showarrow": False, "yshift": 10}
    for i, (name, color) in enumerate(zip(names, COLORS, strict=True)):
        where = last - 1 if y[last - 1, i] > y[1, i] or y[1, i] > 0.9 else 1  # where it is free of the other
        fig.add_annotation(
            x=where,
            y=y[where, i],
            text=f" {name} ",
            font={"color": color},
            xanchor="left" if where == 1 else "right",
            **label,
        )
    for color in COLORS:
        ring = {"size": 15, "color": color, "line": {"width": 2, "color": theme.text()}}
        fig.add_scatter(mode="markers", showlegend=False, hoverinfo="skip", marker=ring)
    fig.update_xaxes(title=xlabel, tickvals=list(places), ticktext=ticks, range=[-0.3, len(text) - 0.7])
    fig.update_yaxes(title=ylabel, range=[-0.06, 1.06], tickvals=[0.2, 0.4, 0.6, 0.8, 1])
    at = [[place] for place in places]
    return turning(turning(fig, 2, x=at, y=y[:, :1]), 3, x=at, y=y[:, 1:])


def spread(maps: Any) -> dict[str, Any]:
    """Standard deviation of each pixel, (F, S, S), as a share of the largest of its frame."""
    z = array(maps)
    z = z / np.maximum(z.max((1, 2), keepdims=True), 1e-9)
    fig = heatmaps(z, scale="violet", zmin=0, zmax=1.0, colorbar=False, square=True)
    for axis in ("xaxis", "yaxis"):
        fig["layout"][axis]["visible"] = False
    return fig


def maps(h: Any) -> go.Figure:
    """The maps (C, H, W) of a layer, each on its own scale: AdaIN gives each its own mean and spread."""
    z = array(h)
    low, high = z.min((1, 2), keepdims=True), z.max((1, 2), keepdims=True)
    return basic.images((z - low) / np.maximum(high - low, 1e-9), columns=8, zmin=0, zmax=1)
