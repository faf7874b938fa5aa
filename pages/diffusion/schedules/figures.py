"""Curves of two schedules over t/T, with a point that moves along the chosen one."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array


def pair(own: Any, other: Any, names: tuple[str, str], at: tuple[float, float], ylabel: str) -> go.Figure:
    """The chosen curve and the other one, (N,) each over (0, 1], and the point (trace 2)."""
    fig = go.Figure()
    for values, name, color in ((other, names[1], theme.HIDDEN), (own, names[0], theme.OUTPUT)):
        y = array(values)
        x = (np.arange(len(y)) + 1) / len(y)
        fig.add_trace(go.Scatter(x=x, y=y, name=name, mode="lines", line={"width": 3, "color": color}))
    fig.add_trace(go.Scatter(x=[at[0]], y=[at[1]], mode="markers", showlegend=False, hoverinfo="skip",
                             marker={"size": 15, "color": theme.VERMILLION}))  # fmt: skip
    fig.update_xaxes(title="t / T", range=[0, 1.02])
    both = np.concatenate([array(own), array(other)])
    low, high = (float(end) for end in (both[np.isfinite(both)].min(), both[np.isfinite(both)].max()))
    edge = 0.06 * (high - low)  # a range that is given lets the film move its point alone
    fig.update_yaxes(title=ylabel, range=[low - edge, high + edge])
    return fig
