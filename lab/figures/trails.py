"""Paths that grow from frame to frame."""

from typing import Any

import numpy as np

from lab.figures import planar, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame


def trails(paths: Any) -> tuple[np.ndarray, np.ndarray]:
    """Paths (F, N, 2) up to every frame, with gaps: x and y, (F, N (F + 1))."""
    p = array(paths).transpose(1, 0, 2)  # (N, F, 2)
    frames = p.shape[1]
    drawn = np.arange(frames) <= np.arange(frames)[:, None]  # (F now, F)
    shown = np.where(drawn[:, None, :, None], p[None], np.nan)
    shown = np.pad(shown, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    flat = shown.reshape(frames, -1, 2)
    return flat[..., 0], flat[..., 1]


def walking(points: Any, shown: int) -> list[dict[str, Any]]:
    """Points (F, N, 2) at every frame, on the paths of the first `shown`: two traces."""
    p = array(points)
    x, y = trails(p[:, :shown])
    line, dots = {"color": theme.fade(theme.HIDDEN, 0.8), "width": 1.5}, {"size": 4, "color": theme.OUTPUT}
    paths = {"x": per_frame(x), "y": per_frame(y), "mode": "lines", "hoverinfo": "skip", "line": line}
    cloud = {"x": per_frame(p[..., 0]), "y": per_frame(p[..., 1]), "mode": "markers", "hoverinfo": "skip"}
    return [paths, cloud | {"marker": dots}]


def clouds(cloud: Any, shown: int, modes: Any, radius: float, reach: float) -> dict[str, Any]:
    """Points (F, N, 2), the paths of the first `shown`, circles around the modes."""
    line = {"color": theme.INPUT, "width": 2}
    circles = [
        {
            "type": "circle",
            "x0": a - radius,
            "x1": a + radius,
            "y0": b - radius,
            "y1": b + radius,
            "line": line,
        }
        for a, b in array(modes).tolist()
    ]
    axis = {"range": [-reach, reach], "constrain": "domain", "tickvals": [-3, 0, 3], "zeroline": False}
    layout = {"xaxis": axis, "yaxis": axis | {"scaleanchor": "x"}, "shapes": circles, "showlegend": False}
    return {"data": walking(cloud, shown), "layout": layout}
