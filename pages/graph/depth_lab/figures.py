"""A graph in the plane of its nodes' states, influences on its nodes, and curves over layers and steps."""

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import basic, networks, theme
from lab.figures.basic import array, curves, rule
from lab.figures.moving import Tree, marking, per_frame, resting, turning
from pages.graph.depth_lab.lens import LEAST, Influences, Smoothing
from pages.graph.depth_lab.room import STEPS
from pages.graph.depth_lab.training import Trained

HEIGHT = 520


def states(one: Smoothing) -> Tree:
    """Nodes at their states, joined where there is an edge, in each frame; the origin is marked."""
    p, pairs = array(one.places), array(one.edges).T
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    gap = np.full((len(p), len(pairs), 1), np.nan)
    x, y = (np.concatenate([p[:, pairs, axis], gap], 2).reshape(len(p), -1) for axis in (0, 1))
    classes = array(one.world.classes)
    fig = go.Figure(
        go.Scatter(x=x[0], y=y[0], mode="lines", hoverinfo="skip", showlegend=False,
                   line={"color": theme.fade(theme.HIDDEN, 0.5), "width": 1.2})
    )  # fmt: skip
    present = np.unique(classes).tolist()
    for c in present:
        mine = np.flatnonzero(classes == c)
        fig.add_scatter(
            x=p[0, mine, 0], y=p[0, mine, 1], mode="markers", name=one.world.names[c],
            hovertext=[f"node {n}" for n in mine], hoverinfo="text", showlegend=len(present) > 1,
            marker={"size": 16, "color": theme.CATEGORIES[c], "line": {"width": 1, "color": theme.text()}},
        )  # fmt: skip
    fig.add_scatter(
        x=[0], y=[0], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"symbol": "cross-thin", "size": 22, "line": {"width": 3, "color": theme.text()}},
    )  # fmt: skip
    low, high = p.min((0, 1)), p.max((0, 1))
    room = 0.06 * float((high - low).max() or 1.0)
    fig.update_xaxes(range=[low[0] - room, high[0] + room], showticklabels=False, zeroline=True)
    fig.update_yaxes(
        range=[low[1] - room, high[1] + room], showticklabels=False, zeroline=True, scaleanchor="x"
    )
    fig.update_layout(height=HEIGHT)
    tree = turning(fig, 0, x=x, y=y)
    for at, c in enumerate(present, 1):
        mine = np.flatnonzero(classes == c)
        tree = turning(tree, at, x=p[:, mine, 0], y=p[:, mine, 1])
    return tree


def fall(one: Smoothing) -> Tree:
    """Distance of the network and of the graph alone to the dominant eigenspace, and the rate's line."""
    lines = {"network": one.far, "graph alone": one.alone, "rate": one.expected}
    fig = curves(
        {name: np.maximum(array(line), LEAST) for name, line in lines.items()}, log_y=True, mark=0, ends=True,
        xlabel="layer", ylabel="share outside", height=HEIGHT,
        colors={"network": theme.OUTPUT, "graph alone": theme.INPUT, "rate": theme.HIDDEN},
    )  # fmt: skip
    fig.data[2].line.dash = "dash"
    lowest = max(min(float(array(one.far).min()), float(array(one.alone).min())), LEAST)
    fig.update_yaxes(range=[min(np.log10(lowest), -1) - 0.2, 0.2], dtick=1)
    return marking(fig, range(len(one.far)))


def influences(one: Influences, positions: Tensor, node: int) -> Tree:
    """The graph; a node's colour is its share in the influence of the frame, over the largest one."""
    v = array(one.gradient)
    v = v / np.maximum(v.max(1, keepdims=True), 1e-300)
    fig = networks.network(positions, one.edges, values=v[0], selected=node, height=HEIGHT)
    at = next(i for i, trace in enumerate(fig.data) if trace.marker.colorscale is not None)
    fig.data[at].marker.update(cmin=0, cmax=1)
    dark = v > 0.55 if theme.mode() == "light" else v <= 0.55
    tree = turning(fig, at, marker={"color": v})
    tree["data"][at]["textfont"] = {
        "size": 15,
        "color": per_frame([["#FFFFFF" if d else "#1B2026" for d in row] for row in dark]),
    }
    return tree


def shares(one: Influences) -> Tree:
    """Share of all nodes at each distance, by gradients and by walks, and by walks just long enough."""
    r = np.arange(len(one.first))
    lines = {"gradients": one.by_gradient[0], "walks": one.by_walk[0], "walks, K = r": one.first}
    fig = basic.curves(
        {name: (r, np.maximum(array(v), LEAST)) for name, v in lines.items()}, log_y=True, markers=True,
        xlabel="distance r", ylabel="share of the influence", height=HEIGHT, ends=True,
        colors={"gradients": theme.OUTPUT, "walks": theme.INPUT, "walks, K = r": theme.HIDDEN},
    )  # fmt: skip
    fig.data[2].line.dash = "dash"
    seen = np.concatenate([array(v).ravel() for v in (one.by_gradient, one.by_walk, one.first)])
    low = np.log10(max(float(seen[seen > LEAST].min()), LEAST))
    fig.update_yaxes(range=[low - 0.3, 0.2], dtick=1)
    fig.update_xaxes(range=[-0.2, len(r) - 0.8], dtick=1 if len(r) <= 8 else None)
    tree = turning(fig, 0, y=np.where(array(one.by_gradient) > LEAST, array(one.by_gradient), np.nan))
    return turning(tree, 1, y=np.where(array(one.by_walk) > LEAST, array(one.by_walk), np.nan))


def accuracies(one: Trained) -> Tree:
    """Accuracy on training and on other nodes, step by step."""
    steps, lines = list(STEPS), {"training nodes": one.train, "other nodes": one.test}
    colors = {"training nodes": theme.OUTPUT, "other nodes": theme.INPUT}
    fig = curves(lines, steps, ends=True, colors=colors, xlabel="step", ylabel="accuracy", height=HEIGHT)
    fig.update_yaxes(range=[0, 1.05], tickformat=".0%")
    rule(fig, y=0.25, line={"color": theme.HIDDEN, "width": 2, "dash": "dot"},
         annotation={"text": "chance", "font": {"size": 18}})  # fmt: skip
    dots = ((steps, array(v).tolist(), colors[name]) for name, v in lines.items())
    return resting(fig, *dots)


def gradients(one: Trained) -> Tree:
    """Norm of the gradient in each layer's weights, in each frame."""
    g = np.maximum(array(one.gradients), 1e-30)
    K = g.shape[1]
    fig = curves({"gradient": g[0]}, np.arange(1, K + 1), markers=True, log_y=True, xlabel="layer",
                 ylabel="gradient norm", colors={"gradient": theme.ATTENTION}, height=HEIGHT)  # fmt: skip
    fig.update_layout(showlegend=False)
    low, high = np.log10(max(float(g.min()), 1e-10)), np.log10(float(g.max()))
    fig.update_yaxes(range=[low - 0.3, high + 0.3], exponentformat="power")
    return turning(fig, 0, y=g)
