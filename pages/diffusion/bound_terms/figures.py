"""Bits of every step and their sum, on logarithmic time; the noised picture and the guess."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, image

BESIDE = (("dash", theme.BLUE), ("dot", theme.HIDDEN), ("dashdot", theme.PURPLE))  # looks of other curves


def over_time(
    values: Any,
    times: Any,
    at: int,
    ylabel: str,
    log: bool,
    name: str = "",
    others: Mapping[str, Any] | None = None,
) -> tuple[go.Figure, dict[str, Any]]:
    """A curve (T,) over t = 1 … T on a logarithmic axis, with a point at the frame's t (trace 1).

    Args:
        name: of the curve, where `others`, (T,) each, are drawn beside it by their names.
    """
    y, shown = array(values).astype(float), np.asarray(times)
    x = np.arange(1, len(y) + 1)
    place = y[shown - 1]
    fig = go.Figure(
        [
            go.Scatter(x=x, y=y, mode="lines", name=name, line={"width": 3.5, "color": theme.OUTPUT},
                       zorder=1),
            go.Scatter(x=shown[at : at + 1], y=place[at : at + 1], mode="markers", hoverinfo="skip", zorder=2,
                       marker={"size": 15, "color": theme.VERMILLION}, showlegend=False),
        ]
    )  # fmt: skip
    for (label, other), (dash, color) in zip((others or {}).items(), BESIDE, strict=False):
        fig.add_scatter(x=x, y=array(other), mode="lines", name=label, hoverinfo="skip",
                        line={"width": 2.5, "color": color, "dash": dash})  # fmt: skip
    ticks = [v for v in (1, 10, 100, 1000) if v <= len(y)]
    fig.update_xaxes(title="t", type="log", tickvals=ticks, range=[-0.05, float(np.log10(len(y))) + 0.05])
    fig.update_yaxes(
        title=ylabel, type="log" if log else None, exponentformat="power", nticks=3 if log else 5
    )
    if not log:
        fig.update_yaxes(rangemode="tozero")
    if others:  # the curves end high on the right: below them there is room for their names
        place_of = {"orientation": "v", "x": 1, "xanchor": "right", "y": 0.02, "yanchor": "bottom"}
        fig.update_layout(legend=place_of, margin={"t": 12})
    moves = {"data.1.x": shown[:, None], "data.1.y": place[:, None]}
    return fig.update_layout(showlegend=bool(others)), moves


def two(noisy: Any, clean: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """x_t above x̂_0, (F, 8, 8) each, as one picture a frame."""
    n, c = array(noisy), array(clean)
    gap = np.full((len(n), 1, n.shape[2]), np.nan, n.dtype)
    both = np.concatenate([n, gap, c], 1)
    fig = image(both[at], zmin=0, zmax=1)
    return fig.update_layout(margin={"t": 8}), {"data.0.z": both}
