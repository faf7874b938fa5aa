"""Two graphs in the colours of the test above, and in those of the network's states below."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import bars
from lab.figures.moving import Tree, per_frame, turning
from lab.figures.networks import ink, layout
from pages.graph.isomorphism.lens import Compared

# Ten colours, then paler ones: a number on each node tells them apart too.
COLORS = (
    *theme.CATEGORIES,
    *("#9CC9E8", "#F6D58A", "#8FD3BE", "#EBC6DA", "#F2B48A", "#C9CDD2", "#B9A48C", "#B4B4DC"),
)
ROWS = ("1-WL", "GIN")


def color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def graphs(found: Compared) -> Tree:
    """Columns: the graphs. Rows: colours by the test, colours of equal states."""
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    start = 0
    for column, graph in enumerate(found.graphs):
        n = len(graph.labels)
        p = layout(graph.edge_index, n).numpy()
        p = p - (p.min(0) + p.max(0)) / 2
        for row, rounds in enumerate((found.test, found.states)):
            at = "" if not (row or column) else str(1 + 2 * row + column)
            mine = [colours[start : start + n] for colours in rounds]
            pairs = [(a, b) for a, b in graph.edge_index.T.tolist() if a < b]
            lines = [np.vstack([p[list(pair)], [[np.nan, np.nan]]]) for pair in pairs] or [np.zeros((0, 2))]
            xy = np.concatenate(lines)
            place = {"type": "scatter", "xaxis": f"x{at}", "yaxis": f"y{at}", "showlegend": False}
            data.append(place | {"x": xy[:, 0], "y": xy[:, 1], "mode": "lines", "hoverinfo": "skip",
                                 "line": {"color": theme.HIDDEN, "width": 3}})  # fmt: skip
            data.append(place | {
                "x": p[:, 0], "y": p[:, 1], "mode": "markers+text", "hoverinfo": "text",
                "hovertext": [f"node {i}, label {label}" for i, label in enumerate(graph.labels.tolist())],
                "text": per_frame([[str(c + 1) for c in colours] for colours in mine]),
                "textfont": {"size": 15, "color": per_frame([[ink(color(c)) for c in cs] for cs in mine])},
                "marker": {"size": 28, "line": {"color": theme.text(), "width": 1},
                           "color": per_frame([[color(c) for c in colours] for colours in mine])},
            })  # fmt: skip
            axes |= {
                f"xaxis{at}": {"domain": [0.06 + 0.5 * column, 0.48 + 0.52 * column], "anchor": f"y{at}",
                               "visible": False, "range": [-1.25, 1.25]},
                f"yaxis{at}": {"domain": [0.53, 0.98] if not row else [0.02, 0.47], "anchor": f"x{at}",
                               "visible": False, "range": [-1.25, 1.25]},
            }  # fmt: skip
        start += n
    for row, name in enumerate(ROWS):
        notes.append({
            "x": 0, "xref": "paper", "y": 0.755 - 0.51 * row, "yref": "paper", "showarrow": False,
            "text": f"<b>{name}</b>", "textangle": -90, "xanchor": "left", "yanchor": "middle",
        })  # fmt: skip
    divider = {"type": "line", "xref": "paper", "yref": "paper", "x0": 0, "x1": 1, "y0": 0.5, "y1": 0.5,
               "line": {"color": theme.grid(), "width": 2}}  # fmt: skip
    layout_ = {"height": 440, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "annotations": notes,
               "shapes": [divider], "hovermode": "closest", "meta": theme.SHRINKING}  # fmt: skip
    return {"data": data, "layout": layout_ | axes}


def counts(found: Compared) -> Tree:
    """How many nodes of each graph have each colour of the test."""
    most = 1 + max(map(max, found.test))
    each = [[row + [0] * (most - len(row)) for row in found.counts(colours)] for colours in found.test]
    fig = bars([str(k + 1) for k in range(most)], each[0][1], baseline=each[0][0], xlabel="colour of 1-WL",
               ylabel="nodes", names=("second", "first"), color=theme.OUTPUT)  # fmt: skip
    fig.update_traces(hovertext=None, hoverinfo="y")
    fig.update_layout(
        yaxis={"range": [0, 1.08 * max(max(row) for pair in each for row in pair)], "nticks": 5}
    )
    tree = turning(fig, 0, y=[pair[0] for pair in each])
    return turning(tree, 1, y=[pair[1] for pair in each])


def distances(found: Compared) -> Tree:
    """Difference of the pooled states of both graphs, by layer."""
    R = len(found.distance)
    fig = bars([str(r) for r in range(R)], found.distance, xlabel="layer", ylabel="pooled: difference")
    fig.update_traces(
        text=[f"{far:.3f}".removeprefix("0") if far else "0" for far in found.distance],
        textposition="outside", textangle=0, cliponaxis=False, constraintext="none",
    )  # fmt: skip
    fig.update_yaxes(range=[0, 1.25 * max(*found.distance, 0.01)], nticks=4)
    pale = theme.fade(theme.OUTPUT, 0.35)
    return turning(
        fig, marker={"color": [[theme.OUTPUT if k == r else pale for k in range(R)] for r in range(R)]}
    )
