"""Distance from the data against the number of steps, and crossing lines against the batch."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves, rule

COLORS = {"first round": theme.HIDDEN, "after reflow": theme.OUTPUT, "exact": theme.INPUT,
          "best pairs": theme.GREEN}  # fmt: skip


def against_steps(
    result: Mapping[str, Sequence[float]], steps: Sequence[int], chosen: int, floor: float
) -> go.Figure:
    """Energy distances by flow, both axes logarithmic; dashed what chance alone makes."""
    shown = {name: [max(d, floor / 10) for d in row] for name, row in result.items()}  # chance goes below 0
    fig = curves(shown, steps, log_x=True, log_y=True, markers=True, mark=chosen, xlabel="Euler steps N",
                 ylabel="energy distance", colors=COLORS, ends=True)  # fmt: skip
    rule(fig, y=floor, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    fig.update_xaxes(tickmode="array", tickvals=list(steps))
    fig.update_yaxes(nticks=5, exponentformat="power", dtick=1)
    return fig


def against_batch(crossed: Mapping[str, Sequence[float]], batches: Sequence[int], chosen: int) -> go.Figure:
    """Shares of lines that cross, by coupling."""
    colors = dict(zip(crossed, (theme.HIDDEN, theme.OUTPUT), strict=True))
    fig = curves(crossed, batches, log_x=True, markers=True, mark=chosen, xlabel="pairs in a batch",
                 ylabel="share that cross", colors=colors, ends=True)  # fmt: skip
    fig.update_xaxes(tickmode="array", tickvals=list(batches))
    return fig.update_yaxes(rangemode="tozero", nticks=5)
