"""Paths of chains and walks, with the band that holds most of them."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap


def paths(
    values: Any,
    spread: Any,
    chosen: Any = None,
    mean: Any = None,
    title: str = "",
    first: int = 1,
    height: int = 420,
) -> go.Figure:
    """Draws over time, within two standard deviations of the mean.

    Args:
        values: (M, T) draws, thin; chosen: (t,) the beginning of one, thick.
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
    for index, path in enumerate(x):
        fig.add_trace(
            go.Scatter(x=time, y=path, mode="lines", name="draws", legendgroup="draws",
                       showlegend=index == 0, hoverinfo="skip", line={"width": 1.5, "color": theme.HIDDEN})
        )  # fmt: skip
    if chosen is not None:
        one = array(chosen)
        fig.add_trace(
            go.Scatter(x=time[: len(one)], y=one, mode="lines+markers", name="this one",
                       line={"width": 4, "color": theme.OUTPUT}, marker={"size": 8})
        )  # fmt: skip
    fig.update_xaxes(title="step")
    fig.update_layout(title=title, height=height)
    return fig


def covariance(matrix: Any, title: str = "", height: int = 420) -> go.Figure:
    """A covariance matrix (n, n) of values numbered from 1."""
    n = len(matrix)
    places = list(range(1, n + 1))
    fig = heatmap(
        matrix, places, places, title, "diverging", square=True, height=height, xlabel="u", ylabel="t"
    )
    shown = places[:: max(1, -(-n // 8))]  # numbers that would collide are left out
    for axis in (fig.update_xaxes, fig.update_yaxes):
        axis(tickvals=[place - 1 for place in shown], ticktext=[str(place) for place in shown])
    return fig
