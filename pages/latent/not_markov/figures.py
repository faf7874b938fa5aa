"""The chance of the next symbol by length of memory, and what the memory says of the hidden state."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array


def chances(exact: Any, counted: Any, at: int, pasts: Sequence[str]) -> go.Figure:
    """Bars by length of memory, exact (trace 0) and counted (trace 1), up to `at`."""
    moves = growing(exact, counted)
    fig = go.Figure()
    for i, (name, color) in enumerate((("exact", theme.OUTPUT), ("counted", theme.HIDDEN))):
        fig.add_trace(go.Bar(x=list(range(len(pasts))), y=moves[f"data.{i}.y"][at], name=name,
                             marker={"color": color}, hoverinfo="y+name"))  # fmt: skip
    fig.update_xaxes(title="what is remembered, most recent last", showgrid=False,
                     tickvals=list(range(len(pasts))), ticktext=list(pasts), tickangle=0,
                     range=[-0.5, len(pasts) - 0.5])  # fmt: skip
    fig.update_yaxes(range=[0, 1.02], title="p(next is 1)")
    return fig.update_layout(bargap=0.25)


def growing(exact: Any, counted: Any) -> dict[str, Any]:
    """Moving parts of `chances`: of frame h the bars 0 … h."""
    n = len(array(exact))
    known = np.arange(n) <= np.arange(n)[:, None]
    return {f"data.{i}.y": np.where(known, array(v), np.nan) for i, v in enumerate((exact, counted))}


def beliefs(values: Any, shown: Sequence[str]) -> go.Figure:
    """p(state now | memory), (K,), each state with the symbol that it shows."""
    names = [f"{k + 1} → {symbol}" for k, symbol in enumerate(shown)]
    fig = basic.bars(names, values, color=theme.INPUT, probability=True, title="p(state | memory)")
    return fig.update_xaxes(title="state → what it shows")
