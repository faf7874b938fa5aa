"""Rows of a table, each in the colour of what a model says of it, with outlines of its Gaussians."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array

PLAIN = theme.INPUT


def beliefs(
    across: Any, up: Any, colours: Any, names: Sequence[str], joined: bool, continuous: bool
) -> go.Figure:
    """Rows at (across, up), each in its colour; trace 0. Joined by a line where they are in order of time."""
    fig = go.Figure()
    marker: dict[str, Any] = {"size": 8, "color": list(colours)}
    if continuous:
        marker |= {"colorscale": "Viridis", "showscale": False}
    fig.add_scatter(
        x=array(across), y=array(up), mode="lines+markers" if joined else "markers", marker=marker,
        line={"width": 1, "color": theme.HIDDEN},
    )  # fmt: skip
    return labelled(fig, names)


def labelled(fig: go.Figure, names: Sequence[str]) -> go.Figure:
    fig.update_xaxes(title=names[0][:30], zeroline=False)
    fig.update_yaxes(title=names[1][:30], zeroline=False)
    fig.update_layout(showlegend=False)
    return fig


def classes(labels: Any) -> list[str]:
    """The colour of each class."""
    return [theme.CATEGORIES[int(k) % len(theme.CATEGORIES)] for k in array(labels)]


def outlined(fig: go.Figure, outlines: Any, row: tuple[float, float]) -> go.Figure:
    """Ellipses (K, P, 2) in the colours of `classes`, one alone in grey, and a ring around one row."""
    lines = array(outlines)
    colors = classes(range(len(lines))) if len(lines) > 1 else [theme.HIDDEN] * len(lines)
    for color, line in zip(colors, lines, strict=True):
        fig.add_scatter(x=line[:, 0], y=line[:, 1], mode="lines", line={"width": 3, "color": color},
                        hoverinfo="skip")  # fmt: skip
    fig.add_scatter(
        x=[row[0]], y=[row[1]], mode="markers", hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 20, "color": theme.VERMILLION, "line": {"width": 3}},
    )  # fmt: skip
    return fig
