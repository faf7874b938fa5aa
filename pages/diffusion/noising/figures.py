"""A drawing under noise, and the histogram of one of its pixels."""

import math
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array

REACH = 3.0  # end of the scale


def drawing(pixels: Any) -> go.Figure:
    """Values (S, S) from −REACH to REACH on the diverging scale: ink is 1, paper −1."""
    return basic.image(pixels, scale="diverging", zmin=-REACH, zmax=REACH)


def pixel(edges: Any, histogram: Any, law: Any) -> go.Figure:
    """Trace 0: draws of a pixel; 1: their law in the same bins; 2: N(0, 1), where all of them end."""
    e = array(edges)
    middle = (e[1:] + e[:-1]) / 2
    normal = array((-0.5 * edges[:-1].add(float(e[1] - e[0]) / 2).square()).exp() / math.sqrt(2 * math.pi))
    fig = go.Figure(
        [
            go.Bar(x=middle, y=array(histogram), name="draws", width=float(e[1] - e[0]), hoverinfo="x+y",
                   marker={"color": theme.fade(theme.INPUT, 0.6), "line": {"width": 0}}),
            go.Scatter(x=middle, y=array(law), name="law", mode="lines", hoverinfo="skip",
                       line={"color": theme.OUTPUT, "width": 4, "shape": "hvh"}),
            go.Scatter(x=middle, y=normal, name="N(0, 1)", mode="lines", hoverinfo="skip",
                       line={"color": theme.HIDDEN, "width": 3, "dash": "dash"}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="value of the pixel", range=[-4, 4], tickvals=[-3, 0, 3])
    fig.update_yaxes(title="density", range=[0, 1.6], nticks=4)
    return fig
