"""Surprisal at a true text and at the model's own, and the gap between them."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, rule


def surprisal(true: Any, own: Any, length: int) -> go.Figure:
    """Mean surprisal (T,) of the judge at the t-th token after true ones and after the model's own."""
    lines = {"after true tokens": array(true), "after its own": array(own)}
    colors = {"after true tokens": theme.BLUE, "after its own": theme.ORANGE}
    fig = curves(lines, range(1, len(array(true)) + 1), ylabel="surprisal (nats)", colors=colors)
    fig.update_xaxes(range=[0.5, length + 0.5])
    return fig


def gap(values: Any, error: Any, length: int) -> go.Figure:
    """own − true (T,) with a band of two standard errors (T,) about it."""
    v, e = array(values), array(error)
    t = list(range(1, len(v) + 1))
    fig = go.Figure()
    fig.add_scatter(
        x=[*t, *reversed(t)], y=[*(v + 2 * e), *reversed(v - 2 * e)], fill="toself", mode="lines",
        line={"width": 0}, fillcolor=theme.fade(theme.VERMILLION, 0.25), name="± 2 standard errors",
        hoverinfo="skip",
    )  # fmt: skip
    fig.add_scatter(x=t, y=v, mode="lines", line={"width": 3, "color": theme.VERMILLION}, name="own − true")
    rule(fig, y=0, line={"color": theme.text(), "width": 1.5, "dash": "dot"})
    fig.update_xaxes(title="tokens since the true beginning", range=[0.5, length + 0.5])
    fig.update_yaxes(title="gap (nats)", nticks=5)
    fig.update_layout(showlegend=True)
    return fig
