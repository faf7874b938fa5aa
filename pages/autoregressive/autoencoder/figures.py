"""The copying autoencoder drawn: whose input each output reads."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import sheets, theme
from lab.figures.basic import array, curves, heatmap, image, rule


def jacobian(values: Any, reach: float, title: str = "") -> go.Figure:
    """∂ logit i / ∂ x j as an (n, n) matrix, colours from -reach to reach."""
    fig = heatmap(values, scale="diverging", zmin=-reach, zmax=reach, title=title, square=True,
                  colorbar=False, xlabel="input j", ylabel="output i")  # fmt: skip
    return fig.update_traces(
        hovertext=None, hoverinfo=None, hovertemplate="output %{y}, input %{x}: %{z:.3g}<extra></extra>"
    )


def sheet(pictures: Any, at: int, title: str, columns: int = 12) -> tuple[go.Figure, dict[str, Any]]:
    """Pictures (F, N, side, side) of all frames as a contact sheet each; and the frames."""
    frames = sheets.frames(array(pictures).astype(np.float32), columns)
    fig = image(frames[at], title=title, zmin=0, zmax=1).update_traces(hoverinfo="skip", hovertext=None)
    return fig, {"data.0.z": frames}


def map_of_pixels(values: Any, title: str, reach: float | None = None) -> go.Figure:
    """A value of each pixel (n,): from 0 to 1, or with `reach` from -reach to reach."""
    z = array(values).reshape(math.isqrt(len(values)), -1)
    scale: theme.Scale = "probability" if reach is None else "diverging"
    low, high = (0, 1) if reach is None else (-reach, reach)
    fig = heatmap(z, scale=scale, zmin=low, zmax=high, title=title, square=True, colorbar=False)
    fig.update_xaxes(visible=False).update_yaxes(visible=False)
    return fig.update_layout(plot_bgcolor=theme.grid(), margin_t=36)


def losses(lines: Mapping[str, Any], passes: Sequence[float], floor: float, at: float) -> go.Figure:
    """Losses by name along the passes, a line at `at`, and the least that any density can have."""
    fig = curves(lines, passes, mark=at, ylabel="loss, nats")
    rule(
        fig, y=floor, line={"color": theme.GREEN, "width": 3},
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
