"""The graph of what waits for what, step by step; times and counts over the length."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves
from lab.figures.moving import Tree, turning
from pages.recurrent.cost.lens import ATTENTION, GRU, LENGTHS, LSTM, RNN, Net, Node, Times
from pages.recurrent.cost.room import PRODUCTS

COLORS = {RNN: theme.VERMILLION, GRU: theme.SKY, LSTM: theme.GREEN, ATTENTION: theme.ATTENTION}


def joined(edges: list[tuple[Node, Node]], length: int) -> tuple[list[float], list[float]]:
    """Lines from parents to children, of so many edges; NaN between them and where there are fewer."""
    xs, ys = [], []
    for (low, s), (high, t) in edges:
        xs += [s + 1, t + 1, np.nan]
        ys += [low, high, np.nan]
    return [array + [np.nan] * (3 * length - len(array)) for array in (xs, ys)]  # type: ignore[return-value]


def waiting(net: Net, steps: np.ndarray, count: int, name: str) -> Tree:
    """States as dots over positions and layers: known, computed in this step with what they wait for, and
    not yet known; inputs as squares below."""
    color = theme.ATTENTION if net.attention else theme.OUTPUT
    nodes = net.states
    inputs: list[Node] = [(0, t) for t in range(net.length)]
    edges = [(parent, node) for node in [*inputs, *nodes] for parent in net.parents(node)]
    when = {node: int(steps[node[0] - 1, node[1]]) for node in nodes}
    now = [[edge for edge in edges if when.get(edge[1]) == step] for step in range(1, count + 1)]
    most = max(map(len, now))
    lines = [joined(each, most) for each in now]
    fills = [
        [color if when[n] == step else theme.HIDDEN if when[n] < step else theme.paper() for n in nodes]
        for step in range(1, count + 1)
    ]
    all_x, all_y = joined(edges, len(edges))
    how: dict[str, Any] = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
    fig = go.Figure()
    fig.add_scatter(x=all_x, y=all_y, line={"color": theme.fade(theme.HIDDEN, 0.5), "width": 2}, **how)
    fig.add_scatter(x=lines[0][0], y=lines[0][1], line={"color": color, "width": 4}, **how)
    for kind, size, symbol, fill in ((inputs, 16, "square", theme.INPUT), (nodes, 24, "circle", "")):
        fig.add_scatter(
            x=[t + 1 for _, t in kind], y=[layer for layer, _ in kind], mode="markers", showlegend=False,
            hoverinfo="skip", cliponaxis=False,
            marker={"size": size, "symbol": symbol, "color": fill or fills[0],
                    "line": {"color": theme.text(), "width": 2}},
        )  # fmt: skip
    levels = range(net.layers + 1)
    fig.update_xaxes(title="position t", dtick=1, range=[0.4, net.length + 0.6], showgrid=False)
    fig.update_yaxes(
        tickvals=list(levels), ticktext=["input", *(f"layer {i}" for i in levels[1:])], showgrid=False,
        range=[-0.25, net.layers + 0.25], zeroline=False,
    )  # fmt: skip
    fig.update_layout(title=name, height=400)
    tree = turning(fig, 1, x=[x for x, _ in lines], y=[y for _, y in lines])
    return turning(tree, 3, marker={"color": fills})


def over_length(lines: dict[str, list[float]], lengths: list[int], ylabel: str) -> Tree:
    """One line of each kind over T, both axes logarithmic."""
    fig = curves(
        {kind: (lengths[: len(line)], line) for kind, line in lines.items()}, markers=True, log_x=True,
        log_y=True, ends=True, colors=COLORS, xlabel="length T", ylabel=ylabel,
    )  # fmt: skip
    fig.update_xaxes(tickvals=[16, 64, 256, 1024], ticktext=["16", "64", "256", "1,024"])
    fig.update_yaxes(dtick=1, exponentformat="power")
    tree: Tree = fig.to_plotly_json()
    return tree


def clock(times: Times) -> Tree:
    milliseconds = {kind: [1000 * s for s in line] for kind, line in times.seconds.items() if line}
    return over_length(milliseconds, times.lengths, f"milliseconds, H = {times.width}")


def counts(lines: dict[str, list[int]], count: str, width: int) -> Tree:
    name = "multiplications" if count == PRODUCTS else "numbers kept"
    return over_length(
        {kind: [float(v) for v in line] for kind, line in lines.items()},
        list(LENGTHS),
        f"{name}, H = {width}",
    )
