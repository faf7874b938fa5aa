"""A cloud among the means of its data, curves of three equations over t, and the shares that came home."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule
from lab.figures.trails import walking


def plane(cloud: Any, means: Any, shown: int, reach: float, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Points (F, N, 2) at a frame, the paths of the first `shown`, and means (F, K, 2); what moves."""
    p, c = array(cloud), array(means)
    traces, moves = walking(p, shown, at)
    fig = go.Figure(
        [
            *traces,
            go.Scatter(x=c[at, :, 0], y=c[at, :, 1], mode="markers", hoverinfo="skip",
                       marker={"size": 14, "color": theme.INPUT, "symbol": "cross-thin",
                               "line": {"color": theme.INPUT, "width": 3}}),
        ],
        {"showlegend": False},
    )  # fmt: skip
    inner = float(f"{2 * reach / 3:.1g}")  # ticks within the corners
    for axis in (fig.update_xaxes, fig.update_yaxes):
        axis(range=[-reach, reach], constrain="domain", tickvals=[-inner, 0, inner], zeroline=False)
    fig.update_yaxes(scaleanchor="x")
    return fig, moves | {"data.2.x": c[..., 0], "data.2.y": c[..., 1]}


def over_time(
    lines: Mapping[str, Any], t: Any, chosen: str, now: float, ylabel: str, log: bool = False
) -> go.Figure:
    """A curve an equation, the chosen one last and in colour; shape 0 stands at t = `now`."""
    fig = go.Figure()
    for kind in sorted(lines, key=lambda kind: kind == chosen):
        color = theme.OUTPUT if kind == chosen else theme.HIDDEN
        dash = {"VP": "solid", "sub-VP": "dot", "VE": "dash"}[kind]
        fig.add_trace(go.Scatter(x=array(t), y=array(lines[kind]), name=kind, mode="lines",
                                 line={"width": 3, "color": color, "dash": dash}))  # fmt: skip
    rule(fig, x=now, line={"color": theme.VERMILLION, "width": 2})
    fig.update_xaxes(title="t", range=[0, 1.02], tickvals=[0, 0.5, 1])
    if log:
        fig.update_yaxes(type="log", dtick=1)
    return fig.update_yaxes(title=ylabel, nticks=5)


def arrived(shares: Mapping[str, float], chosen: str, truth: float) -> go.Figure:
    """Shares at the end by equation, and the data's own as a line."""
    colors = [theme.OUTPUT if kind == chosen else theme.HIDDEN for kind in shares]
    fig = go.Figure(
        go.Bar(x=list(shares), y=list(shares.values()), marker={"color": colors}, hoverinfo="skip",
               text=[f"{s:.3f}" for s in shares.values()], textposition="inside")
    )  # fmt: skip
    rule(fig, y=truth, line={"color": theme.INPUT, "width": 3, "dash": "dash"})
    return fig.update_yaxes(range=[0, 1.05], title="share near a mode", tickvals=[0, 0.5, 1])
