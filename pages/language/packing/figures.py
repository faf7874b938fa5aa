"""Cosines of directions drawn: a histogram with its exact distribution, and the bound."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule


def histogram(edges: Any, counts: Any, expected: Any, epsilon: float) -> go.Figure:
    """Counts (K,) of cosines between edges (K + 1,), their expectation, and lines at ±ε."""
    e = array(edges)
    centres, width = (e[1:] + e[:-1]) / 2, float(e[1] - e[0])
    outside = [abs(c) > epsilon for c in centres]
    colors = [theme.VERMILLION if o else theme.INPUT for o in outside]
    fig = go.Figure()
    fig.add_bar(
        x=centres, y=array(counts), width=width, name="pairs counted",
        marker={"color": colors, "line_width": 0},
    )  # fmt: skip
    fig.add_scatter(
        x=centres, y=array(expected), name="exact distribution", mode="lines",
        line={"color": theme.text(), "width": 3},
    )  # fmt: skip
    for bound in (-epsilon, epsilon):
        rule(fig, x=bound, line={"color": theme.VERMILLION, "width": 3, "dash": "dash"})
    fig.update_xaxes(title="cosine of two directions")
    fig.update_yaxes(title="pairs")
    fig.update_layout(height=420, bargap=0)
    return fig
