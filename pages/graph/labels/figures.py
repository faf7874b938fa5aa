"""Nodes in the colours of the classes that a network gives them, and curves over the steps."""

import numpy as np
from torch import Tensor

from lab.figures import networks, theme
from lab.figures.basic import array, curves
from lab.figures.moving import Tree, merged, resting
from pages.graph.labels.lens import Spread, certainty
from pages.graph.labels.room import STEPS

HEIGHT, MANY = 540, 40
NETWORKS = "graph network", "dense network"


def tints(p: Tensor) -> list[list[str]]:
    """Colours (F, N) of class probabilities (F, N, C): the class's own, the paler the less sure."""
    hexes = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (theme.paper(), *theme.CATEGORIES)])
    sure = array(certainty(p))[..., None]
    mixed = sure * hexes[1 + array(p.argmax(-1))] + (1 - sure) * hexes[0]
    return [
        ["#{:02X}{:02X}{:02X}".format(*rgb) for rgb in row] for row in np.rint(mixed).astype(int).tolist()
    ]


def verdicts(one: Spread, p: Tensor) -> list[list[str]]:
    """What is said of each node in each frame, (F, N)."""
    guess, top = p.argmax(-1).tolist(), p.amax(-1).tolist()
    told = dict(zip(one.nodes.tolist(), one.labels.tolist(), strict=True))
    true = None if one.world.classes is None else one.world.classes.tolist()
    ends = [
        (f"; told {told[n]}" if n in told else "; test" if one.test[n] else "")
        + ("" if true is None else f"; true class {true[n]}")
        for n in range(p.shape[1])
    ]
    return [
        [f"node {n}: class {c}, {100 * q:.0f} %{ends[n]}" for n, (c, q) in enumerate(zip(*row, strict=True))]
        for row in zip(guess, top, strict=True)
    ]


def nodes(one: Spread, positions: Tensor, which: int) -> Tree:
    """All nodes as one of the networks sees them: labelled ones have thick rings, wrong ones red rings.

    Args:
        which: 0 the graph network, 1 the dense one, which has no edges.
    """
    p, N = one.p[:, which], len(one.test)
    edges = one.edges if which == 0 else one.edges[:, :0]
    hidden = one.test[edges].any(0) if one.unseen else one.test.new_zeros(edges.shape[1])
    away = [(a, b) for a, b in edges[:, hidden].T.tolist() if a < b]
    told = np.zeros(N, bool)
    told[array(one.nodes)] = True
    fig = networks.network(positions, edges[:, ~hidden], removed=away, labelled=told, height=HEIGHT)
    fig.update_traces(line={"color": theme.HIDDEN, "width": 1.5}, selector={"name": "cut"})
    fig.update_layout(showlegend=False)
    at = next(i for i, trace in enumerate(fig.data) if trace.customdata is not None)
    colors, guess = tints(p), array(p.argmax(-1))
    wrong = np.zeros_like(guess, bool) if one.world.classes is None else guess != array(one.world.classes)
    rings = [[theme.VERMILLION if bad else theme.text() for bad in row] for row in wrong.tolist()]
    few = N <= MANY
    widths = np.where(told, 5, np.where(wrong, 3, 1))
    fig.data[at].marker.size = 28 if few else 17
    if not few:
        fig.data[at].mode = "markers"
    tree = fig.to_plotly_json()
    data = list(tree["data"])
    leaves = {
        "hovertext": verdicts(one, p),
        "marker": {"color": colors, "line": {"color": rings, "width": widths}},
    }
    if few:
        leaves["textfont"] = {
            "size": [15] * len(p),
            "color": [[networks.ink(c) for c in row] for row in colors],
        }
    data[at] = merged(data[at], leaves)
    return tree | {"data": data}


def accuracies(one: Spread) -> Tree:
    """Share of test nodes that each network gets right, and of labelled ones, step by step."""
    known = one.world.classes is not None
    values = one.right if known else one.fitted
    lines = {name: values[:, k] for k, name in enumerate(NETWORKS)}
    colors = dict(zip(NETWORKS, (theme.OUTPUT, theme.INPUT), strict=True))
    what = "test nodes right" if known else "labelled nodes right"
    fig = curves(lines, list(STEPS), ends=True, colors=colors, xlabel="step", ylabel=what, height=HEIGHT)
    fig.update_yaxes(range=[-0.03, 1.05], tickformat=".0%")
    return resting(fig, *((list(STEPS), array(v).tolist(), colors[name]) for name, v in lines.items()))


def losses(one: Spread) -> Tree:
    """Loss of each network on the labelled nodes, step by step."""
    lines = {name: one.loss[:, k] for k, name in enumerate(NETWORKS)}
    colors = dict(zip(NETWORKS, (theme.OUTPUT, theme.INPUT), strict=True))
    fig = curves(lines, list(STEPS), ends=True, colors=colors, xlabel="step",
                 ylabel="loss, nats per label", height=HEIGHT)  # fmt: skip
    fig.update_yaxes(rangemode="tozero")
    return resting(fig, *((list(STEPS), array(v).tolist(), colors[name]) for name, v in lines.items()))
