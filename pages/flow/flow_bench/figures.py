"""The plane after each layer, and the density with points on it."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, click_plane


def warp(parts: Sequence[Any], reach: float) -> go.Figure:
    """Grid lines (trace 0), cloud (1), own points (2), each (N, 2)."""
    looks = (
        ("grid", {"mode": "lines", "line": {"width": 1.5, "color": theme.HIDDEN}}),
        ("draws", {"mode": "markers", "marker": {"size": 4, "color": theme.OUTPUT, "opacity": 0.8}}),
        ("points", {"mode": "markers", "marker": {"size": 13, "color": theme.VERMILLION}}),
    )
    fig = go.Figure()
    for (name, look), values in zip(looks, parts, strict=True):
        p = array(values)
        fig.add_trace(go.Scatter(x=p[:, 0], y=p[:, 1], name=name, hoverinfo="skip", **look))
    plane_axes(fig, reach)
    return fig


def heat(log_p: Any, points: Any, reach: float) -> go.Figure:
    """log p over the plane, (S, S), from −8 to its top, and own points; click anywhere."""
    z = array(log_p)
    step = 2 * reach / len(z)
    scale = {"thickness": 12, "outlinewidth": 0, "title": {"text": "log p"}}
    dots = planar.points(points, {"size": 10, "color": theme.VERMILLION}, showlegend=False)
    fig = go.Figure([planar.field(z, reach, zmin=-8, zmax=0, colorbar=scale), dots])
    places = [round(-3.9 + 0.2 * i, 1) for i in range(40)]
    at = [int((v + reach) / step) for v in places]
    fig.add_trace(
        click_plane(
            places, places,
            [[f"log p({a:g}, {b:g}) ≈ {z[j][i]:.2f}" for a, i in zip(places, at, strict=True)]
             for b, j in zip(places, at, strict=True)],
        )
    )  # fmt: skip
    plane_axes(fig, reach)
    return fig


def plane_axes(fig: go.Figure, reach: float) -> None:
    ticks = [
        2 * i for i in range(-int(reach), int(reach) + 1) if abs(2 * i) < reach
    ]  # none is cut at the edge
    fig.update_layout(planar.axes(reach, tickvals=ticks))
