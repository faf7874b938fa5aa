"""A cloud with trails, and the share that has arrived."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule
from lab.figures.trails import walking


def clouds(
    cloud: Any, shown: int, modes: Any, radius: float, reach: float, at: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Points (F, N, 2) at a frame, the paths of the first `shown`, circles around the modes; what moves."""
    p, m = array(cloud), array(modes)
    traces, moves = walking(p, shown, at)
    fig = go.Figure(traces)
    for a, b in m:
        fig.add_shape(type="circle", x0=a - radius, x1=a + radius, y0=b - radius, y1=b + radius,
                      line={"color": theme.INPUT, "width": 2})  # fmt: skip
    fig.update_xaxes(range=[-reach, reach], constrain="domain", tickvals=[-3, 0, 3], zeroline=False)
    fig.update_yaxes(range=[-reach, reach], scaleanchor="x", constrain="domain", tickvals=[-3, 0, 3],
                     zeroline=False)  # fmt: skip
    return fig.update_layout(showlegend=False), moves


def arrived(names: Sequence[str], shares: Sequence[float], truth: float) -> go.Figure:
    """Shares at the end by source, and the data's own as a line."""
    fig = go.Figure(
        go.Bar(x=list(names), y=list(shares), marker={"color": [theme.HIDDEN, theme.OUTPUT]},
               text=[f"{s:.3f}" for s in shares], textposition="inside", hoverinfo="skip")
    )  # fmt: skip
    rule(fig, y=truth, line={"color": theme.INPUT, "width": 3, "dash": "dash"})
    fig.update_yaxes(range=[0, 1.05], title="share near a mode", tickvals=[0, 0.5, 1])
    return fig
