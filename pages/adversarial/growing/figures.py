"""Pictures of a fade and of a growth, and what is kept of them."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from pages.adversarial.growing import lens
from pages.adversarial.growing.levels import Levels, size


def point(x: float, y: float, color: str) -> go.Scatter:
    """Where a film rests on a curve."""
    return go.Scatter(
        x=[x], y=[y], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"size": 15, "color": color, "line": {"width": 2, "color": theme.text()}},
    )  # fmt: skip


def fade(found: lens.Fade, at: int) -> go.Figure:
    """What is new and what has changed of the small picture, against α; traces 3 and 4 move."""
    fig = go.Figure()
    lines = (("from the doubled small picture", found.detail, theme.OUTPUT),
             ("halved, from the small picture", found.content, theme.HIDDEN))  # fmt: skip
    for name, y, color in lines:
        fig.add_scatter(x=lens.ALPHAS, y=y, mode="lines", name=name, line={"color": color, "width": 3})
    fig.add_scatter(x=[0, 1], y=[found.between] * 2, mode="lines", name="between two draws",
                    line={"color": theme.text(), "width": 2, "dash": "dot"})  # fmt: skip
    for _, y, color in lines:
        fig.add_trace(point(lens.ALPHAS[at], y[at], color))
    fig.update_xaxes(title="α", range=[-0.04, 1.04], tickvals=[0.2, 0.4, 0.6, 0.8])
    fig.update_yaxes(title="rms difference of pixels", range=[-0.02, 1.1 * max(found.between, *found.detail)],
                     nticks=5)  # fmt: skip
    return fig


def fade_points(found: lens.Fade) -> dict[str, list[list[float]]]:
    """Where the points of `fade` stand at each frame."""
    x = [[alpha] for alpha in lens.ALPHAS]
    return {
        "data.3.x": x, "data.4.x": x,
        "data.3.y": [[v] for v in found.detail], "data.4.y": [[v] for v in found.content],
    }  # fmt: skip


def course(looks: Sequence[lens.Look], phase: int, at: int, what: str) -> go.Figure:
    """`distance` or `kept` along the turns, with the fade shaded; trace 1 moves."""
    values = [getattr(one, what) for one in looks]
    color = theme.OUTPUT if what == "distance" else theme.HIDDEN
    fig = go.Figure(
        go.Scatter(x=[one.turns for one in looks], y=values, mode="lines", line={"color": color, "width": 3},
                   showlegend=False)
    )  # fmt: skip
    fig.add_trace(point(looks[at].turns, values[at], color))
    fig.add_vrect(x0=phase, x1=2 * phase, fillcolor=theme.fade(theme.INPUT, 0.15), line_width=0)
    fig.update_xaxes(title="turns; shaded: the fade", range=[-0.1 * phase, 4.3 * phase],
                     tickvals=[phase, 2 * phase, 3 * phase])  # fmt: skip
    if what == "kept":
        fig.update_yaxes(title="correlation", range=[-0.05, 1.05], tickvals=[0.25, 0.5, 0.75])
    else:
        fig.update_yaxes(title="Fréchet distance", rangemode="tozero", nticks=4,
                         ticklabelposition="outside right")  # fmt: skip
    return fig


def course_points(looks: Sequence[lens.Look], what: str) -> dict[str, list[list[float]]]:
    """Where the point of `course` stands at each frame."""
    return {
        "data.1.x": [[float(one.turns)] for one in looks],
        "data.1.y": [[math.nan if (value := getattr(one, what)) is None else value] for one in looks],
    }


def levels(found: Levels, at: int) -> go.Figure:
    """Correlation with the finished pictures, and the most that so few pixels hold; traces 2 and 3 move."""
    fig = go.Figure()
    lines = (("the finished picture, so small", found.room, theme.HIDDEN, "vh"),
             ("this picture", found.there, theme.OUTPUT, "linear"))  # fmt: skip
    for name, y, color, shape in lines:
        fig.add_scatter(x=found.places, y=y, mode="lines", name=name,
                        line={"color": color, "width": 3, "shape": shape})  # fmt: skip
    for _, y, color, _ in lines:
        fig.add_trace(point(found.places[at], y[at], color))
    rests = [i for i in range(len(found.places)) if found.alpha(i) == 1]
    last = found.places[-1]
    fig.update_xaxes(
        tickvals=[found.places[i] for i in rests], ticktext=[size(found.sides[i]) for i in rests],
        range=[-0.12 * last, 1.12 * last], title="pixels; a fade between two sizes",
    )  # fmt: skip
    low = min(0.0, *found.there)
    fig.update_yaxes(title="correlation with the finished pictures", range=[low - 0.02, 1.05],
                     tickvals=[0.25, 0.5, 0.75])  # fmt: skip
    return fig


def level_points(found: Levels) -> dict[str, list[list[float]]]:
    """Where the points of `levels` stand at each frame."""
    x = [[place] for place in found.places]
    return {
        "data.2.x": x, "data.3.x": x,
        "data.2.y": [[v] for v in found.room], "data.3.y": [[v] for v in found.there],
    }  # fmt: skip
