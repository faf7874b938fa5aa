"""Two laws above each other, and their divergences against the shift."""

import math
from typing import Any

import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from lab.figures.moving import marking, turning
from pages.adversarial.divergences.lens import NAMES, Story
from pages.adversarial.divergences.room import SHIFTS

COLORS = dict(
    zip(NAMES, (theme.VERMILLION, theme.PURPLE, theme.BLUE, theme.ORANGE, theme.GREEN), strict=True)
)


def laws(told: Story) -> dict[str, Any]:
    """The data's p, and the generator's q at every shift."""
    fig = go.Figure()
    for name, color in (("data p", theme.INPUT), ("generator q", theme.OUTPUT)):
        look = {"line": {"color": color, "width": 4}, "fill": "tozeroy", "fillcolor": theme.fade(color, 0.25)}
        fig.add_scatter(
            x=array(told.x), y=array(told.p), name=name, mode="lines", hoverinfo="x+y+name", **look
        )
    top = float(max(told.p.max(), told.q.max()))
    fig.update_xaxes(title="x", range=[-6.5, 6.5], ticklabelposition="outside right")
    fig.update_yaxes(title="density", range=[0, 1.08 * top], nticks=5)
    return turning(fig, 1, y=told.q)


def against_shift(told: Story, show: str, printed: Tensor | None) -> dict[str, Any]:
    """Every measure, or its slope, along the shift, and a line at that of each frame."""
    found = told.values if show == "value" else told.slopes
    lines = {name: v.where(v.isfinite(), math.nan) for name, v in found.items()}
    colors = dict(COLORS)
    if printed is not None and show == "value":
        lines["W2² as printed"], colors["W2² as printed"] = printed, theme.HIDDEN
    infinite = [name for name, v in told.values.items() if v.isinf().any()] if show == "value" else []
    shown = {name: v for name, v in lines.items() if name not in infinite and not v.isnan().all()}
    ylabel = "nats, or a distance" if show == "value" else "derivative with respect to a"
    fig = curves(shown, SHIFTS, xlabel="shift a", ylabel=ylabel, mark=SHIFTS[0], colors=colors)
    fig.update_traces(line_dash="dash", selector={"name": "reverse KL"})  # lies on KL where the widths agree
    if infinite:  # a point at 0, and nothing else that could be drawn
        dot, name = {"color": theme.VERMILLION, "size": 14}, "KL both ways: 0 here, else ∞"
        fig.add_scatter(x=[0.0], y=[0.0], mode="markers", name=name, marker=dot)
    if show == "value":
        rule(fig, y=math.log(2), line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
        place = {"x": 0.5, "xref": "paper", "y": math.log(2), "yanchor": "bottom", "xanchor": "center"}
        fig.add_annotation(text="log 2", showarrow=False, **place)
    fig.update_xaxes(range=[-3.05, 3.05], ticklabelposition="outside right")
    fig.update_yaxes(range=[-0.1, 4.0], nticks=5)
    return marking(fig, SHIFTS)
