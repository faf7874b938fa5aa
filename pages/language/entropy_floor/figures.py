"""Scores of many texts as a histogram, and the floor among them."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule


def texts(centres: Any, counts: Any, below: Sequence[int], floor: float) -> go.Figure:
    """Counts (K,) of texts at bits per symbol (K,); the bars `below` the floor in full colour."""
    places, heights = array(centres), array(counts)
    chosen = set(below)
    fig = go.Figure(
        go.Bar(
            x=places, y=heights, width=float(places[1] - places[0]) * 0.9 if len(places) > 1 else 0.1,
            marker={
                "color": [theme.OUTPUT if i in chosen else theme.fade(theme.OUTPUT, 0.35)
                          for i in range(len(places))],
                "line_width": 0,
            },
            hovertext=[f"{c:.3f} bits: {n} texts" for c, n in zip(places, heights, strict=True)],
            hoverinfo="text",
        )
    )  # fmt: skip
    rule(fig, x=floor, line={"color": theme.text(), "width": 3, "dash": "dot"})
    fig.add_annotation(
        x=floor, y=1, yref="paper", text="floor", showarrow=False, yanchor="bottom", xanchor="center"
    )
    if len(places) == 1:
        fig.update_xaxes(range=[floor - 0.5, floor + 0.5])
    fig.update_xaxes(title="bits per symbol of a text", nticks=6)
    fig.update_yaxes(title="texts")
    return fig
