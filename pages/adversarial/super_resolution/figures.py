"""Enlarged pictures, and how error and sharpness change together."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, image
from pages.adversarial.super_resolution.lens import CUBIC, Look


def picture(x: Any, title: str) -> go.Figure:
    """One picture as ink on paper."""
    return image(x, title=title, zmin=0, zmax=1)


def trade(found: Look, at: int) -> go.Figure:
    """Sharpness over PSNR. Traces: 0 all blends, 1 bicubic, 2 the true sharpness, 3 this blend."""
    x, y = array(found.psnr), array(found.sharpness)
    p, s = found.of_cubic
    low, high = min(x.min(), p), max(x.max(), p)
    edge = 0.08 * max(high - low, 0.5)
    fig = go.Figure(
        [
            go.Scatter(x=x, y=y, mode="lines", name="blends", line={"color": theme.HIDDEN, "width": 3}),
            go.Scatter(x=[p], y=[s], mode="markers", name=CUBIC,
                       marker={"size": 13, "color": theme.INPUT, "symbol": "square"}),
            go.Scatter(x=[low - edge, high + edge], y=[1, 1], mode="lines", name="the true sharpness",
                       showlegend=False, line={"color": theme.text(), "dash": "dot", "width": 2}),
            go.Scatter(x=[x[at]], y=[y[at]], mode="markers", name="now", showlegend=False,
                       marker={"size": 15, "color": theme.OUTPUT}),
        ],
        {"xaxis": {"title": "PSNR, dB", "range": [low - edge, high + edge], "nticks": 5},
         "yaxis": {"title": "sharpness", "rangemode": "tozero", "nticks": 5}},
    )  # fmt: skip
    return fig.update_xaxes(ticklabelposition="outside right")
