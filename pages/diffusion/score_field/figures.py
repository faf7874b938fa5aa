"""Arrows of the score on the density, with particles; shares of the modes."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array

TICKS = [-4, -2, 0, 2, 4]


def strokes(feet: Any, tips: Any) -> tuple[np.ndarray, np.ndarray]:
    """Arrows from feet (N, 2) to tips (F, N, 2) as one line with gaps: x and y, (F, 6 N)."""
    foot, tip = np.broadcast_to(array(feet), array(tips).shape), array(tips)
    back = foot - tip
    side = np.stack([-back[..., 1], back[..., 0]], -1)
    gap = np.full_like(tip, np.nan)
    left, right = tip + 0.4 * back + 0.25 * side, tip + 0.4 * back - 0.25 * side
    path = np.stack([foot, tip, left, right, tip, gap], 2)  # (F, N, 6, 2)
    flat = path.reshape(len(path), -1, 2).astype(np.float32)
    return flat[..., 0], flat[..., 1]


def field(
    density: Any, feet: Any, tips: Any, cloud: Any, reach: float, at: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Density (F, R, R), arrows and particles (F, N, 2) at a frame; and what moves."""
    z, p = array(density), array(cloud).astype(np.float32)
    x, y = strokes(feet, tips)
    traces = [
        planar.field(z[at], reach, edges=True, zmin=0, zmax=1.3, showscale=False),
        {"x": x[at], "y": y[at], "mode": "lines", "hoverinfo": "skip",
         "line": {"color": theme.text(), "width": 1.5}},
        planar.points(p[at], {"size": 5, "color": theme.OUTPUT}),
    ]  # fmt: skip
    fig = go.Figure(traces, planar.axes(reach, tickvals=TICKS) | {"showlegend": False})
    return fig, {
        "data.0.z": z, "data.1.x": x, "data.1.y": y, "data.2.x": p[..., 0], "data.2.y": p[..., 1],
    }  # fmt: skip


def shares(found: Any, weights: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Share of the particles nearest to each mode (F, K), and the modes' own weights (K,)."""
    s, w = array(found), array(weights)
    names = [str(k + 1) for k in range(len(w))]
    fig = go.Figure(
        [
            go.Bar(x=names, y=w, name="weights", marker={"color": theme.HIDDEN}, hoverinfo="skip"),
            go.Bar(x=names, y=s[at], name="particles", marker={"color": theme.OUTPUT}, hoverinfo="skip"),
        ]
    )
    top = min(1.0, 1.1 * max(float(w.max()), float(s.max())))
    fig.update_xaxes(title="mode", type="category")
    fig.update_yaxes(title="share", range=[0, top], nticks=5)
    return fig, {"data.1.y": s}
