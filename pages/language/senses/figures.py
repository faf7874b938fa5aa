"""Occurrences of a word as points, with the reader's own among them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, bars, scatter
from lab.figures.tokens import escape


def neighbours(words: Sequence[str], cosines: Any, kinds: Sequence[str], names: Sequence[str]) -> go.Figure:
    """The words nearest to one, coloured as the senses of `cloud`; what has none of them is grey."""
    fig = bars(words, cosines, horizontal=True, xlabel="cosine")
    colors = [theme.CATEGORIES[names.index(k)] if k in names else theme.HIDDEN for k in kinds]
    fig.update_traces(marker_color=colors)
    fig.update_layout(title="A table: one vector")
    return fig


def cloud(
    points: Any, senses: Any, names: Sequence[str], sentences: Sequence[str], at: int
) -> tuple[go.Figure, dict[str, np.ndarray]]:
    """Points (L, M, 2) of each layer coloured by sense; one more, (L, M + 1, 2), is the reader's own and a
    star. And the frames over the layers.

    Args:
        at: the layer that is drawn.
    """
    p, n, kinds = array(points), len(sentences), array(senses).astype(int)
    hover = [escape(s) for s in sentences]
    fig = scatter(p[at, :n], kinds, names=names, hover=hover, size=11, opacity=0.6, equal=False)
    groups = [kinds == kind for kind in np.unique(kinds)]
    if p.shape[1] > n:
        fig.add_scatter(
            x=[p[at, n, 0]], y=[p[at, n, 1]], mode="markers", name="yours", hoverinfo="name",
            marker={"symbol": "star", "size": 24, "color": theme.VERMILLION, "line": {"width": 2}},
        )  # fmt: skip
        groups = [*(np.append(mine, False) for mine in groups), np.arange(n + 1) == n]
    fig.update_xaxes(range=[-1.15, 1.15], showticklabels=False)
    fig.update_yaxes(range=[-1.15, 1.15], showticklabels=False)
    fig.update_layout(title="A Transformer: one a place")
    frames = {
        f"data.{i}.{axis}": p[:, mine, k] for i, mine in enumerate(groups) for k, axis in enumerate("xy")
    }
    return fig, frames
