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
    """Points (F, N, 2) of a film on the paths of the first `shown`: two traces."""
    x, y = trails(points[:, :shown])
    paths = planar.path(
        per_frame(np.stack([x, y], -1)), {"color": theme.fade(theme.HIDDEN, 0.8), "width": 1.5}
    )
    return [paths, planar.points(per_frame(points), {"size": 4, "color": theme.OUTPUT})]


def clouds(cloud: Any, shown: int, modes: Any, radius: float, reach: float) -> dict[str, Any]:
    """Points (F, N, 2) of a film, the paths of the first `shown`, circles around the modes."""
    circles = []
    for a, b in array(modes).tolist():
        box = {"x0": a - radius, "x1": a + radius, "y0": b - radius, "y1": b + radius}
        circles.append({"type": "circle", **box, "line": {"color": theme.INPUT, "width": 2}})
    layout = planar.axes(reach, tickvals=[-3, 0, 3]) | {"shapes": circles, "showlegend": False}
    return {"data": walking(cloud, shown), "layout": layout}
