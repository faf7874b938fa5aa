"""Enlarged pictures, and how error and sharpness change together."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, image
from lab.figures.moving import per_frame
from pages.adversarial.super_resolution.lens import CUBIC, Look


def picture(x: Any, title: str) -> go.Figure:
    """One picture as ink on paper."""
    return image(x, title=title, zmin=0, zmax=1)


def trade(result: Look) -> dict[str, Any]:
    """Sharpness over PSNR: all blends, bicubic, the true sharpness, and the blend of each frame."""
    x, y = array(result.psnr), array(result.sharpness)
    p, s = result.of_cubic
    low, high = min(x.min(), p), max(x.max(), p)
    edge = 0.08 * max(high - low, 0.5)
    ends, dotted = [low - edge, high + edge], {"color": theme.text(), "dash": "dot", "width": 2}
    square, dot = {"size": 13, "color": theme.INPUT, "symbol": "square"}, {"size": 15, "color": theme.OUTPUT}
    data = [
        {"x": x, "y": y, "mode": "lines+text", "name": "blends",
         "text": ["squared error", *[""] * (len(x) - 2), "adversarial"], "cliponaxis": False,
         "textposition": ["bottom left", *["top left"] * (len(x) - 1)], "showlegend": False,
         "line": {"color": theme.HIDDEN, "width": 3}},
        {"x": [p], "y": [s], "mode": "markers+text", "name": CUBIC, "marker": square, "text": [CUBIC],
         "textposition": "top right", "showlegend": False},
        {"x": ends, "y": [1, 1], "mode": "lines+text", "name": "sharpness of the target",
         "showlegend": False, "text": ["", "target"], "textposition": "top left", "cliponaxis": False,
         "line": dotted},
        {"x": per_frame(x[:, None]), "y": per_frame(y[:, None]), "mode": "markers", "name": "now",
         "showlegend": False, "marker": dot},
    ]  # fmt: skip
    across = {"title": "PSNR, dB", "range": ends, "nticks": 5, "ticklabelposition": "outside right"}
    up = {"title": "sharpness", "rangemode": "tozero", "nticks": 5}
    return {"data": data, "layout": {"xaxis": across, "yaxis": up}}
