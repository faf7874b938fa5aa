"""An exact posterior beside the encoder's guess at it."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.lenses.latent import Window


def posterior(near: Window, outline: Any) -> go.Figure:
    """The exact posterior on a small square, and the outline (M, 2) of the encoder's guess."""
    line = array(outline)
    colors = [[0, theme.paper()], [1, theme.OUTPUT]]
    fig = go.Figure(
        go.Heatmap(x=array(near.u), y=array(near.v), z=array(near.density), zmin=0, colorscale=colors,
                   showscale=False, hoverinfo="skip")
    )  # fmt: skip
    fig.add_scatter(x=line[:, 0], y=line[:, 1], mode="lines", line={"color": theme.BLUE, "width": 3},
                    showlegend=False, hoverinfo="skip")  # fmt: skip
    fig.update_xaxes(showgrid=False, zeroline=False, constrain="domain", nticks=3)
    fig.update_yaxes(showgrid=False, zeroline=False, scaleanchor="x", constrain="domain", nticks=4)
    fig.update_layout(title="Exact, near A")
    return fig
