"""Computation trees level by level, a graph in parts and its batches, and the noise of gradients."""

import numpy as np
from torch import Tensor

from lab.figures import networks, theme
from lab.figures.basic import array, curves, heatmap
from lab.figures.moving import Tree, per_frame, turning
from pages.graph.sampling import lens
from pages.graph.sampling.lens import SIZES, Noise, Parts
from pages.graph.sampling.soft import Soft

HEIGHT, LEAST = 540, 1e-6
DIM = 0.12


def tree(one: lens.Tree, count: int) -> Tree:
    """Levels from the answer on the right to the inputs on the left; frame k shows k steps back.

    A node stands at one height in all levels; grey lines are what it keeps of itself.
    """
    K = len(one.edges)
    data = list[dict[str, object]]()

    def add(trace: dict[str, object], level: int) -> None:
        seen = per_frame([1.0 if k >= level else 0.0 for k in range(K + 1)])
        data.append({"type": "scatter", "showlegend": False, "opacity": seen, **trace})

    def lines(pairs: np.ndarray, level: int, color: str, width: float) -> None:
        """pairs (M, 2): heights in level + 1 and in level."""
        gap = np.full(len(pairs), np.nan)
        x = np.stack([gap * 0 - level - 1, gap * 0 - level, gap], 1)
        x[:, :2] = [-level - 1, -level]
        y = np.stack([-pairs[:, 0], -pairs[:, 1], gap], 1)
        add({"x": x.ravel(), "y": y.ravel(), "mode": "lines", "hoverinfo": "skip",
             "line": {"color": color, "width": width}}, level + 1)  # fmt: skip

    for level, (edges, kept) in enumerate(zip(one.edges, one.levels, strict=False)):
        lines(np.stack([array(kept)] * 2, 1).astype(float), level, theme.fade(theme.HIDDEN, 0.5), 1)
        lines(array(edges).T.astype(float), level, theme.fade(theme.ATTENTION, 0.7), 2)
    for level, nodes in enumerate(one.levels):
        color = theme.OUTPUT if level == 0 else theme.INPUT if level == K else theme.HIDDEN
        numbers = nodes.tolist()
        add({"x": [-level] * len(numbers), "y": [-n for n in numbers], "mode": "markers+text",
             "text": [str(n) for n in numbers], "textposition": "middle center",
             "textfont": {"size": 13, "color": networks.ink(color)}, "hoverinfo": "text",
             "hovertext": [f"node {n}, {level} steps back" for n in numbers],
             "marker": {"size": 22, "color": color, "line": {"width": 1, "color": theme.text()}}},
            level)  # fmt: skip
    names = ["answer", *(f"{k} back" for k in range(1, K)), "inputs"]
    layout = {
        "height": HEIGHT,
        "xaxis": {"range": [-K - 0.25, 0.25], "tickvals": [-k for k in range(K + 1)], "ticktext": names,
                  "showgrid": False, "zeroline": False},
        "yaxis": {"visible": False, "range": [-count + 0.2, 0.8]},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def whole(one: Parts, positions: Tensor) -> Tree:
    """The graph in the colours of its parts, cut edges dotted."""
    across = one.parts[one.edges[0]] != one.parts[one.edges[1]]
    away = [(a, b) for a, b in one.edges[:, across].T.tolist() if a < b]
    fig = networks.network(
        positions, one.edges[:, ~across], classes=one.parts, removed=away, height=HEIGHT,
        names=[f"part {p}" for p in range(len(one.between))],
        hover=[f"node {n}, part {p}" for n, p in enumerate(one.parts.tolist())],
    )  # fmt: skip
    fig.update_layout(showlegend=False)
    return fig.to_plotly_json()


def batches(one: Parts, positions: Tensor) -> Tree:
    """In each frame the nodes of a batch and the edges among them; all else is pale."""
    p, parts = array(positions), array(one.parts)
    fig = networks.network(positions, one.edges[:, :0], classes=one.parts, height=HEIGHT)
    fig.update_layout(showlegend=False)
    tree = fig.to_plotly_json()
    for trace in tree["data"]:
        if trace.get("customdata") is not None:
            mine = int(parts[trace["customdata"][0][0]])
            trace["opacity"] = per_frame([1.0 if mine in chosen else DIM for chosen in one.batches])
    pairs = array(one.edges).T
    pairs = pairs[pairs[:, 0] < pairs[:, 1]].astype(int)
    xs, ys = [], []
    for chosen in one.batches:
        kept = np.isin(parts[pairs[:, 0]], chosen) & np.isin(parts[pairs[:, 1]], chosen)
        ends = np.where(kept[:, None, None], p[pairs], np.nan)
        gap = np.full((len(pairs), 1), np.nan)
        xs.append(np.hstack([ends[..., 0], gap]).ravel())
        ys.append(np.hstack([ends[..., 1], gap]).ravel())
    line = {
        "type": "scatter", "mode": "lines", "name": "kept", "hoverinfo": "skip", "showlegend": False,
        "connectgaps": False, "x": per_frame(np.stack(xs)), "y": per_frame(np.stack(ys)),
        "line": {"color": theme.HIDDEN, "width": 2.5},
    }  # fmt: skip
    return tree | {"data": [line, *tree["data"]]}


def mixed(one: Soft, positions: Tensor) -> Tree:
    """The graph; in each frame a node has the mean of the colours of its parts, by how far it is in each."""
    K = one.s.shape[2]
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in theme.CATEGORIES[:K]], float)
    shades = np.rint(array(one.s) @ rgb).astype(int)  # (F, N, 3)
    colors = [[f"#{r:02X}{g:02X}{b:02X}" for r, g, b in frame] for frame in shades.tolist()]
    fig = networks.network(positions, one.edges, height=HEIGHT)
    fig.update_layout(showlegend=False)
    tree = fig.to_plotly_json()
    for trace in tree["data"]:
        if trace.get("customdata") is not None:
            trace["marker"]["color"] = per_frame(colors)
            trace["textfont"] = {"color": per_frame([[networks.ink(c) for c in frame] for frame in colors])}
    return tree


