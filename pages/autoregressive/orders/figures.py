"""Orders and ensembles drawn: the cost of every order, their mean, and the mixture below it."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array


def strip(each: Any, lines: Mapping[str, float], title: str = "", height: int = 420) -> go.Figure:
    """One point an order, (S,) nats; and levels to compare with, by name."""
    values = array(each)
    fig = go.Figure(
        go.Scatter(
            x=list(range(1, len(values) + 1)), y=values, mode="markers", name="one order",
            marker={"size": 12, "color": theme.INPUT},
            hovertext=[f"order {s}: {v:.4g} nats" for s, v in enumerate(values, start=1)], hoverinfo="text",
        )
    )  # fmt: skip
    for (name, value), color in zip(lines.items(), (theme.HIDDEN, theme.OUTPUT, theme.GREEN), strict=False):
        fig.add_trace(
            go.Scatter(
                x=[0.5, len(values) + 0.5], y=[value, value], mode="lines", name=f"{name} {value:.2f}",
                line={"width": 4, "color": color}, hoverinfo="name",
            )
        )  # fmt: skip
    fig.update_xaxes(title="order", range=[0.4, len(values) + 0.6], zeroline=False)
    fig.update_yaxes(title="−log p, nats")
    fig.update_layout(title=title, height=height, showlegend=True)
    return fig
