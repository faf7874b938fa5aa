"""Counts remembered by a few dimensions: the matrix with its counted cells, and the singular values."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.tokens import escape


def remembered(approximation: Any, counted: Any, words: Sequence[str], top: float) -> go.Figure:
    """A matrix (n, n) on a scale from 0 to `top`, with a dot in each cell that is not 0 in `counted`."""
    names = [escape(word) for word in words]
    fig = basic.heatmap(approximation, names, names, zmin=0.0, zmax=top, xlabel="", ylabel="")
    fig.update_traces(hoverinfo="skip", xgap=0, ygap=0)
    rows, columns = array(counted).nonzero()
    fig.add_scatter(
        x=columns, y=rows, mode="markers", marker={"size": 5, "color": theme.ORANGE}, showlegend=False,
        hovertext=[f"{names[i]} → {names[j]}: {array(counted)[i, j]:.4g}"
                   for i, j in zip(rows, columns, strict=True)], hoverinfo="text",
    )  # fmt: skip
    fig.update_xaxes(tickangle=-90, tickfont={"size": theme.FONT_SIZE - 4})
    fig.update_yaxes(tickfont={"size": theme.FONT_SIZE - 4})
    return fig


def kept(spectrum: Any, d: int) -> go.Figure:
    """Singular values (V,), the first d in full colour."""
    values = array(spectrum)
    fig = go.Figure(
        go.Bar(
            x=list(range(1, len(values) + 1)), y=values, hovertemplate="σ%{x} = %{y:.4f}<extra></extra>",
            marker={"color": colors(len(values), d), "line_width": 0},
        )
    )  # fmt: skip
    fig.update_xaxes(title="i", nticks=6)
    fig.update_yaxes(title="σᵢ", nticks=5)
    return fig


def colors(count: int, d: int) -> list[str]:
    """Full for the first d of `count`, pale for the rest."""
    return [theme.OUTPUT] * d + [theme.fade(theme.OUTPUT, 0.35)] * (count - d)


def neighbours(words: Sequence[str], cosines: Any, whole: Any) -> go.Figure:
    """Bars of cosines in d dimensions beside those of whole rows; the nearest word on top."""
    return basic.bars(
        list(words), cosines, baseline=whole, horizontal=True, xlabel="cosine", names=("kept", "whole rows")
    )
