"""The share of a cloud that has arrived."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import rule


def arrived(names: Sequence[str], shares: Sequence[float], truth: float) -> go.Figure:
    """Shares at the end by source, and the data's own as a line."""
    fig = go.Figure(
        go.Bar(x=list(names), y=list(shares), marker={"color": [theme.HIDDEN, theme.OUTPUT]},
               text=[f"{s:.3f}" for s in shares], textposition="inside", hoverinfo="skip")
    )  # fmt: skip
    rule(fig, y=truth, line={"color": theme.INPUT, "width": 3, "dash": "dash"})
    fig.update_yaxes(range=[0, 1.05], title="share near a mode", tickvals=[0, 0.5, 1])
    return fig
