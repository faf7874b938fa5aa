"""A density of the plane drawn: its map with points, and the mixture of one section."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, curves, rule


def plane(
    density: Any,
    reach: float,
    points: Any = None,
    samples: Any = None,
    at: tuple[float, float] | None = None,
    title: str = "",
) -> go.Figure:
    """A density over [-reach, reach]², x_1 to the right and x_2 upwards; with `at`, shape 0 of the layout is
    the line through x_1 and the last trace the ring.

    Args:
        density: (S, S), row = x_2 upwards, column = x_1.
        points, samples: (N, 2) of the data and of the model.
        at: (x_1, x_2) selected: a line through x_1 and a ring.
    """
    text = "(%{x:.2f}, %{y:.2f}): %{z:.3f}<extra></extra>"
    ground = planar.field(array(density), reach, zmin=0, hoverinfo=None, hovertemplate=text, showscale=False)
    fig = go.Figure(ground)
    for cloud, name, color in ((points, "data", theme.HIDDEN), (samples, "samples", theme.OUTPUT)):
        if cloud is not None:
            fig.add_trace(planar.points(cloud, {"size": 4, "color": color, "opacity": 0.6}, name=name))
    if at is not None:
        rule(fig, x=at[0], line={"color": theme.VERMILLION, "width": 3, "dash": "dot"})
        fig.add_trace(
            go.Scatter(
                x=[at[0]], y=[at[1]], mode="markers", showlegend=False, hoverinfo="skip", name="selected",
                marker={"symbol": "circle-open", "size": 16, "color": theme.VERMILLION, "line": {"width": 4}},
            )
        )  # fmt: skip
    fig.update_layout(planar.axes(reach, ("x₁", "x₂")))
    fig.update_layout(title=title, showlegend=False)
    return fig


def section(x: Any, total: Any, components: Any, at: float, title: str = "") -> go.Figure:
    """A mixture over x (N,): the whole (N,), the last trace, and its components (K, N) under it; a line at
    `at`."""
    xs, parts = array(x), array(components)
    fig = go.Figure()
    for index, part in enumerate(parts):
        fig.add_trace(
                go.Scatter(
                    x=xs, y=part, mode="lines", name="components", showlegend=index == 0, hoverinfo="skip",
                    legendgroup="components", fill="tozeroy", fillcolor=theme.fade(theme.HIDDEN, 0.15),
                    line={"width": 2, "color": theme.HIDDEN},
                )
            )  # fmt: skip
    fig.add_trace(
        go.Scatter(x=xs, y=array(total), mode="lines", name="their sum",
                   line={"width": 4, "color": theme.OUTPUT},
                   hovertemplate="x₂ = %{x:.2f}: %{y:.4f}<extra></extra>")
    )  # fmt: skip
    rule(fig, x=at, line={"color": theme.VERMILLION, "width": 3, "dash": "dot"})
    fig.update_xaxes(title="x₂")
    fig.update_yaxes(title="density", rangemode="tozero")
    fig.update_layout(title=title)
    return fig


def sweep(density: Any, components: Any, places: Sequence[float], ring: int) -> tuple[dict, dict]:
    """Moving parts of `plane`, whose ring is trace number `ring`, and of `section`, while x_1 goes through
    places: density (F, N), components (F, K, N)."""
    parts = array(components)
    plane = {f"layout.shapes.0.x{end}": list(places) for end in (0, 1)}
    line = {f"data.{k}.y": parts[:, k] for k in range(parts.shape[1])}
    return (
        {**plane, f"data.{ring}.x": [[x] for x in places]},
        {**line, f"data.{parts.shape[1]}.y": array(density)},
    )


def course(lines: Mapping[str, Any], steps: Sequence[float], at: float, title: str) -> go.Figure:
    """Curves over the training steps; shape 0 of the layout is a line at one of them."""
    fig = curves(lines, steps, mark=at, title=title, xlabel="training steps")
    fig.data[0].line.width = 8  # one that lies upon it leaves its edges
    return fig
