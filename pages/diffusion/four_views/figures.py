"""Four arrows in the plane or five pictures, and two curves over t."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, click_plane, image

COLORS = {"ε̂": theme.HIDDEN, "x̂₀": theme.INPUT, "v̂": theme.OUTPUT, "score": theme.ATTENTION}
TICKS = [-2, -1, 0, 1, 2]
HEAD = 0.14  # of an arrow at most, in the model's units


def strokes(foot: np.ndarray, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An arrow from a foot (2,) to tips (F, 2) as one line: x and y, (F, 5)."""
    back = foot - tips
    size = np.linalg.norm(back, axis=1, keepdims=True)
    back = back / np.maximum(size, 1e-12) * np.minimum(HEAD, 0.5 * size)
    side = 0.6 * np.stack([-back[:, 1], back[:, 0]], 1)
    feet = np.broadcast_to(foot, tips.shape)
    path = np.stack([feet, tips, tips + back + side, tips + back - side, tips], 1)
    return path[..., 0].astype(np.float32), path[..., 1].astype(np.float32)


def arrows(
    density: Any, place: Any, told: Mapping[str, Any], reach: float, at: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Predictions (F, 2) as arrows on the density (F, R, R): x̂₀ from the middle, the others from the place
    (2,) of x_t, each at its own length; and what moves. A click is a place."""
    z, foot = array(density), array(place)
    traces = [planar.field(z[at], reach, edges=True, zmin=0, zmax=1.3, showscale=False)]
    moves: dict[str, Any] = {"data.0.z": z}
    for name, found in told.items():
        vector = array(found)
        start = np.zeros(2) if name == "x̂₀" else foot
        x, y = strokes(start, start + vector)
        moves[f"data.{len(traces)}.x"], moves[f"data.{len(traces)}.y"] = x, y
        traces.append({"x": x[at], "y": y[at], "mode": "lines", "name": name, "hoverinfo": "skip",
                       "line": {"width": 4, "color": COLORS[name]}})  # fmt: skip
    traces.append(planar.points(foot[None], {"size": 14, "color": theme.VERMILLION}, name="xₜ"))
    fig = go.Figure(traces)
    places = np.round(np.arange(-2.0, 2.01, 0.1), 2)
    fig.add_trace(click_plane(places, places))
    return fig.update_layout(planar.axes(reach, tickvals=TICKS)), moves


def panel(found: Any, title: str, at: int, reach: float) -> tuple[go.Figure, dict[str, Any]]:
    """Pictures (F, 8, 8), 0 in the middle of the scale; and what moves."""
    z = array(found).astype(np.float32)
    fig = image(z[at], title=title, scale="diverging", zmin=-reach, zmax=reach)
    return fig, {"data.0.z": z}


def lines(
    curves: Mapping[str, Any], times: Sequence[int], at: int, ylabel: str, span: tuple[float, float]
) -> tuple[go.Figure, dict[str, Any]]:
    """A curve (F,) of each kind over t with a point at the frame, on a logarithmic scale of the powers of ten
    in `span`."""
    t = np.asarray(times)
    fig, moves = go.Figure(), {}
    low, high = span
    for name, values in curves.items():
        y = array(values).astype(float)
        fig.add_scatter(x=t, y=y, mode="lines", name=name, line={"width": 3, "color": COLORS[name]})
    for name, values in curves.items():
        y = array(values).astype(float)
        moves[f"data.{len(fig.data)}.x"], moves[f"data.{len(fig.data)}.y"] = t[:, None], y[:, None]
        fig.add_scatter(x=t[at : at + 1], y=y[at : at + 1], mode="markers", showlegend=False,
                        hoverinfo="skip", marker={"size": 12, "color": COLORS[name]})  # fmt: skip
    powers = list(range(int(np.ceil(low)), int(np.floor(high)) + 1))
    names = {-3: "0.001", -2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100", 3: "1,000"}
    shown = [p for p in powers if p in names and (len(powers) < 5 or p % 2 == 0)]
    fig.update_xaxes(title="t", range=[-20, times[-1] + 20], tickvals=[200, 400, 600, 800])
    fig.update_yaxes(title=ylabel, type="log", range=[low, high], tickvals=[10.0**p for p in shown],
                     ticktext=[names[p] for p in shown])  # fmt: skip
    return fig, moves
