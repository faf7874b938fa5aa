"""Orders drawn: what each costs, the mean and the mixture of all, and an order itself."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap

WRITTEN = 9  # up to so many pixels a side, each has room for its number


def strip(each: Any, lines: Mapping[str, float], at: int) -> tuple[go.Figure, Mapping[str, Any]]:
    """One point an order, (S,) nats, a ring around one of them; levels to compare with, by name; and the
    frames that move the ring."""
    values = array(each).astype(float)
    numbers = np.arange(1, len(values) + 1)
    fig = go.Figure(
        go.Scatter(
            x=numbers, y=values, mode="markers", showlegend=False,
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
    fig.add_scatter(
        x=[numbers[at]], y=[values[at]], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 22, "color": theme.VERMILLION, "line": {"width": 4}},
    )  # fmt: skip
    low, high = min([*values, *lines.values()]), max([*values, *lines.values()])
    room = 0.08 * (high - low) or 0.5
    fig.update_xaxes(title="order", range=[0.2, len(values) + 0.8], zeroline=False)
    fig.update_yaxes(title="−log p, nats", range=[low - room, high + room])
    fig.update_layout(showlegend=True)
    ring = len(fig.data) - 1
    return fig, {f"data.{ring}.x": numbers[:, None], f"data.{ring}.y": values[:, None]}


def visits(ranks: Any, title: str = "") -> go.Figure:
    """Time at which each pixel is visited, (side, side) from 1, NaN where it is not; late ones dark."""
    rank = array(ranks).astype(float)
    fig = heatmap(
        rank, zmin=0, zmax=1.5 * float(np.nanmax(rank, initial=1)), title=title, square=True, colorbar=False,
        numbers=".0f" if len(rank) <= WRITTEN else False,
    )  # fmt: skip
    fig.update_traces(hoverinfo="skip", hovertext=None, textfont={"size": theme.FONT_SIZE - 2})
    fig.update_xaxes(visible=False)
    return fig.update_yaxes(visible=False)
