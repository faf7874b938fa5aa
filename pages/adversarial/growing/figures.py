"""What is kept of the pictures of a fade and of a growth."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.moving import resting
from pages.adversarial.growing import lens
from pages.adversarial.growing.levels import Levels, size


def fade(found: lens.Fade) -> dict[str, Any]:
    """What is new and what has changed of the small picture, against α."""
    fig = go.Figure()
    lines = (("from the doubled small picture", found.detail, theme.OUTPUT),
             ("halved, from the small picture", found.content, theme.HIDDEN))  # fmt: skip
    for name, y, color in lines:
        fig.add_scatter(x=lens.ALPHAS, y=y, mode="lines", name=name, line={"color": color, "width": 3})
    fig.add_scatter(x=[0, 1], y=[found.between] * 2, mode="lines", name="between two draws",
                    line={"color": theme.text(), "width": 2, "dash": "dot"})  # fmt: skip
    fig.update_xaxes(title="α", range=[-0.04, 1.04], tickvals=[0.2, 0.4, 0.6, 0.8])
    top = 1.1 * max(found.between, *found.detail)
    fig.update_yaxes(title="rms difference of pixels", range=[-0.02, top], nticks=5)
    return resting(fig, *((lens.ALPHAS, y, color) for _, y, color in lines))


def course(looks: Sequence[lens.Look], phase: int, what: str) -> dict[str, Any]:
    """`distance` or `kept` along the turns, with the fade shaded."""
    turns, values = [one.turns for one in looks], [getattr(one, what) for one in looks]
    color = theme.OUTPUT if what == "distance" else theme.HIDDEN
    line = {"color": color, "width": 3}
    fig = go.Figure(go.Scatter(x=turns, y=values, mode="lines", line=line, showlegend=False))
    fig.add_vrect(x0=phase, x1=2 * phase, fillcolor=theme.fade(theme.INPUT, 0.15), line_width=0)
    fig.update_xaxes(title="steps; shaded: the fade", range=[-0.1 * phase, 4.3 * phase],
                     tickvals=[phase, 2 * phase, 3 * phase])  # fmt: skip
    if what == "kept":
        fig.update_yaxes(title="correlation", range=[-0.05, 1.05], tickvals=[0.25, 0.5, 0.75])
    else:
        fig.update_yaxes(title="Fréchet distance", rangemode="tozero", nticks=4,
                         ticklabelposition="outside right")  # fmt: skip
    return resting(fig, (turns, [math.nan if value is None else value for value in values], color))


def levels(found: Levels) -> dict[str, Any]:
    """Correlation with the finished pictures, and the most that so few pixels hold."""
    fig = go.Figure()
    lines = (("the finished picture, so small", found.room, theme.HIDDEN, "vh"),
             ("this picture", found.there, theme.OUTPUT, "linear"))  # fmt: skip
    for name, y, color, shape in lines:
        fig.add_scatter(x=found.places, y=y, mode="lines", name=name,
                        line={"color": color, "width": 3, "shape": shape})  # fmt: skip
    rests = [i for i in range(len(found.places)) if found.alpha(i) == 1]
    last = found.places[-1]
    fig.update_xaxes(
        tickvals=[found.places[i] for i in rests], ticktext=[size(found.sides[i]) for i in rests],
        range=[-0.12 * last, 1.12 * last], title="pixels; a fade between two sizes",
    )  # fmt: skip
    low = min(0.0, *found.there)
    fig.update_yaxes(title="correlation with the finished pictures", range=[low - 0.02, 1.05],
                     tickvals=[0.25, 0.5, 0.75])  # fmt: skip
    return resting(fig, *((found.places, y, color) for _, y, color, _ in lines))
