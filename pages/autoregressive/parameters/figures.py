"""Counts of numbers and of multiplications on logarithmic scales, and a race in columns."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import curves


def counts(lines: Mapping[str, Any], sizes: Sequence[int], mark: int) -> go.Figure:
    """Free numbers against n; of two curves that are one the second is dotted over the first, so that both
    are seen."""
    fig = curves(lines, sizes, xlabel="variables n", ylabel="numbers", log_y=True, mark=mark)
    for index, trace in enumerate(fig.data):
        twins = [one for one in fig.data if list(one.y) == list(trace.y)]
        later = twins[0] is not trace
        trace.line.update(width=4 if later or len(twins) == 1 else 9, dash="dot" if later else "solid")
        trace.update(mode="lines+markers", marker={"size": 9, "opacity": 0.01}, legendrank=index)
    fig.update_yaxes(exponentformat="power", nticks=7)
    fig.update_layout(
        legend={"orientation": "v", "x": 0.02, "y": 1, "yanchor": "top", "bgcolor": theme.paper()}
    )
    return fig.update_layout(margin_t=16)


def work(names: Sequence[str], columns: Mapping[str, Sequence[float | None]]) -> go.Figure:
    """Multiplications of each model, one kind a colour, a later kind smaller: where they are equal both are
    seen. 0 cannot stand on a logarithmic scale, and None was not counted: both are words."""
    fig = go.Figure()
    looks = ((theme.INPUT, 22), (theme.OUTPUT, 12), (theme.HIDDEN, 15))
    for (kind, values), (color, size) in zip(columns.items(), looks, strict=True):
        known = [v or None for v in values]
        fig.add_trace(
            go.Scatter(
                x=known, y=list(names), name=kind, mode="markers", marker={"size": size, "color": color}
            )
        )
    for name, first in zip(names, next(iter(columns.values())), strict=True):
        if not first:
            text = "too large to be made" if first is None else "none: looked up"
            fig.add_annotation(x=0.03, xref="x domain", xanchor="left", y=name, text=text, showarrow=False,
                               font={"color": theme.soft()})  # fmt: skip
    fig.update_xaxes(type="log", exponentformat="power", dtick=1, title="multiplications")
    fig.update_yaxes(autorange="reversed", categoryorder="array", categoryarray=list(names))
    legend = {"orientation": "v", "x": 0, "y": 1.02, "yanchor": "bottom"}
    return fig.update_layout(legend=legend, margin_t=90)


def race(names: Sequence[str], columns: Mapping[str, Sequence[float]], full: Sequence[bool]) -> go.Figure:
    """Bars in columns that share their rows; columns but the cost in nats are logarithmic, and rows that are
    not `full` are pale. Each bar ends in its number."""
    fig = make_subplots(1, len(columns), shared_yaxes=True, horizontal_spacing=0.03)
    for place, (title, values) in enumerate(columns.items(), start=1):
        log = "nats" not in title
        colors = [theme.OUTPUT if one else theme.fade(theme.OUTPUT, 0.3) for one in full]
        texts = [f"{v:,.0f}" if v >= 100 else f"{v:.1f}" for v in values]
        fig.add_trace(
            go.Bar(x=list(values), y=list(names), orientation="h", marker_color=colors, text=texts,
                   textposition="outside", cliponaxis=False, hoverinfo="skip", textangle=0,
                   textfont_size=theme.FONT_SIZE - 2),
            row=1, col=place,
        )  # fmt: skip
        low, high = min(values), max(values)
        axis = f"xaxis{place if place > 1 else ''}"
        fig.layout[axis].update(
            title=title, type="log" if log else "linear", showticklabels=False, showgrid=False, side="top",
            range=exponents(low, high) if log else [0, 1.45 * high],
        )  # fmt: skip
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig.update_layout(showlegend=False, bargap=0.3, margin_t=40)


def exponents(low: float, high: float) -> list[float]:
    """A logarithmic axis with room for the numbers behind its bars."""
    bottom, top = log10(low) - 0.5, log10(high)
    return [bottom, top + 0.75 * (top - bottom)]
