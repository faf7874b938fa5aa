"""Graphs beside their matrices: walks, and the columns of an edge."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from lab.figures import basic, networks, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, turning
from pages.graph.matrices.lens import Lists
from pages.graph.matrices.words import spell

SMALL, HEIGHT = 12, 520  # nodes up to which numbers are written into cells


def arrows(p: np.ndarray, a: Tensor) -> list[dict[str, Any]]:
    """An arrow along each directed edge, to the rim of the disc."""
    return [
        {"x": p[n, 0], "y": p[n, 1], "ax": p[m, 0], "ay": p[m, 1], "xref": "x", "yref": "y", "axref": "x",
         "ayref": "y", "text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": 2.5,
         "arrowcolor": theme.HIDDEN, "standoff": 19, "startstandoff": 17}
        for m, n in a.nonzero().tolist()
    ]  # fmt: skip


def beside(p: np.ndarray, a: Tensor) -> np.ndarray:
    """Places of the nodes' numbers, (N, 2): beside each disc, in the middle of its widest gap of edges."""
    joined = array(a + a.T) > 0
    places = []
    for n, here in enumerate(p):
        ways = p[joined[n]] - here
        angles = np.sort(np.arctan2(ways[:, 1], ways[:, 0])) if len(ways) else np.array([-np.pi / 2])
        spans = np.diff(np.append(angles, angles[0] + 2 * np.pi))
        middle = angles[spans.argmax()] + spans.max() / 2
        places.append(here + 0.18 * np.array([np.cos(middle), np.sin(middle)]))
    return np.array(places)


def walks(positions: Tensor, a: Tensor, directed: bool, values: Tensor, strength: Tensor, n: int) -> Tree:
    """The graph; in frame L each node has its number of values (F, N), −1 for none, and a colour by its
    strength (F, N) from 0 to 1. The numbers of the nodes stand beside them."""
    p, s = array(positions), array(strength)
    both = (a + a.T).nonzero().T
    fig = networks.network(positions, both, values=s[0], scale="probability", height=HEIGHT, selected=n)
    at = next(i for i, trace in enumerate(fig.data) if trace.marker.colorscale is not None)
    fig.update_traces(marker_size=34, selector={"mode": "markers+text"})
    fig.data[-1].marker.size = 42
    if directed:
        fig.data[0].line.color = "rgba(0,0,0,0)"
        fig.update_layout(annotations=arrows(p, a))
    places = beside(p, a)
    fig.add_scatter(
        x=places[:, 0], y=places[:, 1], text=[str(k) for k in range(len(p))], mode="text", hoverinfo="skip",
        textfont={"color": theme.soft(), "size": 16}, showlegend=False, name="numbers",
    )  # fmt: skip
    whole = np.vstack([p, places])
    fig.update_xaxes(range=[whole[:, 0].min() - 0.14, whole[:, 0].max() + 0.14])
    fig.update_yaxes(range=[whole[:, 1].min() - 0.14, whole[:, 1].max() + 0.14])
    tree = turning(fig, at, marker={"color": s})
    tree["data"][at] |= {
        "text": per_frame(written(values)), "textfont": {"size": 15, "color": per_frame(inks(s))},
    }  # fmt: skip
    return tree


def written(values: Tensor) -> list[list[str]]:
    """Counts of each frame in short, "" for −1."""
    return [[spell(v) if v >= 0 else "" for v in row] for row in values.tolist()]


def inks(strength: np.ndarray) -> list[list[str]]:
    """Colours of texts on colours of this strength, of each frame."""
    on_strong, on_weak = ("#1B2026", "#FFFFFF") if theme.mode() == "dark" else ("#FFFFFF", "#1B2026")
    return [[on_strong if v > 0.55 else on_weak for v in row] for row in strength]


def powers(values: Tensor, strength: Tensor, n: int, row: bool) -> Tree:
    """The matrices (F, N, N), coloured by strength; column n is outlined, or row n, and the diagonal."""
    z, N = array(strength), values.shape[-1]
    fig = basic.heatmap(
        z[0], scale="probability", zmin=0, zmax=1, xlabel="to node", ylabel="from node", square=True,
        colorbar=False, height=HEIGHT, hover=False,
    )  # fmt: skip
    tree = turning(fig, z=z)
    if N <= SMALL:
        m, k = np.indices((N, N))
        font = {"size": 16 if N <= 8 else 12, "color": per_frame(inks(z.reshape(len(z), -1)))}
        tree["data"].append({
            "type": "scatter", "mode": "text", "x": k.ravel(), "y": m.ravel(), "hoverinfo": "skip",
            "text": per_frame(written(values.flatten(1))), "textfont": font, "showlegend": False,
        })  # fmt: skip
    start, end = n - 0.5, n + 0.5
    across = (-0.5, N - 0.5, start, end) if row else (start, end, -0.5, N - 0.5)
    thin = [box(k - 0.5, k + 0.5, k - 0.5, k + 0.5, theme.HIDDEN, 2) for k in range(N)]
    tree["layout"]["shapes"] = [*thin, box(*across, theme.VERMILLION, 4)]
    return tree


