"""Charts beside a graph: what adds up to a unit, what is predicted, and what depth does."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array, rule
from lab.figures.moving import Tree, marking, turning
from pages.graph.messages.depth import Smoothing

ACCURACIES = ("layers", "training accuracy", "test accuracy")


def similarity(values: Any, classes: Any, height: int = 480) -> Tree:
    """Cosines between nodes sorted by class, the classes numbered on the axes and kept apart by lines.

    Args:
        values: (F, N, N), rows and columns in the order of `classes`.
        classes: (N,) ascending.
    """
    c = array(classes).astype(int)
    fig = basic.heatmap(values[0], scale="probability", square=True, height=height)
    present = np.unique(c)
    ticks = {
        "tickvals": [float(np.flatnonzero(c == k).mean()) for k in present],
        "ticktext": [str(k) for k in present],
    }
    fig.update_xaxes(title="class", **ticks)
    fig.update_yaxes(title="class", **ticks)
    for k in present[1:]:
        at = float(np.flatnonzero(c == k)[0]) - 0.5
        rule(fig, y=at, line={"color": theme.OUTPUT, "width": 2})
        rule(fig, x=at, line={"color": theme.OUTPUT, "width": 2})
    return turning(fig, z=values)


def differences(smooth: Smoothing, rounds: Sequence[int]) -> Tree:
    """Difference that is left between nodes, round by round."""
    lines = {"distance": smooth.distance, "rate": smooth.expected, "energy": smooth.energy}
    return marking(basic.curves(lines, xlabel="layers", log_y=True, mark=0, ends=True), rounds)


def term_colors(values: Sequence[float], step: int) -> list[str]:
    return [
        theme.fade(theme.POSITIVE if x >= 0 else theme.NEGATIVE, 1 if i <= step else 0.25)
        for i, x in enumerate(values)
    ]


def prediction(classes: Sequence[str], now: Any, before: Any = None) -> go.Figure:
    """Class probabilities of a node, (C,), beside those before the edits."""
    fig = basic.bars(
        classes, now, highlight=int(array(now).argmax()), baseline=before, names=("edited", "original"),
        probability=True, horizontal=True,
    )  # fmt: skip
    fig.update_xaxes(tickvals=[0, 0.5, 1])
    return fig


def accuracies(columns: Mapping[str, Sequence[float]]) -> go.Figure:
    """Training and test accuracy against the number of layers."""
    lines = {name: values for name, values in columns.items() if name != "layers"}
    return basic.curves(
        lines, x=columns["layers"], markers=True, xlabel="layers", ylabel="accuracy", ends=True
    )


def contributions(values: Any, names: Sequence[str], steps: int, total: float, height: int = 380) -> Tree:
    """Contribution of each sender, then of the bias, to one unit: a waterfall up to each step.

    Args:
        values: (M,) the terms in order.
        names: of the terms.
        steps: at each of them the terms up to it have arrived; later ones are pale.
        total: the sum of all terms.
    """
    v = array(values).astype(float)
    base = np.concatenate([[0.0], np.cumsum(v)[:-1]])
    fig = go.Figure(
        go.Bar(
            x=list(range(len(v))), y=v, base=base, marker={"line_width": 0},
            hovertext=[f"{name}: {x:+.4g}" for name, x in zip(names, v, strict=True)], hoverinfo="text",
        )
    )  # fmt: skip
    rule(fig, y=total, line={"color": theme.OUTPUT, "width": 3})
    each = max(1, -(-len(v) // 9))  # as many names as have room; the bias is always named
    named = sorted({*range(0, len(v) - each, each), len(v) - 1})
    fig.update_xaxes(
        showgrid=False, zeroline=False, tickvals=named, ticktext=[names[i] for i in named], tickangle=0,
        title="sender",
    )  # fmt: skip
    fig.update_layout(height=height, bargap=0.2, showlegend=False)
    return turning(fig, marker={"color": [term_colors(v.tolist(), step) for step in range(steps)]})
