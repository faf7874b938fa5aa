"""Occurrences of a word as points, with the reader's own among them."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, bars, scatter
from lab.figures.tokens import escape


def neighbours(words: Sequence[str], cosines: Any, kinds: Sequence[str], names: Sequence[str]) -> go.Figure:
    """The words nearest to one, coloured as the senses of `cloud`; what has none of them is grey."""
    labels = [f"{word} ({kind})" for word, kind in zip(words, kinds, strict=True)]
    fig = bars(labels, cosines, horizontal=True, xlabel="cosine", height=460)
    colors = [theme.CATEGORIES[names.index(k)] if k in names else theme.HIDDEN for k in kinds]
    fig.update_traces(marker_color=colors)
    return fig


def cloud(points: Any, senses: Any, names: Sequence[str], sentences: Sequence[str]) -> go.Figure:
    """Points (M, 2) coloured by sense; one more, (M + 1, 2), is the reader's own and a star."""
    p, n = array(points), len(sentences)
    hover = [escape(s) for s in sentences]
    fig = scatter(p[:n], senses, names=names, hover=hover, size=11, opacity=0.6, equal=False, height=460)
    if len(p) > n:
        fig.add_scatter(
            x=[p[n, 0]], y=[p[n, 1]], mode="markers", name="your sentence", hoverinfo="name",
            marker={"symbol": "star", "size": 24, "color": theme.VERMILLION, "line": {"width": 2}},
        )  # fmt: skip
    # one point is one point, not the noise of rounding spread over the page
    reach = max(1.15 * float(abs(p).max(initial=0.0)), 0.1)
    fig.update_xaxes(range=[-reach, reach], showticklabels=False)
    fig.update_yaxes(range=[-reach, reach], showticklabels=False)
    return fig
