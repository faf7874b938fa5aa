"""One drawing under two numberings, its matrix, and what a layer gives for both."""

from typing import Any

import numpy as np
from torch import Tensor

from lab.figures import networks, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from pages.graph.matrices.figures import HEIGHT, SMALL, arrows, stack
from pages.graph.matrices.lens import Renumbered
from pages.graph.matrices.words import gap, number


def colors(N: int) -> list[str]:
    """A colour of each node, by which it is known whatever its number."""
    return [theme.CATEGORIES[n % len(theme.CATEGORIES)] for n in range(N)]


def rim_colors(one: Renumbered) -> list[list[str]]:
    """The colour of each number in each frame."""
    mine = colors(one.places.shape[1])
    return [[mine[row.index(k)] for k in range(len(row))] for row in one.places.tolist()]


def twice(positions: Tensor, one: Renumbered, directed: bool) -> Tree:
    """The drawing and A, above as numbered at first, below in each frame; a node keeps its colour."""
    p, N = array(positions), len(positions)
    p = p - (p.min(0) + p.max(0)) / 2
    mine = colors(N)
    places, F, held = one.places.tolist(), len(one.places), rim_colors(one)
    edges = [(m, n) for m, n in one.a[0].nonzero().tolist() if directed or m < n]
    lines = np.concatenate([np.vstack([p[list(pair)], [[np.nan, np.nan]]]) for pair in edges] or [p[:0]])
    data, axes, notes = list[dict[str, Any]](), dict[str, Any](), list[dict[str, Any]]()
    size = 28 if N <= SMALL else 20
    for row, name in enumerate(("A", "PᵀAP")):
        at = str(3 * row) if row else ""
        numbers = [[str(v) for v in places[f if row else 0]] for f in range(F)]
        graph = {"type": "scatter", "xaxis": f"x{at}", "yaxis": f"y{at}", "showlegend": False}
        data.append(graph | {"x": lines[:, 0], "y": lines[:, 1], "mode": "lines", "hoverinfo": "skip",
                             "line": {"color": theme.HIDDEN, "width": 2}})  # fmt: skip
        data.append(graph | {
            "x": p[:, 0], "y": p[:, 1], "mode": "markers+text", "hoverinfo": "skip",
            "text": per_frame(numbers) if row else numbers[0],
            "textfont": {"size": 15, "color": [networks.ink(c) for c in mine]},
            "marker": {"size": size, "color": mine, "line": {"width": 1, "color": theme.text()}},
        })  # fmt: skip
        to = str(3 * row + 2)
        data.append({
            "type": "heatmap", "z": per_frame(one.a) if row else array(one.a[0]), "zmin": 0, "zmax": 1,
            "colorscale": theme.scale("probability"), "showscale": False, "xgap": 1, "ygap": 1,
            "xaxis": f"x{to}", "yaxis": f"y{to}", "hoverinfo": "skip",
        })  # fmt: skip
        rim = held if row else held[:1]
        marks = {"size": 14 if N <= SMALL else 8, "symbol": "square",
                 "color": per_frame([c + c for c in rim]) if row else rim[0] + rim[0]}  # fmt: skip
        data.append({
            "type": "scatter", "mode": "markers", "x": [*range(N), *[-1] * N], "y": [*[-1] * N, *range(N)],
            "xaxis": f"x{to}", "yaxis": f"y{to}", "showlegend": False, "hoverinfo": "skip", "marker": marks,
        })  # fmt: skip
        low, high = (0.52, 0.95) if not row else (0.0, 0.43)
        quiet = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "",
                 "constrain": "domain"}  # fmt: skip
        axes |= {
            f"xaxis{at}": {"domain": [0, 0.5], "anchor": f"y{at}", "visible": False, "range": [-1.2, 1.2]},
            f"yaxis{at}": {"domain": [low, high], "anchor": f"x{at}", "visible": False,
                           "range": [p[:, 1].min() - 0.2, p[:, 1].max() + 0.2]},
            f"xaxis{to}": quiet | {"domain": [0.55, 1], "anchor": f"y{to}", "range": [-1.6, N - 0.5]},
            f"yaxis{to}": quiet | {"domain": [low, high], "anchor": f"x{to}", "range": [N - 0.5, -1.6],
                                   "scaleanchor": f"x{to}"},
        }  # fmt: skip
        notes.append({"x": 0.775, "xref": "paper", "xanchor": "center", "y": high, "yref": "paper",
                      "yanchor": "bottom", "text": name, "showarrow": False})  # fmt: skip
        if directed:
            refs = {"xref": f"x{at}", "axref": f"x{at}", "yref": f"y{at}", "ayref": f"y{at}"}
            notes += [arrow | refs for arrow in arrows(p, one.a[0])]
    layout = {"annotations": notes, "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 8, "b": 4},
              "meta": theme.SHRINKING}  # fmt: skip
    return {"data": data, "layout": layout | axes}


def outputs(one: Renumbered) -> Tree:
    """X and F[X, A] as numbered at first; then both, and the difference, in each frame."""
    pooled = [number(v) for v in one.pooled]
    reach = [one.h.abs().max(), one.gaps.abs().max()]
    parts = [
        ("X", array(one.x[0]), "diverging"), (f"F[X, A], pooled {pooled[0]}", array(one.h[0]), "diverging"),
        ("XP", per_frame(one.x), "diverging"), ("F[XP, PᵀAP]", per_frame(one.h), "diverging"),
        ("difference", per_frame(one.gaps), "diverging"),
    ]  # fmt: skip
    tree = stack(parts, [(0.84, 0.96), (0.66, 0.76), (0.42, 0.54), (0.24, 0.34), (0.03, 0.13)], ticks=False)
    most = float(max(reach)) or 1.0
    for k in (1, 3, 4):
        tree["data"][k] |= {"zmin": -most, "zmax": most}
    N, held = len(one.x[0, 0]), rim_colors(one)
    for k in range(5):  # squares above the columns
        at = "" if not k else str(k + 1)
        tree["data"].append({
            "type": "scatter", "mode": "markers", "x": list(range(N)), "y": [-1.0] * N, "xaxis": f"x{at}",
            "yaxis": f"y{at}", "showlegend": False, "hoverinfo": "skip",
            "marker": {"symbol": "square", "size": 9, "color": per_frame(held) if k > 1 else held[0]},
        })  # fmt: skip
        tree["layout"][f"yaxis{at}"]["range"] = [len(one.x[0] if k in (0, 2) else one.h[0]) - 0.5, -1.5]
    titles = tree["layout"]["annotations"]
    titles[3]["text"] = per_frame([f"F[XP, PᵀAP], pooled {v}" for v in pooled])
    titles[4]["text"] = per_frame([f"difference, at most {gap(one, f):.3f}" for f in range(len(pooled))])
    return tree
