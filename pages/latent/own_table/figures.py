"""A table's rows under a model, and the curves that compare sizes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves

PLAIN = theme.INPUT


def ground(points: Any, x: Any, y: Any, p: Any, names: Sequence[str], top: float) -> go.Figure:
    """Rows (N, 2) on a density p (R, C) over x (C,) and y (R,); trace 0 is the density."""
    rows = array(points)
    fig = go.Figure()
    fig.add_heatmap(
        x=array(x), y=array(y), z=array(p), zmin=0, zmax=top, showscale=False,
        colorscale=theme.scale("probability"), zsmooth="best", hovertemplate="p = %{z:.3g}<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=rows[:, 0], y=rows[:, 1], mode="markers", name="rows",
        marker={"size": 6, "color": theme.INPUT, "line": {"width": 1, "color": "white"}},
    )  # fmt: skip
    return labelled(fig, names)


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


def sizes(rows: Sequence[Mapping[str, float]], count: int, at: int, unit: str, name: str) -> go.Figure:
    """Nats an example at each size, and BIC in the same unit; a line where the film stands."""
    lines = {
        "fitted": [row["nll"] for row in rows],
        "held out": [row["held"] for row in rows],
        "BIC / 2N": [row["bic"] / (2 * count) for row in rows],
    }
    k = np.arange(1, len(rows) + 1)
    colors = dict(zip(lines, (theme.HIDDEN, theme.OUTPUT, theme.INPUT), strict=True))
    fig = curves(lines, k, mark=at, xlabel=name, ylabel=f"nats {unit}", colors=colors, markers=True)
    fig.update_xaxes(dtick=1, zeroline=False)
    fig.update_yaxes(zeroline=False)
    return fig


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
