"""A cloud among the means of its data, and a number of both sets of weights along a training."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule

COLORS = (theme.HIDDEN, theme.OUTPUT)


def plane(cloud: Any, means: Any, reach: float, title: str, side: int) -> go.Figure:
    """Points (N, 2), trace 1, over the means (K, 2)."""
    p, c = array(cloud), array(means)
    fig = go.Figure(
        [
            go.Scatter(x=c[:, 0], y=c[:, 1], mode="markers", hoverinfo="skip",
                       marker={"size": 14, "color": theme.INPUT, "symbol": "cross-thin",
                               "line": {"color": theme.INPUT, "width": 3}}),
            go.Scatter(x=p[:, 0], y=p[:, 1], mode="markers", hoverinfo="skip",
                       marker={"size": 4, "color": COLORS[side]}),
        ],
        {"showlegend": False, "title": title},
    )  # fmt: skip
    fig.update_xaxes(range=[-reach, reach], constrain="domain", tickvals=[-1, 0, 1], zeroline=False)
    return fig.update_yaxes(range=[-reach, reach], constrain="domain", tickvals=[-1, 0, 1], zeroline=False,
                            scaleanchor="x")  # fmt: skip


def along(
    steps: Sequence[int], pairs: Sequence[tuple[float, float]], names: tuple[str, str], at: int, ylabel: str
) -> go.Figure:
    """Both numbers over the steps on a log axis; shape 0 stands at the look."""
    fig = go.Figure()
    for side, (name, values) in enumerate(zip(names, zip(*pairs, strict=True), strict=True)):
        fig.add_trace(go.Scatter(x=list(steps), y=list(values), name=name, mode="lines",
                                 line={"width": 3, "color": COLORS[side]}))  # fmt: skip
    rule(fig, x=steps[at], line={"color": theme.VERMILLION, "width": 2})
    fig.update_xaxes(title="step", nticks=4)
    ticks = [first * 10.0**power for power in range(-4, 4) for first in (1, 3)]
    return fig.update_yaxes(title=ylabel, type="log", tickvals=ticks, ticktext=[f"{v:g}" for v in ticks])
