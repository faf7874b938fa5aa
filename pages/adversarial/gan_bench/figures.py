"""The measures of a game so far."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves, unrolled
from lab.lenses.plane_games import Look

Drawn = tuple[go.Figure, dict[str, Any]]  # up to the look, which is shape 0, and its frames


def distance(looks: list[Look], at: int) -> Drawn:
    """W₁ along the game."""
    fig = along({"W₁": [one.w1 for one in looks]}, looks, at, (theme.OUTPUT,))
    fig.update_yaxes(rangemode="tozero", nticks=4)
    return fig, unrolled(fig, at)


def coverage(looks: list[Look], at: int, count: int) -> Drawn:
    """Share of the modes that are reached, and of samples near one."""
    lines: dict[str, Sequence[float]] = {
        f"modes of {count}": [(one.modes or 0) / count for one in looks],
        "near a mode": [one.quality or 0.0 for one in looks],
    }
    fig = along(lines, looks, at, (theme.INPUT, theme.GREEN))
    fig.update_yaxes(range=[-0.03, 1.05], nticks=3)
    return fig, unrolled(fig, at)


def along(lines: dict[str, Sequence[float]], looks: list[Look], at: int, colors: Sequence[str]) -> go.Figure:
    """Lines over the batches of a game."""
    fig = curves(lines, [one.batches for one in looks], mark=looks[at].batches, xlabel="batches",
                 ylabel="share" if len(lines) > 1 else "W₁",
                 colors=dict(zip(lines, colors, strict=True)))  # fmt: skip
    return fig.update_xaxes(nticks=4, ticklabelposition="outside right")  # else two 0 meet in the corner
