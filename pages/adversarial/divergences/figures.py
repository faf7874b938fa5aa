"""Two laws above each other, and their divergences against the shift."""

import math

import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from pages.adversarial.divergences.lens import NAMES, SHIFTS, Story

COLORS = dict(
    zip(NAMES, (theme.VERMILLION, theme.PURPLE, theme.BLUE, theme.ORANGE, theme.GREEN), strict=True)
)


def laws(told: Story, at: int) -> go.Figure:
    """Traces: 0 the data's p, 1 the generator's q."""
    x = array(told.x)
    fig = go.Figure(
        [
            go.Scatter(x=x, y=array(y), name=name, mode="lines", line={"color": color, "width": 4},
                       fill="tozeroy", fillcolor=theme.fade(color, 0.25), hoverinfo="x+y+name")
            for name, y, color in (("data p", told.p, theme.INPUT), ("generator q", told.q[at], theme.OUTPUT))
        ]
    )  # fmt: skip
    top = float(max(told.p.max(), told.q.max()))
    fig.update_xaxes(title="x", range=[-6.5, 6.5], ticklabelposition="outside right")
    fig.update_yaxes(title="density", range=[0, 1.08 * top], nticks=5)
    return fig


def against_shift(told: Story, at: int, show: str, printed: Tensor | None) -> go.Figure:
    """Every measure, or its slope, along the shift; shape 0 is the line at the present one."""
    found = told.values if show == "value" else told.slopes
    lines = {name: v.where(v.isfinite(), math.nan) for name, v in found.items()}
    colors = dict(COLORS)
    if printed is not None and show == "value":
        lines["W2² as printed"], colors["W2² as printed"] = printed, theme.HIDDEN
    infinite = [name for name, v in told.values.items() if v.isinf().any()] if show == "value" else []
    shown = {name: v for name, v in lines.items() if name not in infinite and not v.isnan().all()}
    fig = curves(shown, SHIFTS, xlabel="shift a", ylabel="nats, or a distance" if show == "value" else
                 "growth a unit of way", mark=SHIFTS[at], colors=colors)  # fmt: skip
    fig.update_traces(line_dash="dash", selector={"name": "reverse KL"})  # lies on KL where the widths agree
    if infinite:  # a point at 0, and nothing else that could be drawn
        fig.add_scatter(x=[0.0], y=[0.0], mode="markers", name="KL both ways: 0 here, else ∞",
                        marker={"color": theme.VERMILLION, "size": 14})  # fmt: skip
    if show == "value":
        rule(fig, y=math.log(2), line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
        fig.add_annotation(x=0.5, xref="paper", y=math.log(2), text="log 2", showarrow=False,
                           yanchor="bottom", xanchor="center")  # fmt: skip
    fig.update_xaxes(range=[-3.05, 3.05], ticklabelposition="outside right")
    fig.update_yaxes(range=[-0.1, 4.0], nticks=5)
    return fig
