"""Arrows of the score on the density, with particles; shares of the modes."""

from typing import Any

import numpy as np

from lab.figures import planar, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame

TICKS = [-4, -2, 0, 2, 4]


def strokes(feet: Any, tips: Any) -> np.ndarray:
    """Arrows from feet (N, 2) to tips (F, N, 2) as one line with gaps, (F, 6 N, 2)."""
    foot, tip = np.broadcast_to(array(feet), array(tips).shape), array(tips)
    back = foot - tip
    side = np.stack([-back[..., 1], back[..., 0]], -1)
    gap = np.full_like(tip, np.nan)
    left, right = tip + 0.4 * back + 0.25 * side, tip + 0.4 * back - 0.25 * side
    path = np.stack([foot, tip, left, right, tip, gap], 2)  # (F, N, 6, 2)
    return path.reshape(len(path), -1, 2).astype(np.float32)


def field(density: Any, feet: Any, tips: Any, cloud: Any, reach: float) -> dict[str, Any]:
    """Density (F, R, R), arrows and particles (F, N, 2)."""
    arrows = per_frame(strokes(feet, tips))
    particles = per_frame(array(cloud).astype(np.float32))
    return {
        "data": [
            planar.field(per_frame(density), reach, edges=True, zmin=0, zmax=1.3, showscale=False),
            planar.path(arrows, {"color": theme.text(), "width": 1.5}),
            planar.points(particles, {"size": 5, "color": theme.OUTPUT}),
        ],
        "layout": planar.axes(reach, tickvals=TICKS) | {"showlegend": False},
    }


def shares(result: Any, weights: Any) -> dict[str, Any]:
    """Share of the particles nearest to each mode (F, K), and the modes' own weights (K,)."""
    s, w = array(result), array(weights)
    names = [str(k + 1) for k in range(len(w))]
    bars = {"weights": (w, theme.HIDDEN), "particles": (per_frame(s), theme.OUTPUT)}
    data = [
        {"type": "bar", "x": names, "y": y, "name": name, "marker": {"color": color}, "hoverinfo": "skip"}
        for name, (y, color) in bars.items()
    ]
    top = min(1.0, 1.1 * max(float(w.max()), float(s.max())))
    axes = {
        "xaxis": {"title": "mode", "type": "category"},
        "yaxis": {"title": "share", "range": [0, top], "nticks": 5},
    }
    return {"data": data, "layout": axes}
