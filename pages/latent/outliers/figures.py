"""Histograms of a score, with a threshold and the reader's picture."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule

COLORS = (theme.INPUT, theme.VERMILLION)


def gauge(
    shares: Mapping[str, Any], low: float, high: float, threshold: float, own: float, xlabel: str
) -> go.Figure:
    """One histogram a set, the threshold (the only shape), and the reader's score below.

    Args:
        shares: set -> (BINS,), bins from `low` to `high`; the first are the digits.
    """
    fig = go.Figure()
    for (name, values), color in zip(shares.items(), COLORS, strict=True):
        v = array(values)
        edges = np.linspace(low, high, len(v) + 1)
        fig.add_scatter(x=(edges[1:] + edges[:-1]) / 2, y=v, mode="lines", name=name, fill="tozeroy",
                        line={"color": color, "width": 3, "shape": "hvh"},
                        fillcolor=theme.fade(color, 0.2), hoverinfo="skip")  # fmt: skip
    fig.add_scatter(x=[own], y=[0], mode="markers", name="yours", cliponaxis=False, hoverinfo="skip",
                    marker={"size": 20, "color": theme.OUTPUT, "symbol": "triangle-up",
                            "line": {"width": 2, "color": theme.text()}})  # fmt: skip
    rule(fig, x=threshold, line={"color": theme.text(), "width": 3, "dash": "dot"})
    fig.update_xaxes(title=xlabel, range=[low, high])
    fig.update_yaxes(title="share", rangemode="tozero")
    return fig.update_layout(showlegend=True)
