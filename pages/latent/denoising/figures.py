"""Curves of the three autoencoders."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from torch import Tensor

from lab.figures import basic, theme

COLORS = {"x̃": theme.HIDDEN, "AE": theme.SKY, "DAE": theme.OUTPUT, "VAE": theme.GREEN}


def curves(
    lines: Mapping[str, Tensor],
    x: Sequence[float],
    at: float,
    xlabel: str,
    ylabel: str,
    level: float | None = None,
) -> go.Figure:
    """A line a model; shape 0 is the line at `at`; `level`, where given, is that of real digits."""
    fig = basic.curves(dict(lines), x, colors=COLORS, mark=at, xlabel=xlabel, ylabel=ylabel)
    if level is not None:
        fig.add_scatter(x=[x[0], x[-1]], y=[level, level], mode="lines", name="test digits", hoverinfo="skip",
                        line={"color": theme.text(), "width": 3, "dash": "dash"})  # fmt: skip
    fig.update_yaxes(rangemode="tozero")
    fig.update_xaxes(range=[x[0] - 0.06 * (x[-1] - x[0]), x[-1]])  # the corner belongs to the other axis
    return fig


def mark_moves(values: Sequence[float]) -> dict[str, list[float]]:
    """The line at each value, for a film."""
    return {"layout.shapes.0.x0": list(values), "layout.shapes.0.x1": list(values)}