def pooled(one: Soft) -> Tree:
    """SᵀAS in each frame, the largest of its weights darkest."""
    z = array(one.between / one.between.amax((1, 2), keepdim=True).clamp(min=1e-9))
    K = z.shape[1]
    fig = heatmap(
        z[0], scale="probability", zmin=0, zmax=1, xlabel="part", ylabel="part", square=True,
        colorbar=False, height=HEIGHT, hover=False,
    )  # fmt: skip
    fig.update_xaxes(tickvals=list(range(K)))
    fig.update_yaxes(tickvals=list(range(K)))
    tree = turning(fig, z=z)
    row, column = np.indices((K, K))
    texts = [[f"{v:.1f}" for v in frame] for frame in array(one.between.flatten(1)).tolist()]
    strong, weak = ("#1B2026", "#FFFFFF") if theme.mode() == "dark" else ("#FFFFFF", "#1B2026")
    inks = [[strong if v > 0.55 else weak for v in frame.ravel()] for frame in z]
    font = {"size": 24 if K <= 4 else 14, "color": per_frame(inks)}
    tree["data"].append({
        "type": "scatter", "mode": "text", "x": column.ravel(), "y": row.ravel(), "hoverinfo": "skip",
        "text": per_frame(texts), "textfont": font, "showlegend": False,
    })  # fmt: skip
    return tree


def noise(one: Noise) -> Tree:
    """Deviation and bias of sampled gradients against the neighbours kept; Cora's deviation beside."""
    s = np.array(SIZES, float)
    lines = {
        "deviation": (s, array(one.deviation)), "bias": (s, array(one.bias)),
        "deviation, Cora": (array(one.cora[:, 0]), array(one.cora[:, 1])),
    }  # fmt: skip
    drawn = {name: (x, np.where(y > LEAST, y, np.nan)) for name, (x, y) in lines.items()}
    fig = curves(
        drawn, markers=True, ends=True, xlabel="neighbours kept s", ylabel="share of the gradient's length",
        height=HEIGHT,
        colors={"deviation": theme.OUTPUT, "bias": theme.HIDDEN, "deviation, Cora": theme.INPUT},
    )  # fmt: skip
    fig.update_yaxes(rangemode="tozero")
    return fig.to_plotly_json()
