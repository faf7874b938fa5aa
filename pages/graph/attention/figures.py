"""Weights on the edges of a graph, receiver by receiver, and the same weights as columns of a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from lab.figures import basic, networks, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from pages.graph.attention.words import spell

SMALL = 12  # nodes up to which every weight is written


def edges(
    positions: Tensor, a: Tensor, alpha: Tensor, heard: Tensor,
    classes: Tensor | None = None, names: Sequence[str] | None = None,
) -> Tree:  # fmt: skip
    """The graph; in frame n the edges to node n are as wide as their weights.

    Args:
        positions: (N, 2). a: (N, N), edges that are drawn grey. alpha: (N, N), senders as rows.
        heard: (N, N) bool. classes: (N,), with their `names`.
    """
    p, w, N = array(positions), array(alpha), len(positions)
    fig = networks.network(positions, a.nonzero().T, classes=classes, names=names, selected=0)
    fig.update_layout(showlegend=classes is not None)
    tree = fig.to_plotly_json()
    senders = [[m for m in np.argsort(-w[:, n]) if bool(heard[m, n]) and m != n] for n in range(N)]
    most = max(map(len, senders))
    lines = []
    for j in range(most):
        ends = [(p[row[j]] if j < len(row) else p[n], p[n]) for n, row in enumerate(senders)]
        width = [2 + 14 * float(w[row[j], n]) if j < len(row) else 0.0 for n, row in enumerate(senders)]
        lines.append({
            "type": "scatter", "mode": "lines", "name": "weight", "hoverinfo": "skip", "showlegend": False,
            "x": per_frame([[float(a[0]), float(b[0])] for a, b in ends]),
            "y": per_frame([[float(a[1]), float(b[1])] for a, b in ends]),
            "line": {"color": theme.ATTENTION, "width": per_frame(width)},
        })  # fmt: skip
    ring = tree["data"][-1] | {
        "x": per_frame([[float(x)] for x in p[:, 0]]), "y": per_frame([[float(y)] for y in p[:, 1]]),
    }  # fmt: skip
    return tree | {"data": [tree["data"][0], *lines, *tree["data"][1:-1], ring, written(p, w, senders)]}


def beside(way: np.ndarray) -> np.ndarray:
    """A step to one side of a line, so that its number does not lie on it."""
    turned = np.array([-way[1], way[0]])
    return 0.08 * turned / (np.linalg.norm(turned) or 1)


def gap(ways: np.ndarray) -> np.ndarray:
    """The direction in the middle of the widest angle between some (M, 2), upwards if there are none."""
    if not len(ways):
        return np.array([0.0, 1.0])
    angles = np.sort(np.arctan2(ways[:, 1], ways[:, 0]))
    spans = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    middle = angles[spans.argmax()] + spans.max() / 2
    return np.array([np.cos(middle), np.sin(middle)])


def written(p: np.ndarray, w: np.ndarray, senders: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Weights beside their edges, the node's own beside it: of large graphs the heaviest three."""
    many = max(map(len, senders)) if len(p) <= SMALL else 3
    xs, ys, texts = [], [], []
    for n, row in enumerate(senders):
        kept = row[:many]
        places = [p[n] + 0.6 * (p[m] - p[n]) + beside(p[m] - p[n]) for m in kept]
        places.append(p[n] + 0.2 * gap(p[list(row)] - p[n]))
        labels = [*(spell(w[m, n]) for m in kept), spell(w[n, n])]
        empty = many + 1 - len(places)
        places, labels = places + [p[n]] * empty, labels + [""] * empty
        xs.append([float(x) for x, _ in places])
        ys.append([float(y) for _, y in places])
        texts.append(labels)
    return {
        "type": "scatter", "mode": "text", "name": "numbers", "hoverinfo": "skip", "showlegend": False,
        "x": per_frame(xs), "y": per_frame(ys), "text": per_frame(texts),
        "textfont": {"color": theme.text(), "size": 18},
    }  # fmt: skip


def columns(alpha: Tensor, ranks: Tensor | None) -> Tree:
    """Weights, senders as rows; a frame outlines the column of its receiver.

    Args:
        alpha: (N, N). ranks: (N, N), written into the cells in place of the weights, 0 is left out.
    """
    w, N = array(alpha), len(alpha)
    fig = basic.heatmap(
        w, scale="violet", zmin=0, zmax=1, xlabel="receiver n", ylabel="sender m", square=True,
        colorbar=False, height=560,
    )  # fmt: skip
    if N <= SMALL:
        texts = [
            [str(int(ranks[m, n])) if ranks is not None and ranks[m, n] else
             spell(w[m, n]) if ranks is None and w[m, n] > 0 else "" for n in range(N)]
            for m in range(N)
        ]  # fmt: skip
        fig.update_traces(text=texts, texttemplate="%{text}", textfont={"size": 15})
    tree = fig.to_plotly_json()
    x0, x1 = ([n + side for n in range(N)] for side in (-0.5, 0.5))
    tree["layout"]["shapes"] = [{
        "type": "rect", "xref": "x", "yref": "y", "y0": -0.5, "y1": N - 0.5,
        "x0": per_frame(x0), "x1": per_frame(x1), "line": {"color": theme.VERMILLION, "width": 4},
    }]  # fmt: skip
    return tree
