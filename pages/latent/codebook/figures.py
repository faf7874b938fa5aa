"""Figures of the codebook: a grid of numbers, bars of usage and distance, the cells of a plane."""

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import basic, theme
from lab.figures.basic import array
from pages.latent.codebook.lens import Slice


def code_grid(codes: Tensor, side: int, place: int) -> go.Figure:
    """The codes (P,) of a picture as numbers on their grid, one place framed; a click reports column and
    row."""
    numbers = array(codes).reshape(side, -1)
    fig = basic.heatmap(np.zeros(numbers.shape), clickable=True, colorbar=False, square=True, zmin=0, zmax=1)
    for (row, column), number in np.ndenumerate(numbers):
        fig.add_annotation(x=column, y=row, text=str(number), showarrow=False, font={"size": 24})
    row, column = divmod(place, numbers.shape[1])
    fig.add_shape(
        type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": theme.VERMILLION, "width": 4},
    )  # fmt: skip
    lines = [i - 0.5 for i in range(side + 1)]
    for at in lines:
        fig.add_shape(
            type="line", x0=at, x1=at, y0=-0.5, y1=side - 0.5, line={"color": theme.grid(), "width": 2}
        )
        fig.add_shape(
            type="line", y0=at, y1=at, x0=-0.5, x1=side - 0.5, line={"color": theme.grid(), "width": 2}
        )
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False)
    fig.update_layout(title="codes")
    return fig


def distances(values: Tensor, chosen: int) -> go.Figure:
    """‖z_e − e_k‖² of one place to every code; the nearest is full."""
    return basic.bars(list(range(len(values))), values, chosen, xlabel="code k", title="‖z_e − e_k‖²")


def usage(counts: Tensor, perplexity: float) -> go.Figure:
    """Use of each code, most used first, and the even use of as many codes as the perplexity."""
    order = counts.argsort(descending=True)
    share = counts[order] / counts.sum()
    fig = basic.bars([str(int(k)) for k in order], share, xlabel="code, most used first", ylabel="share")
    fig.add_shape(
        type="rect", x0=-0.5, x1=perplexity - 0.5, y0=0, y1=1 / perplexity,
        line={"color": theme.text(), "width": 2, "dash": "dot"},
    )  # fmt: skip
    fig.update_layout(title="Use, and as many codes used evenly (dotted)")
    return fig


def cells(plane: Slice) -> go.Figure:
    """Cells of the codes on a plane through them, the codes on it, and what the encoder says."""
    axis, owner = array(plane.axis), array(plane.owner)
    held = np.unique(owner)
    # neighbouring cells get unlike colours: the codes' own order means nothing
    colors = [theme.CATEGORIES[int(k) % len(theme.CATEGORIES)] for k in held]
    rank = np.searchsorted(held, owner)
    top = max(len(held) - 1, 1)
    scale = [[i / top, theme.fade(color, 0.35)] for i, color in enumerate(colors)]
    fig = go.Figure(
        go.Heatmap(x=axis, y=axis, z=rank, zmin=0, zmax=top, showscale=False, hoverinfo="text",
                   colorscale=scale if len(scale) > 1 else [[0, scale[0][1]], [1, scale[0][1]]],
                   hovertext=[[f"code {k}" for k in row] for row in owner])
    )  # fmt: skip
    dots, spots = array(plane.features), array(plane.book)
    fig.add_scatter(
        x=dots[:, 0], y=dots[:, 1], mode="markers", name="z_e of test digits",
        marker={"size": 4, "color": theme.INPUT, "opacity": 0.45}, hoverinfo="skip",
    )  # fmt: skip
    inside = (np.abs(spots) <= axis.max()).all(1)
    fig.add_scatter(
        x=spots[inside, 0], y=spots[inside, 1], mode="markers", name="codes",
        marker={"size": 13, "symbol": "diamond", "color": theme.VERMILLION,
                "line": {"width": 2, "color": theme.paper()}},
        hovertext=[f"code {k}" for k in np.flatnonzero(inside)], hoverinfo="text",
    )  # fmt: skip
    fig.update_xaxes(
        title="1st principal axis", showgrid=False, range=[axis[0], axis[-1]], constrain="domain"
    )
    fig.update_yaxes(title="2nd principal axis", showgrid=False, range=[axis[0], axis[-1]], scaleanchor="x",
                     constrain="domain")  # fmt: skip
    fig.update_layout(showlegend=True)
    return fig
