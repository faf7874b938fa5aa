"""A stack of layers with the paths into one of its units."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_targets


def cone(
    centres: Sequence[Any],
    lit: Sequence[Any],
    edges: Sequence[Any],
    padding: Sequence[Sequence[float]] = (),
    names: Sequence[str] = (),
    height: int = 460,
) -> go.Figure:
    """A stack of layers, inputs at the bottom, every unit above the middle of its field; paths lit.

    A click reports customdata = [layer, unit]; layer 0 is the input.

    Args:
        centres: per layer (n,) where each unit stands, in inputs.
        lit: per layer (n,) bool: the chosen unit and what reaches it.
        edges: per layer above the input (n, n below) bool: who reads whom.
        padding: per layer, where the zeros around it stand.
        names: of the layers.
    """
    fig = go.Figure()
    xs: list[float | None] = []
    ys: list[float | None] = []
    for k, matrix in enumerate(edges, 1):
        upper, lower = array(centres[k]), array(centres[k - 1])
        on, below = array(lit[k]).astype(bool), array(lit[k - 1]).astype(bool)
        for i, j in zip(*np.nonzero(array(matrix)), strict=True):
            if on[i] and below[j]:
                xs += [float(upper[i]), float(lower[j]), None]
                ys += [k, k - 1, None]
    fig.add_scatter(
        x=xs, y=ys, mode="lines", hoverinfo="skip", showlegend=False,
        line={"color": theme.fade(theme.ORANGE, 0.7), "width": 2},
    )  # fmt: skip
    for k, row in enumerate(padding):
        if len(row):
            fig.add_scatter(
                x=list(row), y=[k] * len(row), mode="markers", hovertext="zero padding", hoverinfo="text",
                showlegend=False,
                marker={"symbol": "x-thin", "size": 9, "line": {"width": 2, "color": theme.HIDDEN}},
            )  # fmt: skip
    last = len(centres) - 1
    size = max(7, min(18, 400 // max(len(c) for c in centres)))
    for k, row in enumerate(centres):
        on = array(lit[k]).astype(bool)
        color = theme.INPUT if k == 0 else theme.OUTPUT if k == last else theme.HIDDEN
        fig.add_scatter(
            x=array(row), y=[k] * len(on), mode="markers", showlegend=False, hoverinfo="skip",
            marker={"size": size, "color": [color if o else theme.fade(color, 0.25) for o in on]},
        )  # fmt: skip
    where = [(k, i, float(c)) for k, row in enumerate(centres) for i, c in enumerate(array(row))]
    targets = click_targets(
        [c for _, _, c in where], [k for k, _, _ in where], [[k, i] for k, i, _ in where],
        [f"{names[k] if names else k}: unit {i}" for k, i, _ in where], size + 4,
    )  # fmt: skip
    fig.add_trace(targets)
    ends = [float(v) for row in (*centres, *padding) for v in array(row)]
    fig.update_xaxes(showgrid=False, range=[min(ends) - 1, max(ends) + 1])
    fig.update_yaxes(
        tickvals=list(range(len(centres))), ticktext=list(names), showgrid=False, zeroline=False,
        range=[-0.4, last + 0.4],
    )  # fmt: skip
    fig.update_layout(height=height, hoverdistance=12, meta=theme.SHRINKING)
    return fig


def under(stack: go.Figure, field: go.Figure) -> go.Figure:
    """The field of a signal with its inputs below those of the stack; that of a picture as it is."""
    if field.layout.xaxis2.range:  # two rows: the signal and what was found
        field.update_xaxes(range=stack.layout.xaxis.range)
        field.update_layout(xaxis2_title="input position")
    return field
