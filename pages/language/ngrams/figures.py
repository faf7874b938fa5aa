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


def by_order(result: Sequence[float], shipped: tuple[int, float], gpt: tuple[int, float]) -> go.Figure:
    """Nats per character for n = 1, 2, …; a ring at the counts that ship, and the level of the GPT.

    Args:
        shipped: order and nats. gpt: characters that it looks back at most, and nats.
    """
    order, known = shipped
    context, level = gpt
    fig = go.Figure(
        go.Scatter(
            x=list(range(1, len(result) + 1)), y=list(result), mode="lines+markers",
            name="counts, Kneser-Ney",
            line={"width": 4, "color": theme.INPUT}, marker={"size": 11},
        )
    )  # fmt: skip
    fig.add_scatter(
        x=[order], y=[known], mode="markers", name=f"ships: n = {order}, {known:.3f}",
        marker={"symbol": "circle-open", "size": 20, "color": theme.VERMILLION, "line": {"width": 4}},
    )  # fmt: skip
    fig.add_scatter(
        x=[0.7, 8.3], y=[level, level], mode="lines", name=f"GPT, up to {context} back: {level:.3f}",
        line={"width": 4, "color": theme.OUTPUT, "dash": "dash"},
    )  # fmt: skip
    fig.update_xaxes(title="order n", range=[0.7, 8.3], dtick=1)
    fig.update_yaxes(title="nats per character")
    return fig.update_layout(showlegend=True)