def box(x0: Any, x1: Any, y0: Any, y1: Any, color: str, width: float, axes: str = "") -> dict[str, Any]:
    return {"type": "rect", "xref": f"x{axes}", "yref": f"y{axes}", "x0": x0, "x1": x1, "y0": y0, "y1": y1,
            "line": {"color": color, "width": width}}  # fmt: skip


# --- A, X and E ---------------------------------------------------------------------------------------


def one_edge(positions: Tensor, one: Lists, directed: bool) -> Tree:
    """The graph; frame k has edge k in full."""
    p = array(positions)
    fig = networks.network(positions, (one.a + one.a.T).nonzero().T, height=HEIGHT)
    fig.update_layout(showlegend=False)
    fig.update_traces(marker_color=theme.INPUT, selector={"mode": "markers+text"})
    if directed:
        fig.data[0].line.color = "rgba(0,0,0,0)"
        fig.update_layout(annotations=arrows(p, one.a))
    tree = fig.to_plotly_json()
    if not len(one.edges):
        return tree
    ends = p[array(one.edges)]  # (E, 2, 2)
    line = {
        "type": "scatter", "mode": "lines", "name": "edge", "hoverinfo": "skip", "showlegend": False,
        "x": per_frame(ends[..., 0]), "y": per_frame(ends[..., 1]),
        "line": {"color": theme.VERMILLION, "width": 7},
    }  # fmt: skip
    return tree | {"data": [tree["data"][0], line, *tree["data"][1:]]}


def stack(
    parts: Sequence[tuple[str, Any, str]], places: Sequence[tuple[float, float]], ticks: bool = True
) -> dict[str, Any]:
    """Heat maps one above the other, each with its name at the left.

    Args:
        parts: name, matrix (or matrices `per_frame`) and scale. places: bottom and top of each, from 0 to 1.
        ticks: number the columns, and the rows of the first.
    """
    data, axes, notes, rims = [], dict[str, Any](), [], []
    for k, ((name, values, scale), place) in enumerate(zip(parts, places, strict=True)):
        at = "" if not k else str(k + 1)
        z = array(values.values if isinstance(values, per_frame) else values)
        low, high = basic.scale_range(z, scale)  # type: ignore[arg-type]
        rows, columns = z.shape[-2:]
        data.append({
            "type": "heatmap", "z": values, "zmin": low, "zmax": high, "showscale": False,
            "colorscale": theme.scale(scale), "hoverinfo": "skip",  # type: ignore[arg-type]
            "xgap": 1, "ygap": 1, "xaxis": f"x{at}", "yaxis": f"y{at}",
        })  # fmt: skip
        rims.append(box(-0.5, columns - 0.5, -0.5, rows - 0.5, theme.HIDDEN, 1, at))
        quiet = {"showgrid": False, "zeroline": False, "ticks": ""}
        axes |= {
            f"xaxis{at}": quiet | basic.ticks(None, columns) | {
                "domain": [0.02, 0.98], "anchor": f"y{at}", "range": [-0.5, columns - 0.5],
                "showticklabels": ticks},
            f"yaxis{at}": quiet | basic.ticks(None, rows) | {
                "domain": list(place), "anchor": f"x{at}", "range": [rows - 0.5, -0.5],
                "showticklabels": ticks and not k},
        }  # fmt: skip
        notes.append({"x": 0.02, "xref": "paper", "xanchor": "left", "y": place[1], "yref": "paper",
                      "yanchor": "bottom", "text": name, "showarrow": False})  # fmt: skip
    layout = {
        "annotations": notes,
        "height": HEIGHT,
        "margin": {"l": 4, "r": 4, "t": 30, "b": 4},
        "shapes": rims,
    }
    return {"data": data, "layout": layout | axes}


def lists(one: Lists) -> Tree:
    """A, X and E; frame k outlines what belongs to edge k."""
    E = len(one.edges)
    parts = [("A", array(one.a).astype(float), "probability"), ("X", array(one.x), "diverging")]
    places = [(0.52, 1.0), (0.24, 0.41)]
    if E:
        parts, places = [*parts, ("E", array(one.e), "diverging")], [*places, (0.0, 0.13)]
    tree = stack(parts, places)
    if len(one.a) <= SMALL:
        tree["data"][0] |= {"texttemplate": "%{z}", "textfont": {"size": 14}}
    if E:
        m, n = array(one.edges).T
        spots = [(n, m, 1, 1, ""), (m, n, 1, 1, "")] if bool((one.a == one.a.T).all()) else [(n, m, 1, 1, "")]
        rows = len(one.x), len(one.e)
        tree["layout"]["shapes"] += [
            *(box(per_frame(x - 0.5), per_frame(x + 0.5), per_frame(y - 0.5), per_frame(y + 0.5),
                  theme.VERMILLION, 4) for x, y, *_ in spots),
            *(box(per_frame(x - 0.5), per_frame(x + 0.5), -0.5, rows[0] - 0.5, theme.VERMILLION, 3, "2")
              for x in (m, n)),
            box([], [], -0.5, rows[1] - 0.5, theme.VERMILLION, 3, "3")
            | {"x0": per_frame(np.arange(E) - 0.5), "x1": per_frame(np.arange(E) + 0.5)},
        ]  # fmt: skip
    return tree
