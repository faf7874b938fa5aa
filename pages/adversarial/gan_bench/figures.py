"""The measures of a game so far."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves
from lab.figures.moving import unrolling
from lab.lenses.plane_games import Look


def distance(looks: list[Look]) -> dict[str, Any]:
    """W₁ along the game, up to each look."""
    fig = along({"W₁": [one.w1 for one in looks]}, looks, (theme.OUTPUT,))
    return unrolling(fig.update_yaxes(rangemode="tozero", nticks=4))


def coverage(looks: list[Look], count: int) -> dict[str, Any]:
    """Share of the modes that are reached, and of samples near one."""
    lines = {
        f"modes of {count}": [(one.modes or 0) / count for one in looks],
        "near a mode": [one.quality or 0.0 for one in looks],
    }
    fig = along(lines, looks, (theme.INPUT, theme.GREEN))
    return unrolling(fig.update_yaxes(range=[-0.03, 1.05], nticks=3))


def along(lines: Mapping[str, Any], looks: list[Look], colors: Sequence[str]) -> go.Figure:
    """Lines over the batches of a game."""
    fig = curves(lines, [one.batches for one in looks], mark=0, xlabel="batches",
                 ylabel="share" if len(lines) > 1 else "W₁",
                 colors=dict(zip(lines, colors, strict=True)))  # fmt: skip
    return fig.update_xaxes(nticks=4, ticklabelposition="outside right")  # else two 0 meet in the corner
