"""Four arrows in the plane or five pictures, and two curves over t."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.figures import planar, theme
from lab.figures.basic import array, click_plane, image
from lab.figures.moving import per_frame, turning

COLORS = {"ε̂": theme.HIDDEN, "x̂₀": theme.INPUT, "v̂": theme.OUTPUT, "score": theme.ATTENTION}
TICKS = [-2, -1, 0, 1, 2]
HEAD = 0.14  # of an arrow at most, in the model's units


def strokes(foot: np.ndarray, tips: np.ndarray) -> np.ndarray:
    """An arrow from a foot (2,) to tips (F, 2) as one line, (F, 5, 2)."""
    back = foot - tips
    size = np.linalg.norm(back, axis=1, keepdims=True)
    back = back / np.maximum(size, 1e-12) * np.minimum(HEAD, 0.5 * size)
    side = 0.6 * np.stack([-back[:, 1], back[:, 0]], 1)
    feet = np.broadcast_to(foot, tips.shape)
    return np.stack([feet, tips, tips + back + side, tips + back - side, tips], 1).astype(np.float32)


def arrows(density: Any, place: Any, results: Mapping[str, Any], reach: float) -> dict[str, Any]:
    """Predictions (F, 2) as arrows on the density (F, R, R): x̂₀ from the middle, the others from the place
    (2,) of x_t, each at its own length. A click is a place."""
    foot = array(place)
    data = [planar.field(per_frame(density), reach, edges=True, zmin=0, zmax=1.3, showscale=False)]
    for name, result in results.items():
        start = np.zeros(2) if name == "x̂₀" else foot
        arrow = per_frame(strokes(start, start + array(result)))
        data.append(planar.path(arrow, {"width": 4, "color": COLORS[name]}, name=name))
    places = np.round(np.arange(-2.0, 2.01, 0.1), 2)
    data.append(planar.points(foot[None], {"size": 14, "color": theme.VERMILLION}, name="xₜ"))
    data.append(click_plane(places, places).to_plotly_json())
    return {"data": data, "layout": planar.axes(reach, tickvals=TICKS)}


def panel(result: Any, title: str, reach: float) -> dict[str, Any]:
    """Pictures (F, 8, 8), 0 in the middle of the scale."""
    z = array(result).astype(np.float32)
    return turning(image(z[0], title=title, scale="diverging", zmin=-reach, zmax=reach), z=z)


def lines(
    curves: Mapping[str, Any], times: Sequence[int], ylabel: str, span: tuple[float, float]
) -> dict[str, Any]:
    """A curve (F,) of each kind over t with a point at every frame, on a logarithmic scale of the powers of
    ten in `span`."""
    t = np.asarray(times)
    data: list[dict[str, Any]] = []
    for name, values in curves.items():
        line = {"width": 3, "color": COLORS[name]}
        data.append({"x": t, "y": array(values).astype(float), "mode": "lines", "name": name, "line": line})
    for curve in data[:]:
        dot = {"x": per_frame(t[:, None]), "y": per_frame(curve["y"][:, None]), "mode": "markers"}
        marker = {"size": 12, "color": COLORS[curve["name"]]}
        data.append(dot | {"showlegend": False, "hoverinfo": "skip", "marker": marker})
    low, high = span
    powers = list(range(int(np.ceil(low)), int(np.floor(high)) + 1))
    names = {-3: "0.001", -2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100", 3: "1,000"}
    shown = [p for p in powers if p in names and (len(powers) < 5 or p % 2 == 0)]
    up = {"tickvals": [10.0**p for p in shown], "ticktext": [names[p] for p in shown]}
    axes = {
        "xaxis": {"title": "t", "range": [-20, times[-1] + 20], "tickvals": [200, 400, 600, 800]},
        "yaxis": {"title": ylabel, "type": "log", "range": [low, high]} | up,
    }
    return {"data": data, "layout": axes | {"meta": theme.NAMED_ENDS}}
