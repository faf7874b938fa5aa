"""Pictures side by side with what is lit in them; an input that writes; a matrix and its transpose."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, click_targets, heatmap
from lab.figures.moving import Tree, per_frame
from pages.convolution.down_up.lens import Shown
from pages.convolution.down_up.writing import Written

HEIGHT = 440


def edges(n: int) -> list[float]:
    """Range of an axis of n cells with room for a frame around them."""
    return [-0.5 - 0.02 * n, n - 0.5 + 0.02 * n]


def panels(shown: Shown, square: bool) -> Tree:
    """The pictures in rows; in each a frame around what the cell of the film is computed from."""
    count, across = len(shown.panels), shown.across
    down = -(-count // across)
    values = [array(panel.values).astype(float) for panel in shown.panels]
    every = np.concatenate([v.ravel() for v in values])
    low, high = float(every.min()), float(every.max()) or 1.0
    scale: theme.Scale = "diverging" if low < 0 else "grey" if square else "probability"
    low = -max(-low, high) if low < 0 else 0.0
    high = max(-low, high)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": [], "shapes": []}
    for k, (panel, z) in enumerate(zip(shown.panels, values, strict=True)):
        at, (row, column) = "" if not k else str(k + 1), divmod(k, across)
        size = max(z.shape)
        fig = heatmap(z, scale=scale, zmin=low, zmax=high, colorbar=False, square=square,
                      numbers=".3~g" if size <= (2 if square else 5) else False).to_plotly_json()  # fmt: skip
        trace = fig["data"][0] | {"xaxis": f"x{at}", "yaxis": f"y{at}", "textfont": {"size": 18}}
        if k == shown.y:
            trace |= {"hoverinfo": "skip", "hovertext": None}
        elif shown.y is not None:
            trace["hoverinfo"] = "skip"
        data.append(trace)
        layout[f"xaxis{at}"] = fig["layout"]["xaxis"] | {
            "domain": [column / across + 0.012, (column + 1) / across - 0.012], "anchor": f"y{at}",
            "tickvals": [], "range": edges(z.shape[1]),
        }  # fmt: skip
        layout[f"yaxis{at}"] = fig["layout"]["yaxis"] | {
            "domain": [1 - (row + 1) / down + 0.01, 1 - row / down - 0.09], "anchor": f"x{at}",
            "tickvals": [], "range": edges(z.shape[0])[::-1],
        } | ({"scaleanchor": f"x{at}"} if square else {})  # fmt: skip
        layout["annotations"].append({
            "x": 0.5, "xref": f"x{at} domain", "y": 1, "yref": f"y{at} domain", "yanchor": "bottom",
            "text": panel.name, "showarrow": False, "font": {"size": 18},
        })  # fmt: skip
        x0, x1, y0, y1 = (per_frame(edge) for edge in array(panel.boxes).T)
        layout["shapes"].append({
            "type": "rect", "xref": f"x{at}", "yref": f"y{at}", "x0": x0, "x1": x1, "y0": y0, "y1": y1,
            "line": {"color": theme.ORANGE, "width": 4},
        })  # fmt: skip
        for axis, n, tile in zip("yx", z.shape, panel.tile or (), strict=False):
            other = "x" if axis == "y" else "y"
            layout["shapes"] += [
                {"type": "line", f"{axis}ref": f"{axis}{at}", f"{axis}0": cut - 0.5, f"{axis}1": cut - 0.5,
                 f"{other}ref": f"{other}{at} domain", f"{other}0": 0, f"{other}1": 1,
                 "line": {"color": theme.text(), "width": 4}}
                for cut in range(tile, n, tile)
            ]  # fmt: skip
        if k == shown.y:
            i, j = (index.ravel() for index in np.indices(z.shape))
            said = [f"row {a}, column {b}: {z[a, b]:.4g}" for a, b in zip(i, j, strict=True)]
            click = click_targets(j, i, hover=said, size=180 / size).to_plotly_json()
            data.append(click | {"xaxis": f"x{at}", "yaxis": f"y{at}"})
    return {"data": data, "layout": layout | {"height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
                                              "plot_bgcolor": theme.grid(), "hoverdistance": -1}}  # fmt: skip


def writing(one: Written) -> Tree:
    """Inputs, the products that one of them writes, the outputs so far, and how often each is written."""
    n, N = one.sums.shape
    outputs, places = list(range(N)), array(one.places)
    inside = (places >= 0) & (places < N)
    centres = places.mean(1)
    lit = [[theme.INPUT if i == at else theme.fade(theme.INPUT, 0.3) for i in range(n)] for at in range(n)]
    last = [
        [theme.OUTPUT if o in set(places[at].tolist()) else theme.fade(theme.OUTPUT, 0.4) for o in outputs]
        for at in range(n)
    ]
    kept = [[theme.HIDDEN if good else theme.fade(theme.HIDDEN, 0.25) for good in row] for row in inside]
    rows: list[tuple[str, dict[str, Any], Any]] = [
        ("input x", {"x": centres, "y": array(one.x), "marker": {"color": per_frame(lit)}}, one.x),
        ("products", {"x": per_frame(places), "y": per_frame(array(one.products)),
                      "marker": {"color": per_frame(kept)}}, one.products),
        ("output y", {"x": outputs, "y": per_frame(array(one.sums)), "marker": {"color": per_frame(last)}},
         one.sums),
        ("times written", {"x": outputs, "y": array(one.counts), "marker": {"color": theme.GREEN}},
         one.counts),
    ]  # fmt: skip
    data, layout = [], dict[str, Any]()
    ends = [min(float(places.min()), 0) - 0.6, max(float(places.max()), N - 1) + 0.6]
    for k, (name, bar, values) in enumerate(rows):
        at = "" if not k else str(k + 1)
        v = np.append(array(values).astype(float).ravel(), 0.0)
        span = (float(v.max() - v.min()) or 1.0) * 0.1
        data.append(
            {"type": "bar", "width": 0.8, "yaxis": f"y{at}", "showlegend": False, "hoverinfo": "y"} | bar
        )
        layout[f"yaxis{at}"] = {
            "domain": [0.77 - 0.25 * k, 0.93 - 0.25 * k] if k < 3 else [0.02, 0.18],
            "nticks": 3, "anchor": "x",
            "range": [float(v.min()) - (span if v.min() < 0 else 0), float(v.max()) + span],
        }  # fmt: skip
        layout.setdefault("annotations", []).append({
            "x": 0, "xref": "paper", "y": 1, "yref": f"y{at} domain", "yanchor": "bottom", "xanchor": "left",
            "text": name, "showarrow": False, "font": {"size": 16},
        })  # fmt: skip
    layout["xaxis"] = {
        "range": ends,
        "showgrid": False,
        "zeroline": False,
        "anchor": "y4",
        "tickvals": outputs,
    }
    return {"data": data, "layout": layout | {"height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}}}


def coverage(one: Written) -> Tree:
    """How often each output is written in two dimensions, where both axes are as the one of the film."""
    counts = array(one.counts)
    z = counts[:, None] * counts
    fig = heatmap(z, colorbar=False, square=True, zmin=0, zmax=float(z.max()) or 1.0, scale="probability",
                  numbers=".3~g" if len(z) <= 10 else False, height=HEIGHT)  # fmt: skip
    fig.update_layout(title="times written, in 2-D")
    return fig.to_plotly_json()


def transposed(one: Written, across: bool) -> Tree:
    """A, of which each frame outlines a row, or its transpose, of which it outlines the column."""
    z = array(one.matrix) if across else array(one.matrix).T
    names = ("output y", "input x") if across else ("input x", "output y")
    fig = heatmap(z, scale="diverging", numbers=".2~g" if max(z.shape) <= 12 else False, colorbar=False,
                  xlabel=names[0], ylabel=names[1], height=HEIGHT)  # fmt: skip
    fig.update_layout(plot_bgcolor=theme.grid(), title="A" if across else "Aᵀ")
    fig.add_shape(type="rect", line={"color": theme.ORANGE, "width": 4},
                  x0=-0.5, x1=z.shape[1] - 0.5, y0=-0.5, y1=z.shape[0] - 0.5)  # fmt: skip
    tree, at = fig.to_plotly_json(), np.arange(len(one.x))
    one_axis = "y" if across else "x"
    tree["layout"]["shapes"][0] |= {f"{one_axis}0": per_frame(at - 0.5), f"{one_axis}1": per_frame(at + 0.5)}
    return tree
