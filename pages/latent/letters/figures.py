"""Emissions of each state, letter by letter, and how the likelihood rises from one start or from several."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule

COLORS = (theme.VERMILLION, theme.INPUT, theme.GREEN, theme.ATTENTION)


def emissions(values: Any, symbols: Sequence[str], top: float) -> go.Figure:
    """Bars of p(letter | state), (K, V): the first state's up, those of the others down, a colour a state."""
    fig = go.Figure()
    for k, heights in enumerate(signed(values)):
        fig.add_trace(go.Bar(x=list(range(len(symbols))), y=heights, name=f"state {k + 1}",
                             marker={"color": COLORS[k]}, hoverinfo="skip"))  # fmt: skip
    low = top if len(array(values)) > 1 else 0
    fig.update_xaxes(tickvals=list(range(len(symbols))), ticktext=list(symbols), tickangle=0, showgrid=False)
    fig.update_yaxes(range=[-low, top], nticks=6, tickformat=".2~f")
    return fig.update_layout(barmode="overlay" if low and len(array(values)) == 2 else "group", bargap=0.15)


def signed(values: Any) -> np.ndarray:
    """(..., K, V), all but the first state negative."""
    v = array(values).copy()
    v[..., 1:, :] *= -1
    return v


def rates(lines: Sequence[Any], best: int, floor: float, mark: int | None = None) -> go.Figure:
    """Nats per letter by step, a line a start, the best one thick; what the frequencies alone give, dotted;
    shape 0 stands at step `mark`."""
    fig = go.Figure()
    for i, line in enumerate(lines):
        color, width = (theme.OUTPUT, 5) if i == best else (theme.HIDDEN, 2)
        fig.add_trace(go.Scatter(y=array(line), x=list(range(len(line))), mode="lines", showlegend=False,
                                 line={"color": color, "width": width}, hoverinfo="skip"))  # fmt: skip
    if mark is not None:
        rule(fig, x=mark, line={"color": theme.text(), "width": 2, "dash": "dot"})
    rule(fig, y=floor, line={"color": theme.VERMILLION, "width": 2, "dash": "dot"})
    fig.update_xaxes(title="steps of EM")
    fig.update_yaxes(nticks=6)
    return fig.update_layout(title="nats per letter")
