"""A curve in the plane with its density, draws and tubes; prior and posterior of z."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, click_plane, rule

TARGETS = 31  # places a side that can be asked about
CIRCLES = 13


def plane(
    density: Any, reach: float, curve: Any, sigma: float, draws: Any, shown: int, at: tuple[float, float],
    guesses: Any,
) -> go.Figure:  # fmt: skip
    """Traces: density, tubes, curve, draws, guesses, the point asked about, places to click.

    Args:
        density: (S, S), row = x₂ upwards; curve (M, 2) for z from -2.5 to 2.5.
        draws: (N, 2), of which `shown` are there; guesses (G, 2) on the curve.
    """
    p, line, x, g = array(density), array(curve), array(draws), array(guesses)
    fig = go.Figure(planar.field(p, reach, zmin=0, showscale=False))
    angle = np.append(np.linspace(0, 2 * np.pi, 30), np.nan)
    places = line[np.linspace(0, len(line) - 1, CIRCLES).astype(int)]
    circles = places[:, None] + 2 * sigma * np.stack([np.cos(angle), np.sin(angle)], 1)  # (C, 31, 2)
    for points, name, style in (
        (circles.reshape(-1, 2), "2σ around f(z)", {"color": theme.HIDDEN, "width": 1.5}),
        (line, "f(z)", {"color": theme.text(), "width": 4}),
    ):
        fig.add_scatter(x=points[:, 0], y=points[:, 1], mode="lines", name=name, line=style, hoverinfo="skip")
    fig.add_scatter(
        x=cut(x, shown)[:, 0], y=cut(x, shown)[:, 1], mode="markers", name="draws", hoverinfo="skip",
        marker={"size": 7, "color": theme.OUTPUT, "line": {"width": 0.5, "color": theme.paper()}},
    )  # fmt: skip
    fig.add_scatter(
        x=g[:, 0], y=g[:, 1], mode="markers", name="likeliest f(z)", hoverinfo="skip",
        marker={"symbol": "diamond", "size": 15, "color": theme.ATTENTION,
                "line": {"width": 2, "color": theme.text()}},
    )  # fmt: skip
    fig.add_scatter(
        x=[at[0]], y=[at[1]], mode="markers", name="x", hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 20, "color": theme.VERMILLION, "line": {"width": 4}},
    )  # fmt: skip
    ticks = np.linspace(-reach, reach, TARGETS).round(6)
    fig.add_trace(click_plane(ticks, ticks))
    return fig.update_layout(hoverdistance=-1, showlegend=False, **planar.axes(reach, ("x₁", "x₂")))


def cut(x: np.ndarray, shown: int) -> np.ndarray:
    """The first points, NaN for the others."""
    return np.where(np.arange(len(x))[:, None] < shown, x, np.nan)


def fills(draws: Any, counts: list[int]) -> dict[str, np.ndarray]:
    """Moving parts of `plane`: more and more draws."""
    parts = np.stack([cut(array(draws), n) for n in counts])
    return {"data.3.x": parts[..., 0], "data.3.y": parts[..., 1]}


def laws(z: Any, prior: Any, posterior: Any, guesses: Any) -> go.Figure:
    """Prior and posterior over z, and a line at each of the likeliest z."""
    fig = go.Figure()
    for y, name, color, width in (
        (prior, "p(z)", theme.HIDDEN, 3), (posterior, "p(z | x)", theme.ATTENTION, 4)
    ):  # fmt: skip
        fig.add_scatter(x=array(z), y=array(y), mode="lines", name=name,
                        line={"color": color, "width": width},
                        hovertemplate="z = %{x:.2f}: %{y:.3f}<extra></extra>")  # fmt: skip
    for place in array(guesses).tolist():
        rule(fig, x=place, line={"color": theme.ATTENTION, "width": 2, "dash": "dot"})
    fig.update_xaxes(title="z", range=[-3.5, 3.5], zeroline=False)
    fig.update_yaxes(title="density", rangemode="tozero")
    return fig
