"""A figure that carries its film: Plotly's own dictionary, in which any leaf may have one value a frame.

    {"data": [{"type": "heatmap", "z": per_frame(maps)}, {"x": xs, "y": per_frame(curves)}], "layout": {…}}

`at` gives the figure at a frame, `frames` what turns. A helper's figure is a base to go on from: `turning`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import CELL, array, heatmap

Tree = Mapping[str, Any]  # {"data": traces, "layout": …}


class per_frame:
    """`values[f]` at frame f: an array along its first axis, or a list of texts, or of lists of texts."""

    def __init__(self, values: Any) -> None:
        self.values = list(values) if isinstance(values, list | tuple | range) else array(values)


def turning(fig: go.Figure | Tree, trace: int = 0, /, **leaves: Any) -> dict[str, Any]:
    """A figure of which one trace has these values a frame: `turning(basic.image(maps[0]), z=maps)`; leaves
    that lie deeper are given as a mapping, `error_y={"array": sds}`."""
    tree = fig.to_plotly_json() if isinstance(fig, go.Figure) else dict(fig)
    data = list(tree["data"])
    data[trace] = merged(data[trace], leaves)
    return tree | {"data": data}


def heatmaps(values: Any, *labels: Any, **how: Any) -> dict[str, Any]:
    """`heatmap` of another matrix at each frame, (F, H, W); a cell says its row and column by their numbers,
    and its value at that frame."""
    fig = heatmap(values[0], *labels, hover=False, **how)
    fig.update_traces(hoverinfo=None, hovertemplate=CELL)
    return turning(fig, z=values)


def marking(fig: go.Figure, places: Any) -> dict[str, Any]:
    """A figure whose first shape, a line upright, stands at another abscissa in each frame."""
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {"x0": per_frame(places), "x1": per_frame(places)}
    return tree


def resting(fig: go.Figure | Tree, *curves: tuple[Any, Any, str], size: int = 15) -> dict[str, Any]:
    """A figure with a dot on each of these curves, (x, y, color), that stands at point f in frame f."""
    tree = fig.to_plotly_json() if isinstance(fig, go.Figure) else dict(fig)
    edge = {"width": 2, "color": theme.text()}
    dots = [
        {"type": "scatter", "x": per_frame([[v] for v in x]), "y": per_frame([[v] for v in y]),
         "mode": "markers", "showlegend": False, "hoverinfo": "skip",
         "marker": {"size": size, "color": color, "line": edge}}
        for x, y, color in curves
    ]  # fmt: skip
    return tree | {"data": [*tree["data"], *dots]}


def merged(node: Tree, leaves: Tree) -> dict[str, Any]:
    """The tree with other leaves: values a frame, or a mapping of them."""
    deeper = {k: merged(node.get(k, {}), v) for k, v in leaves.items() if isinstance(v, Mapping)}
    return {**node, **{k: per_frame(v) for k, v in leaves.items() if k not in deeper}, **deeper}


def unrolling(fig: go.Figure) -> dict[str, Any]:
    """A figure whose lines are drawn point by point, its first shape going with them: frame k has the first
    k + 1 points. Its axes keep what the whole needs."""
    xs, ys = [array(line.x) for line in fig.data], [array(line.y).astype(float) for line in fig.data]
    for axis, values in ((fig.layout.xaxis, np.concatenate(xs)), (fig.layout.yaxis, np.concatenate(ys))):
        if axis.range is None:
            ends = values[np.isfinite(values) & ((values > 0) | (axis.type != "log"))]
            low, high = ends.min(), ends.max()
            if axis.type == "log":
                low, high = np.log10(low), np.log10(high)
            room = 0.05 * (high - low or 1.0)
            axis.range = [0.0 if axis.rangemode == "tozero" else low - room, high + room]
    tree = marking(fig, xs[0].tolist())
    for i, y in enumerate(ys):
        tree = turning(tree, i, y=np.where(np.tri(len(y), dtype=bool), y, np.nan))
    return tree


def at(tree: Tree, frame: int) -> go.Figure:
    """The figure that stands at a frame."""
    return go.Figure(still(tree, frame))


def frames(tree: Tree, since: int = 0) -> dict[str, Any]:
    """Path into the figure -> its values from frame `since` on; texts whole, as a film sends them."""
    results = {}
    for path, leaf in moving(tree):
        texts = isinstance(leaf.values, list) and isinstance(flat(leaf.values[0]), str)
        results[path] = leaf.values if texts else array(leaf.values[since:])
    return results


def flat(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) and value else value


def still(node: Any, frame: int) -> Any:
    if isinstance(node, per_frame):
        return node.values[frame]
    if isinstance(node, Mapping):
        return {key: still(value, frame) for key, value in node.items()}
    if isinstance(node, list | tuple) and any(isinstance(v, per_frame | Mapping | list) for v in node):
        return [still(value, frame) for value in node]
    return node


def moving(node: Any, path: str = "") -> Iterator[tuple[str, per_frame]]:
    """The leaves that have a value a frame, with their paths."""
    if isinstance(node, per_frame):
        yield path, node
        return
    parts = (
        node.items()
        if isinstance(node, Mapping)
        else enumerate(node)
        if isinstance(node, list | tuple)
        else ()
    )
    for key, value in parts:
        yield from moving(value, f"{path}.{key}" if path else str(key))
