"""A text with its repetitions, its surprisal as it grows, and curves against temperature."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves
from lab.figures.tokens import escape, wrap

LINE = 28  # characters


def text(tokens: Sequence[str], repeated: Sequence[bool], title: str, most: int = LINE) -> go.Figure:
    """A text as tokens, wrapped; those that repeat what has come before on a coloured ground."""
    x, y = wrap(tokens, most)
    again = [n for n, r in enumerate(repeated) if r]
    fig = go.Figure()
    fig.add_bar(
        x=[x[n] for n in again], y=[0.9] * len(again), base=[y[n] - 0.45 for n in again],
        width=[max(1, len(tokens[n])) for n in again], hoverinfo="skip",
        marker={"color": theme.fade(theme.VERMILLION, 0.3), "line_width": 0},
    )  # fmt: skip
    fig.add_scatter(
        x=x, y=y, mode="text", text=[escape(t) for t in tokens], hoverinfo="skip",
        textfont={"size": theme.FONT_SIZE + 4, "family": "monospace"},
    )  # fmt: skip
    rows = max(6, max(y) + 1)
    fig.update_xaxes(visible=False, range=[-1, most])
    fig.update_yaxes(visible=False, range=[rows - 0.4, -0.6])
    fig.update_layout(title=title, showlegend=False, barmode="overlay")
    return fig


def written(tokens: Sequence[str], repeated: Sequence[bool], most: int = LINE) -> dict[str, np.ndarray]:
    """The frames of `text`: at frame t its first t + 1 tokens."""
    x, _ = wrap(tokens, most)
    place, frame = np.arange(len(x)), np.arange(len(x))[:, None]
    again = place[array(repeated).astype(bool)]
    return {
        "data.0.x": np.where(again <= frame, array(x)[again], np.nan),
        "data.1.x": np.where(place <= frame, array(x), np.nan),
    }


def surprisal(lines: Mapping[str, Any], human: float | None) -> tuple[go.Figure, dict[str, np.ndarray]]:
    """Mean surprisal so far of two texts, name -> (T,), beside that of people; and the frames as it grows."""
    n = len(next(iter(lines.values())))
    flat = {"people": np.full(n, human)} if human is not None else {}
    colors = dict(zip(lines, (theme.BLUE, theme.ORANGE), strict=False)) | {"people": theme.HIDDEN}
    fig = curves(dict(lines) | flat, range(1, n + 1), ylabel="mean nats", colors=colors)
    high = max(float(array(v).max()) for v in (dict(lines) | flat).values())
    fig.update_xaxes(range=[0.5, n + 0.5])
    fig.update_yaxes(range=[0, 1.08 * high], nticks=4)
    fig.update_traces(line_dash="dash", selector={"name": "people"})
    place, frame = np.arange(n), np.arange(n)[:, None]
    return fig, {
        f"data.{i}.y": np.where(place <= frame, array(v), np.nan) for i, v in enumerate(lines.values())
    }


def against_temperature(
    temperatures: Sequence[float], distinct: Sequence[float], entropy: Sequence[float], nats: Sequence[float]
) -> go.Figure:
    """Share of different 8-token sequences (left axis), entropy and surprisal in nats (right axis)."""
    fig = go.Figure()
    for values, name, color, axis, dash in (
        (distinct, "different 8-grams", theme.BLUE, "y", "solid"),
        (entropy, "entropy (nats)", theme.ORANGE, "y2", "solid"),
        (nats, "surprisal (nats)", theme.VERMILLION, "y2", "dash"),
    ):
        fig.add_scatter(
            x=list(temperatures)[: len(values)], y=list(values), name=name, yaxis=axis, mode="lines+markers",
            line={"color": color, "width": 3, "dash": dash}, marker={"size": 9},
        )  # fmt: skip
    fig.update_xaxes(title="temperature", range=[-0.05, 1.05 * max(temperatures)])
    fig.update_layout(
        yaxis={"title": "share different", "range": [0, 1.05]},
        yaxis2={
            "title": "nats",
            "tickformat": ".1f",
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "rangemode": "tozero",
        },
    )
    return fig
