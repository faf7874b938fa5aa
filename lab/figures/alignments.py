"""Attention weights γ of a decoder, a row for each word that it writes."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap, ticks
from lab.figures.moving import per_frame, turning


def growing(gamma: Any, source: Sequence[str], names: Sequence[str], count: int = 0) -> dict[str, Any]:
    """γ (T, S), row by row as the words are written: at frame t rows and words up to t.

    Args:
        source: S words. names: T words.
        count: frames, if they are more than T.
    """
    T = len(gamma)
    seen = np.tri(max(T, count), T, dtype=bool)
    fig = weights(gamma, source, names)
    tree = turning(fig, 0, z=np.where(seen[:, :, None], array(gamma)[None], np.nan))
    shown = [[name if there else "" for name, there in zip(names, row, strict=True)] for row in seen]
    tree["layout"]["yaxis"] |= {"tickvals": list(range(T)), "ticktext": per_frame(shown)}
    return tree


def weights(gamma: Any, source: Sequence[str], names: Sequence[str]) -> go.Figure:
    """γ (T, S) of T names, below each other, and S source words."""
    T, S = gamma.shape
    fig = heatmap(gamma, source, names, scale="violet", zmin=0, zmax=1, hover=False, colorbar=False)
    fig.update_traces(
        hoverinfo=None, hovertemplate="%{x}, row %{y}: γ = %{z:.3f}<extra></extra>", customdata=None
    )
    small = {"size": max(8, min(theme.FONT_SIZE, 420 // max(S, T)))}
    fig.update_xaxes(side="top", ticks="", tickangle=-45 if S <= 12 else -90, **ticks(source, S))
    return fig.update_layout(xaxis_tickfont=small, yaxis_tickfont=small, yaxis_ticks="")


def gold_frames(sure: Sequence[Collection[int]], possible: Sequence[Collection[int]]) -> list[dict[str, Any]]:
    """Shapes around the gold cells, dashed where a link is possible only: of each row its columns."""
    return [
        {"type": "rect", "x0": j - 0.45, "x1": j + 0.45, "y0": t - 0.45, "y1": t + 0.45,
         "line": {"color": theme.GREEN, "width": 3 if j in sure[t] else 2,
                  "dash": "solid" if j in sure[t] else "dot"}}
        for t, columns in enumerate(possible) for j in columns
    ]  # fmt: skip
