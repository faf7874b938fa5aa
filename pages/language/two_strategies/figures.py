"""A text with its repetitions, and curves against temperature."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.tokens import escape, wrap


def text(tokens: Sequence[str], repeated: Sequence[bool], most: int = 34) -> go.Figure:
    """A text as tokens, wrapped; those that repeat what has come before on a coloured ground."""
    x, y = wrap(tokens, most)
    fig = go.Figure()
    mine = [n for n, again in enumerate(repeated) if again]
    if mine:
        fig.add_bar(
            x=[x[n] for n in mine], y=[0.9] * len(mine), base=[y[n] - 0.45 for n in mine],
            width=[max(1, len(tokens[n])) for n in mine], hoverinfo="skip",
            marker={"color": theme.fade(theme.VERMILLION, 0.3), "line_width": 0},
        )  # fmt: skip
    fig.add_scatter(
        x=x, y=y, mode="text", text=[escape(t) for t in tokens], hoverinfo="skip",
        textfont={"size": theme.FONT_SIZE - 2, "family": "monospace"},
    )  # fmt: skip
    rows = max(y) + 1
    fig.update_xaxes(visible=False, range=[-1, most])
    fig.update_yaxes(visible=False, range=[rows - 0.4, -0.6])
    fig.update_layout(
        height=int(40 + 28 * rows), margin={"t": 8, "b": 8}, showlegend=False, barmode="overlay"
    )
    return fig


def against_temperature(
    temperatures: Sequence[float], distinct: Sequence[float], entropy: Sequence[float], nats: Sequence[float]
) -> go.Figure:
    """Share of different 8-token sequences (left axis), entropy and surprisal in nats (right axis)."""
    fig = go.Figure()
    for values, name, color, axis, dash in (
        (distinct, "different 8-token sequences", theme.BLUE, "y", "solid"),
        (entropy, "entropy (nats)", theme.ORANGE, "y2", "solid"),
        (nats, "surprisal at own text (nats)", theme.VERMILLION, "y2", "dash"),
    ):
        fig.add_scatter(
            x=list(temperatures), y=list(values), name=name, yaxis=axis, mode="lines+markers",
            line={"color": color, "width": 3, "dash": dash}, marker={"size": 9},
        )  # fmt: skip
    fig.update_xaxes(title="temperature")
    fig.update_layout(
        height=400,
        yaxis={"title": "share different", "range": [0, 1.05]},
        yaxis2={
            "title": "nats",
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "rangemode": "tozero",
        },
    )
    return fig
