"""The course of an hour: one bar a stop, from when to when."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme


def hour(names: Sequence[str], minutes: Sequence[float], own: Sequence[bool]) -> go.Figure:
    """Bars from top to bottom, each from the minute at which its stop begins.

    Args:
        own: of the family in question; the others are pale.
    """
    begins = [sum(minutes[:i]) for i in range(len(minutes))]
    place = list(range(len(names)))  # a name may come twice
    bars = go.Bar(
        x=list(minutes), y=place, base=begins, orientation="h", hoverinfo="text",
        hovertext=[f"{n}: from {b:g} to {b + m:g}" for n, b, m in zip(names, begins, minutes, strict=True)],
        marker={
            "color": [theme.OUTPUT if mine else theme.fade(theme.OUTPUT, 0.35) for mine in own],
            "line": {"width": 0},
        },
    )  # fmt: skip
    axes = {
        "xaxis": {"title": "minute", "range": [0, sum(minutes)], "zeroline": False},
        "yaxis": {
            "tickmode": "array", "tickvals": place, "ticktext": list(names), "autorange": "reversed",
            "showgrid": False, "zeroline": False,
        },
    }  # fmt: skip
    return go.Figure(bars, {**axes, "bargap": 0.25, "showlegend": False})
