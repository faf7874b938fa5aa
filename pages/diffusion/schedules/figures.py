"""Curves of two schedules over t/T, with a point that moves along the chosen one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import per_frame


def pair(own: Any, other: Any, names: tuple[str, str], times: Sequence[int], ylabel: str) -> dict[str, Any]:
    """The chosen curve and the other one, (T,) each over (0, 1], and the point at each of `times`."""
    data: list[dict[str, Any]] = []
    for values, name, color in ((other, names[1], theme.HIDDEN), (own, names[0], theme.OUTPUT)):
        y = array(values)
        x = (np.arange(len(y)) + 1) / len(y)
        data.append({"x": x, "y": y, "name": name, "mode": "lines", "line": {"width": 3, "color": color}})
    now = np.array(times)[:, None]
    point = {"x": per_frame(now / len(x)), "y": per_frame(y[now - 1]), "mode": "markers"}
    dot = {"size": 15, "color": theme.VERMILLION}
    data.append(point | {"showlegend": False, "hoverinfo": "skip", "marker": dot})
    both = np.concatenate([array(own), array(other)])
    low, high = (float(end) for end in (both[np.isfinite(both)].min(), both[np.isfinite(both)].max()))
    edge = 0.06 * (high - low)  # a range that is given lets the film move its point alone
    axes = {
        "xaxis": {"title": "t / T", "range": [0, 1.02]},
        "yaxis": {"title": ylabel, "range": [low - edge, high + edge]},
    }
    return {"data": data, "layout": axes | {"meta": theme.NAMED_ENDS}}
