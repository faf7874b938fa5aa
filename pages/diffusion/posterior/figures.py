"""Three bells over x_{t−1}."""

from typing import Any

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import per_frame

COLORS = (theme.INPUT, theme.HIDDEN, theme.OUTPUT)


def bells(x: Any, densities: Any, marks: tuple[float, float]) -> dict[str, Any]:
    """Prior, likelihood, posterior (3, F, P), with x_0 and x_t below."""
    data: list[dict[str, Any]] = []
    for y, name, color in zip(densities, ("from x₀", "from xₜ", "from both"), COLORS, strict=True):
        line = {"width": 4 if name == "from both" else 3, "color": color}
        data.append({"x": array(x), "y": per_frame(y), "name": name, "mode": "lines", "line": line})
    for place, name, color in zip(marks, ("x₀", "xₜ"), COLORS, strict=False):
        marker = {"size": 14, "symbol": "triangle-up", "color": color}
        data.append({"x": [place], "y": [0], "mode": "markers", "name": name, "marker": marker})
    axes = {
        "xaxis": {"title": "x at t − 1", "range": [-3, 3], "tickvals": [-2, -1, 0, 1, 2]},
        "yaxis": {"title": "density", "rangemode": "tozero"},
    }
    return {"data": data, "layout": axes}
