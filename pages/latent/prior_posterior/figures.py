"""Figures of prior and aggregated posterior: both as clouds on one plane."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array


def clouds(prior: Any, aggregated: Any, names: tuple[str, str]) -> go.Figure:
    """Places (N, 2) of draws of both on a plane; trace 0 is the prior's, which a film may move."""
    fig = go.Figure()
    for name, places, color in (
        ("prior", prior, theme.OUTPUT),
        ("aggregated posterior", aggregated, theme.INPUT),
    ):
        spots = array(places)
        fig.add_scatter(
            x=spots[:, 0], y=spots[:, 1], mode="markers", name=name, hoverinfo="skip",
            marker={"size": 6, "color": color, "opacity": 0.5},
        )  # fmt: skip
    fig.update_xaxes(title=names[0], range=[-4, 4], zeroline=False)
    fig.update_yaxes(title=names[1], range=[-4, 4], scaleanchor="x", zeroline=False)
    fig.update_layout(showlegend=True)
    return fig
