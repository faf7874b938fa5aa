"""Keys and a query as arrows, values with what is mixed of them, and the weights as bars."""

from typing import Any

import numpy as np

from lab.figures import planar, theme
from lab.figures.basic import bars, click_plane
from lab.figures.moving import Tree, per_frame, turning
from pages.transformer.lookup.lens import REACH, Mix, Table, hull
from pages.transformer.lookup.room import LINEAR

STEP = 0.05  # between places that a click can give to the query


def colors(n: int) -> list[str]:
    """One for each key, and for its value."""
    return [theme.CATEGORIES[i] for i in range(n)]


def arrow(tip: Any, color: str, width: float, size: float) -> dict[str, Any]:
    """From the origin to a place (2,), or to (F, 2) of a film."""
    x, y = (per_frame([[0.0, float(v)] for v in column]) if np.ndim(column) else [0.0, float(column)]
            for column in np.moveaxis(np.asarray(tip), -1, 0))  # fmt: skip
    return {
        "type": "scatter", "x": x, "y": y, "mode": "lines+markers", "hoverinfo": "skip",
        "line": {"width": width, "color": color},
        "marker": {"size": [0, size], "symbol": "arrow", "angleref": "previous", "color": color,
                   "opacity": 1.0},
    }  # fmt: skip


def named(places: np.ndarray, name: str, out: float = 0.17) -> dict[str, Any]:
    """k₁ … so far from their places, away from the origin."""
    texts = [f"{name}<sub>{i + 1}</sub>" for i in range(len(places))]
    norms = np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 1e-9)
    at = places + out * places / norms
    return {
        "type": "scatter", "x": at[:, 0], "y": at[:, 1], "mode": "text", "text": texts, "hoverinfo": "skip",
        "textfont": {"size": theme.FONT_SIZE + 1, "color": theme.text()},
    }  # fmt: skip


def keys(one: Mix, clickable: bool) -> Tree:
    """Arrows of keys and of the query."""
    data = [arrow(key, color, 4, 15) for key, color in zip(one.keys, colors(len(one.keys)), strict=True)]
    data.append(arrow(one.queries, theme.text(), 6, 20))
    data.append(named(one.keys, "k"))
    tips = one.queries * (1 + 0.17 / np.maximum(np.linalg.norm(one.queries, axis=1, keepdims=True), 0.05))
    data.append({
        "type": "scatter", "x": per_frame(tips[:, :1]), "y": per_frame(tips[:, 1:]), "mode": "text",
        "text": ["q"], "hoverinfo": "skip", "textfont": {"size": theme.FONT_SIZE + 4, "color": theme.text()},
    })  # fmt: skip
    if clickable:
        places = [round(-1.5 + STEP * i, 2) for i in range(61)]
        data.append(click_plane(places, places).to_plotly_json())
    return {"data": data, "layout": layout("keys and query" + (": click to move q" if clickable else ""))}


def values(one: Mix) -> Tree:
    """Values, the polygon that they span, and the mixture."""
    reach = max(1.7, 1.1 * float(np.abs(one.y).max()))
    color = colors(len(one.values))
    looks = {"size": 16, "color": color}
    mixture = {"size": 20, "color": theme.OUTPUT, "symbol": "diamond",
               "line": {"width": 2, "color": theme.text()}}  # fmt: skip
    data = [
        planar.path(hull(one.values), {"width": 2, "color": theme.HIDDEN}, fill="toself",
                    fillcolor=theme.fade(theme.HIDDEN, 0.12)),
        planar.path(one.y, {"width": 1.5, "color": theme.OUTPUT}),
        planar.points(one.values, looks),
        named(one.values, "v", 0.2 * reach),
        {"type": "scatter", "x": per_frame(one.y[:, :1]), "y": per_frame(one.y[:, 1:]), "mode": "markers",
         "hoverinfo": "skip", "marker": mixture},
    ]  # fmt: skip
    return {"data": data, "layout": layout("values and mixture y (diamond)", reach)}


def layout(title: str, reach: float = REACH + 0.1) -> dict[str, Any]:
    return {
        "title": {"text": title}, "height": 420, "showlegend": False,
        **planar.axes(reach, tickvals=[-1, 0, 1], showgrid=True),
    }  # fmt: skip


def weights(one: Mix) -> Tree:
    """Bars, one a key, in its colour."""
    fig = bars([f"{i + 1}" for i in range(len(one.keys))], one.weights[0], ylabel="weight", xlabel="key")
    fig.update_traces(marker_color=colors(len(one.keys)))
    low, high = (float(one.weights.min()), float(one.weights.max())) if one.kind == LINEAR else (0.0, 1.0)
    fig.update_yaxes(range=[min(low, 0) * 1.1, max(high, 0) * 1.05])
    return turning(fig, y=one.weights)


def table(one: Table, linear: bool) -> Tree:
    """Weights of all values at each factor of the query."""
    shown = one.linear if linear else one.soft
    names = [f"v<sub>{i + 1}</sub> = {v:g}" for i, v in enumerate(one.v)]
    fig = bars(names, shown[0], ylabel="weight", title="linear: q·k" if linear else "softmax(q·k)")
    fig.update_traces(marker_color=colors(len(one.v)))
    low, high = (float(shown.min()), float(shown.max())) if linear else (0.0, 1.0)
    fig.update_yaxes(range=[min(low, 0) * 1.1, max(high, 0.1) * 1.05])
    tree = turning(fig, y=shown)
    del tree["data"][0]["hovertext"]
    tree["data"][0]["hoverinfo"] = "y"
    return tree
