"""Next-token probabilities of an n-gram model, split by the order that they come from."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.tokens import escape


def stacked(labels: Sequence[str], parts: Mapping[str, Any], *, height: int = 460) -> go.Figure:
    """Horizontal bars, one a token, stacked from parts with a name and a colour each."""
    places = list(range(len(labels)))
    fig = go.Figure()
    for index, (name, values) in enumerate(parts.items()):
        v = array(values)
        fig.add_trace(
            go.Bar(
                x=v, y=places, orientation="h", name=name,
                marker={"color": theme.CATEGORIES[index % len(theme.CATEGORIES)], "line_width": 0},
                hovertext=[f"{escape(label)}, {name}: {p:.4f}" for label, p in zip(labels, v, strict=True)],
                hoverinfo="text",
            )
        )  # fmt: skip
    fig.update_yaxes(
        tickvals=places, ticktext=[escape(label) for label in labels], autorange="reversed", showgrid=False
    )
    fig.update_xaxes(title="probability", rangemode="tozero")
    fig.update_layout(barmode="stack", bargap=0.25, height=height, showlegend=True)
    return fig
