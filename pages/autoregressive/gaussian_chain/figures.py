"""Paths of chains and walks that grow step by step, with the band that holds most of them; covariances."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap


def in_one(values: Any) -> np.ndarray:
    """Lines (M, T) as one, (M (T + 1),), with a gap after each."""
    x = array(values).astype(float)
    return np.pad(x, ((0, 0), (0, 1)), constant_values=np.nan).ravel()


def prefixes(values: Any, first: int = 1) -> np.ndarray:
    """The beginnings of lines (M, T) that have `first`, `first` + 1, …, T values, the rest NaN: each in one,
    (frames, M (T + 1))."""
    x = array(values).astype(float)
    known = np.arange(x.shape[1]) < np.arange(first, x.shape[1] + 1)[:, None]  # (frames, T)
    return np.stack([in_one(np.where(row, x, np.nan)) for row in known])


def paths(
    values: Any, spread: Any, chosen: Any = None, mean: Any = None, title: str = "", first: int = 1
) -> go.Figure:
    """Draws over time, within two standard deviations of the mean.

    Traces: 0 the band, 1 all draws, and with `chosen` 2 that one and 3 the place that its last value was
    drawn around (x and y are set by a film).

    Args:
        values: (M, T) draws, thin; chosen: (T,) one, thick.
        spread: (T,) standard deviation of each value by the distribution; mean: (T,), 0 if None.
        first: number of the first value.
    """
    x, sd = array(values), array(spread)
    middle = array(mean) if mean is not None else 0 * sd
    time = [first + t for t in range(x.shape[1])]
    fig = go.Figure(
        go.Scatter(
            x=time + time[::-1], y=[*(middle + 2 * sd), *(middle - 2 * sd)[::-1]], fill="toself",
            mode="lines", line={"width": 0}, fillcolor=theme.fade(theme.INPUT, 0.15), name="± 2 σ",
            hoverinfo="skip",
        )
    )  # fmt: skip
    fig.add_trace(
        go.Scatter(x=[*time, None] * len(x), y=in_one(x), mode="lines", name="draws", hoverinfo="skip",
                   line={"width": 1.5, "color": theme.HIDDEN})
    )  # fmt: skip
    if chosen is not None:
        fig.add_trace(
            go.Scatter(x=time, y=array(chosen), mode="lines+markers", name="this one",
                       line={"width": 4, "color": theme.OUTPUT}, marker={"size": 8})
        )  # fmt: skip
        fig.add_trace(
            go.Scatter(x=time[:1], y=[0.0], mode="markers", name="drawn around", hoverinfo="skip",
                       marker={"size": 15, "color": theme.VERMILLION, "symbol": "circle-open",
                               "line": {"width": 3}})
        )  # fmt: skip
    fig.update_xaxes(title="step", zeroline=False)
    return fig.update_layout(title=title)


def growth(x: Any, means: Any) -> dict[str, Any]:
    """Moving parts of `paths` while one (T,) grows value by value, each drawn around its mean (T,)."""
    count = len(x)
    return {
        "data.2.y": prefixes(array(x)[None])[:, :-1],
        "data.3.x": np.arange(1, count + 1)[:, None],
        "data.3.y": array(means)[:, None],
    }


def rows(count: int) -> dict[str, list[float]]:
    """Moving parts of `covariance` while its frame goes from row to row."""
    return {f"layout.shapes.0.y{end}": [r - 0.5 + end for r in range(count)] for end in (0, 1)}


def widening(steps: Sequence[int]) -> dict[str, list[float]]:
    """The axes of walks that have come so far."""
    reach = [2.4 * t**0.5 + 0.6 for t in steps]
    return {
        "layout.xaxis.range.0": [0.0] * len(steps), "layout.xaxis.range.1": [float(t) for t in steps],
        "layout.yaxis.range.0": [-r for r in reach], "layout.yaxis.range.1": reach,
    }  # fmt: skip


def reached(steps: Sequence[int]) -> dict[str, list[float]]:
    """The axis of the places that walks can have reached."""
    return {f"layout.xaxis.range.{end}": [side * (t + 1.5) for t in steps] for end, side in ((0, -1), (1, 1))}


def covariance(matrix: Any, row: int, title: str = "") -> go.Figure:
    """A covariance matrix (n, n) of values numbered from 1; shape 0 of the layout frames a row."""
    n = len(matrix)
    places = list(range(1, n + 1))
    fig = heatmap(
        matrix, places, places, title, "diverging", square=True, colorbar=False, xlabel="u", ylabel="t"
    )
    shown = places[:: max(1, -(-n // 6))]  # numbers that would collide are left out
    for axis in (fig.update_xaxes, fig.update_yaxes):
        axis(tickvals=[place - 1 for place in shown], ticktext=[str(place) for place in shown])
    fig.add_shape(
        type="rect", x0=-0.5, x1=n - 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": theme.VERMILLION, "width": 3},
    )  # fmt: skip
    return fig


def places(at: Any, exact: Any, drawn: Any) -> go.Figure:
    """Probabilities of where a walk is, exact (trace 0), and shares of the draws (trace 1), at whole
    numbers."""
    fig = go.Figure()
    for name, heights, color in (("exact", exact, theme.HIDDEN), ("drawn", drawn, theme.OUTPUT)):
        fig.add_trace(go.Bar(x=array(at), y=array(heights), name=name, marker={"color": color}, width=0.8,
                             offset=-0.8 if name == "exact" else 0.0))  # fmt: skip
    fig.update_xaxes(title="place", nticks=8)
    fig.update_yaxes(title="probability", nticks=6)
    return fig


def turned(fig: go.Figure, edges: Mapping[str, Sequence[float]], at: int) -> go.Figure:
    """The figure with the ranges of its axes as they are at frame `at`: "layout.xaxis.range.1" -> values."""
    for name in {path.split(".")[1] for path in edges}:
        fig.layout[name].range = [edges[f"layout.{name}.range.{end}"][at] for end in (0, 1)]
    return fig
