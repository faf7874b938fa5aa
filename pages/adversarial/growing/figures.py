"""The pictures of a fade and of a growth side by side, and what is kept of them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import sheets, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame, resting, turning
from pages.adversarial.growing import lens
from pages.adversarial.growing.levels import Levels, size

ROWS, COLUMNS = 3, 4  # of a growth, at least as many columns; a fade has a row more


def table(pictures: Any, rows: int, names: Sequence[str]) -> dict[str, Any]:
    """A row or more of stages for every z: pictures (F, stages, N, S, S), N a multiple of `rows`.

    Args:
        names: of the stages.
    """
    films, stages, n, *side = pictures.shape
    blocks = n // rows
    placed = pictures.reshape(films, stages, rows, blocks, *side).transpose(0, 2, 3, 1, 4, 5)
    placed = placed.reshape(films, rows, blocks * stages, *side)
    fig = sheets.contact_sheet(placed[0], [""] * rows, [*names] * blocks)
    fig.update_xaxes(side="top", ticks="").update_yaxes(showticklabels=False, ticks="")
    fig.update_layout(margin={"t": 8, "l": 4, "r": 4, "b": 4})
    return turning(fig, z=sheets.sheet(placed))


def blend(pictures: Any) -> dict[str, Any]:
    """For every z the first picture of a fade, the one of this α, and the last: (A, N, S, S)."""
    rows = ROWS + 1
    result = array(pictures[:, : 2 * rows])
    ends = [np.broadcast_to(one, result.shape) for one in (result[0], result[-1])]
    tree = table(np.stack([ends[0], result, ends[1]], 1), rows, ["α = 0", "", "α = 1"])
    names = [["α = 0", f"α = {alpha:g}", "α = 1"] * 2 for alpha in lens.ALPHAS]
    tree["layout"]["xaxis"] |= {"ticktext": per_frame(names)}
    return tree


def growth(result: Levels) -> dict[str, Any]:
    """For every z its pictures of all levels so far, in a row; the last one fades in."""
    rests = result.rests()
    shown = ROWS * max(1, COLUMNS // len(rests))
    results = array(result.pictures[:, :shown])
    stages = np.full((len(results), len(rests), *results.shape[1:]), np.nan, results.dtype)
    for frame, place in enumerate(result.places):
        last = math.ceil(place)
        stages[frame, :last] = results[rests[:last]]
        stages[frame, last] = results[frame]
    return table(stages, ROWS, [size(result.sides[i]) for i in rests])


def fade(result: lens.Fade) -> dict[str, Any]:
    """Change of the small picture, new and kept parts, against α."""
    fig = go.Figure()
    lines = (("new detail", result.detail, theme.OUTPUT), ("halved again", result.content, theme.HIDDEN))
    for name, y, color in lines:
        fig.add_scatter(x=lens.ALPHAS, y=y, mode="lines", name=name, line={"color": color, "width": 3})
    fig.add_scatter(x=[0, 1], y=[result.between] * 2, mode="lines", name="two samples",
                    line={"color": theme.text(), "width": 2, "dash": "dot"})  # fmt: skip
    fig.update_layout(meta=theme.NAMED_ENDS)
    fig.update_xaxes(title="α", range=[-0.04, 1.04], tickvals=[0.25, 0.5, 0.75])
    top = 1.1 * max(result.between, *result.detail)
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
        fig.update_yaxes(
            title="Fréchet distance", rangemode="tozero", nticks=4, ticklabelposition="outside right"
        )
    return resting(fig, (turns, [math.nan if value is None else value for value in values], color))


def levels(result: Levels) -> dict[str, Any]:
    """Correlation with the finished pictures, and the most that so few pixels hold."""
    fig = go.Figure()
    lines = (
        ("upper bound", result.room, theme.HIDDEN, "vh"),
        ("this picture", result.there, theme.OUTPUT, "linear"),
    )
    for name, y, color, shape in lines:
        fig.add_scatter(
            x=result.places, y=y, mode="lines", name=name, line={"color": color, "width": 3, "shape": shape}
        )
    rests = result.rests()
    last = result.places[-1]
    fig.update_layout(meta=theme.NAMED_ENDS)
    fig.update_xaxes(
        tickvals=[result.places[i] for i in rests],
        ticktext=[str(result.sides[i]) for i in rests],
        range=[-0.06 * last, 1.06 * last],
        title="pixels along a side",
    )
    low = min(result.there)
    fig.update_yaxes(
        title="correlation with the last picture", range=[low - 0.05, 1.05], tickvals=[0.25, 0.5, 0.75]
    )
    return resting(fig, *((result.places, y, color) for _, y, color, _ in lines))
