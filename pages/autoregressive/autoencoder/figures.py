"""The copying autoencoder drawn: whose input each output reads."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves, heatmap


def jacobian(values: Any, reach: float, title: str = "") -> go.Figure:
    """∂ logit i / ∂ x j as an (n, n) matrix, colours from -reach to reach."""
    fig = heatmap(values, scale="diverging", zmin=-reach, zmax=reach, title=title, square=True,
                  colorbar=False, xlabel="input j", ylabel="output i")  # fmt: skip
    return fig.update_traces(
        hovertext=None, hoverinfo=None, hovertemplate="output %{y}, input %{x}: %{z:.3g}<extra></extra>"
    )


def losses(lines: Mapping[str, Any], passes: Sequence[float], floor: float, at: float) -> go.Figure:
    """Losses by name along the passes, a line at `at`, and the least that any density can have."""
    fig = curves(lines, passes, mark=at, ylabel="loss, nats")
    fig.add_hline(
        y=floor, line={"color": theme.GREEN, "width": 3},
        annotation={"text": "ln 14", "xanchor": "right", "x": 0.97, "yanchor": "bottom"},
    )  # fmt: skip
    return room(fig, passes)


def sums(lines: Mapping[str, Any], passes: Sequence[float], at: float) -> go.Figure:
    """The sum over all pictures by name, in the colours of `losses`, whose legend serves both."""
    fig = curves(lines, passes, mark=at, ylabel="sum of 512", xlabel="passes")
    return room(fig, passes).update_layout(showlegend=False)


def room(fig: go.Figure, passes: Sequence[float]) -> go.Figure:
    """The passes from a little before 0, so that the zeros of both axes do not meet."""
    fig.update_xaxes(range=[-0.08 * passes[-1], 1.03 * passes[-1]], zeroline=False)
    return fig.update_yaxes(rangemode="tozero")
