"""A graph with links found pair by pair, the curve of true against false ones, and all probabilities."""

from typing import Any

import numpy as np
from torch import Tensor

from lab.figures import basic, moving, networks, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from pages.graph.missing_links.lens import Found


def drawn(p: np.ndarray, pairs: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines of the chosen pairs (M, 2), one after the other with gaps: x and y, (3M,); NaN of the others."""
    ends = np.where(chosen[:, None, None], p[pairs], np.nan)  # (M, 2, 2)
    gap = np.full((len(pairs), 1), np.nan)
    x, y = (np.hstack([ends[..., axis], gap]).ravel() for axis in (0, 1))
    return x, y


def graph(one: Found, positions: Tensor) -> Tree:
    """The edges that are left; in frame k the k likeliest pairs, hidden edges green, others red.

    Args:
        positions: (N, 2).
    """
    p, pairs, linked = array(positions), array(one.pairs).T, array(one.linked)
    classes = one.world.communities
    names = None if classes is None else [f"community {c}" for c in range(int(classes.max()) + 1)]
    both = np.hstack([array(one.seen), array(one.seen)[::-1]])
    fig = networks.network(positions, both, classes=classes, names=names)
    fig.update_layout(showlegend=False)
    many = len(p) > 40
    if many:
        fig.update_traces(marker_size=11, mode="markers", selector={"mode": "markers+text"})
    tree = fig.to_plotly_json()
    rank = np.arange(len(pairs))
    lines = []
    for kind, color, dash in ((True, theme.GREEN, "solid"), (False, theme.VERMILLION, "dot")):
        frames = [drawn(p, pairs, (linked == kind) & (rank < k)) for k in range(len(pairs) + 1)]
        lines.append({
            "type": "scatter", "mode": "lines", "name": "found" if kind else "false",
            "hoverinfo": "skip", "showlegend": False, "connectgaps": False,
            "x": per_frame(np.stack([x for x, _ in frames])),
            "y": per_frame(np.stack([y for _, y in frames])),
            "line": {"color": color, "width": 3, "dash": dash},
        })  # fmt: skip
    return tree | {"data": [tree["data"][0], *lines, *tree["data"][1:]]}


def curve(one: Found) -> Tree:
    """Share of the hidden edges that are found over the share of the others, with a dot at frame k."""
    false, true = array(one.false), array(one.true)
    fig = basic.curves(
        {"hidden edges first": (false, true), "by chance": (np.array([0.0, 1]), np.array([0.0, 1]))},
        xlabel="others called linked", ylabel="hidden edges found",
        colors={"hidden edges first": theme.BLUE, "by chance": theme.HIDDEN}, height=560,
    )  # fmt: skip
    fig.update_layout(showlegend=False)
    fig.update_xaxes(range=[-0.04, 1.04], tickformat=".0%", nticks=3)
    fig.update_yaxes(range=[-0.06, 1.04], tickformat=".0%", nticks=3)
    fig.add_annotation(x=0.62, y=0.15, text=f"AUC {one.auc:.2f}", showarrow=False, font={"size": 26})
    return moving.resting(fig, (false, true, theme.VERMILLION), size=18)


def matrices(one: Found, p: Tensor) -> tuple[Any, Any]:
    """Edges and probabilities of all pairs, (N, N), nodes by community where there are any."""
    N = len(p)
    a = np.zeros((N, N))
    m, n = array(one.world.edges)
    a[m, n] = a[n, m] = 1
    classes = one.world.communities
    order = np.arange(N) if classes is None else np.argsort(array(classes), kind="stable")
    shown = []
    for values in (a, array(p)):
        shown.append(
            basic.heatmap(values[order][:, order], scale="probability", zmin=0, zmax=1, square=True,
                          xlabel="node n", ylabel="node m", colorbar=False, height=560)
        )  # fmt: skip
    return shown[0], shown[1]
