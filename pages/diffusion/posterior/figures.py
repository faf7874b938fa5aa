"""Three bells over x_{t−1}."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import per_frame

COLORS = (theme.INPUT, theme.HIDDEN, theme.OUTPUT)


def bells(x: Any, densities: Any, marks: tuple[float, float]) -> dict[str, Any]:
    """Prior, likelihood, posterior (3, F, P), with x_0 and x_t below the line of 0."""
    data: list[dict[str, Any]] = []
    for y, name, color in zip(densities, ("from x₀", "from xₜ", "from both"), COLORS, strict=True):
        line = {"width": 4 if name == "from both" else 3, "color": color}
        data.append({"x": array(x), "y": per_frame(y), "name": name, "mode": "lines", "line": line})
    tops = np.nanmax(array(densities), axis=(0, 2))  # at each frame
    foot, sides = -0.06 * tops[:, None], ("right", "left") if marks[0] >= marks[1] else ("left", "right")
    for place, name, color, side in zip(marks, ("x₀", "xₜ"), COLORS, sides, strict=False):
        marker = {"size": 14, "symbol": "triangle-up", "color": color}
        named = {"mode": "markers+text", "text": [name], "textposition": f"middle {side}"}
        data.append({"x": [place], "y": per_frame(foot), "marker": marker, "showlegend": False, **named})
    axes = {
        "xaxis": {"title": "x at t − 1", "range": [-3, 3], "tickvals": [-2, -1, 0, 1, 2]},
        "yaxis": {"title": "density", "range": per_frame(np.stack([-0.12 * tops, 1.06 * tops], 1))},
    }
    return {"data": data, "layout": axes | {"meta": theme.NAMED_APART}}
