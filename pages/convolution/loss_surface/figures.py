"""Two slices of the loss beside each other: contours, turned hills, training paths; one scale for both."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_plane
from lab.figures.moving import Tree, resting, turning
from pages.convolution.loss_surface.lens import Slices, Walked
from pages.convolution.loss_surface.relief import LINE, LOWEST, NOTHING, scale
from pages.convolution.loss_surface.room import TENTHS

HEIGHT = 480
LEVELS = 4  # lines for each power of ten
TOP = 255


def bar(low: float, high: float) -> dict[str, Any]:
    """A colour bar of log₁₀ L that says L."""
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    digits = (1, 1.5, 2, 3, 5) if high - low < 1 else (1, 2, 3, 5) if high - low < 2 else (1,)
    marks = [(p, digit) for p in powers for digit in digits if low <= p + np.log10(digit) <= high]
    texts = [f"{digit * 10.0**p:,.4g}" if p < 4 else f"10<sup>{p}</sup>" for p, digit in marks]
    below = {"orientation": "h", "y": -0.14, "yanchor": "top", "thickness": 12, "outlinewidth": 0, "len": 1}
    return below | {"tickvals": [p + np.log10(digit) for p, digit in marks], "ticktext": texts}


def ground(x: Any, y: Any, losses: Any, low: float, high: float) -> go.Contour:
    """log₁₀ of losses, rows along x, in colours and lines between two values."""
    lines = {"start": low, "end": high, "size": min(1 / LEVELS, (high - low) / 8), "coloring": "heatmap"}
    return go.Contour(
        x=array(x), y=array(y), z=array(losses.log10().clamp(low, high)).T, zmin=low, zmax=high,
        colorscale=theme.scale("probability"), contours=lines, colorbar=bar(low, high), hoverinfo="skip",
        line={"width": 1, "color": theme.fade(theme.HIDDEN, 0.9)},
    )  # fmt: skip


def contours(slices: Slices, i: int, alpha: int, beta: int) -> go.Figure:
    """One slice, a star at its centre and a ring at the chosen place; a click reports α and β."""
    low, high = scale(slices.losses)
    places = array(slices.places)
    reach = float(places[-1])
    fig = go.Figure(ground(places, places, slices.losses[i], low, high))
    edge = {"width": 2, "color": theme.paper()}
    star = {"symbol": "star", "size": 20, "color": theme.OUTPUT, "line": edge}
    ring = {"symbol": "circle-open", "size": 24, "color": theme.VERMILLION, "line": {"width": 5}}
    fig.add_scatter(x=[0.0], y=[0.0], mode="markers", marker=star, hoverinfo="skip")
    fig.add_scatter(x=[reach * alpha / TENTHS], y=[reach * beta / TENTHS], mode="markers", marker=ring,
                    hoverinfo="skip")  # fmt: skip
    fig.add_trace(click_plane(places, places))
    marks = {"range": [-reach, reach], "tickvals": [-reach, 0, reach], "constrain": "domain",
             "zeroline": False}  # fmt: skip
    fig.update_xaxes(title="α", **marks)
    fig.update_yaxes(title="β", scaleanchor="x", **marks)
    return fig.update_layout(
        title=named(slices.names[i], slices.centres[i]), height=HEIGHT, showlegend=False, hoverdistance=-1
    )


def named(name: str, loss: float) -> str:
    """A network and its loss at the centre."""
    return f"{name}: L(θ*) = {loss:.2f}"


def hill(pictures: Any, name: str, low: float, high: float) -> Tree:
    """One slice as a hill, (F, H, W) of whole numbers; the turns are the frames."""
    colors = theme.scale("probability")
    clear, first = "rgba(0,0,0,0)", LOWEST / TOP
    edges = [(LINE + step) / TOP for step in (-0.5, 0.5)]
    colorscale = [[NOTHING, clear], [edges[0], clear], *([edge, theme.soft()] for edge in edges)]
    colorscale += [[first + (1 - first) * float(at), color] for at, color in colors]
    fig = go.Figure(
        go.Heatmap(z=array(pictures)[0], zmin=0, zmax=TOP, colorscale=colorscale, showscale=False,
                   hoverinfo="skip")
    )  # fmt: skip
    known = {"cmin": low, "cmax": high, "colorscale": colors, "showscale": True, "color": [low],
             "colorbar": bar(low, high), "opacity": 0}  # fmt: skip
    fig.add_scatter(x=[0], y=[0], mode="markers", marker=known, hoverinfo="skip")
    hidden = {"visible": False, "constrain": "domain"}
    fig.update_xaxes(**hidden)
    fig.update_yaxes(scaleanchor="x", **hidden)
    fig.update_layout(title=name, height=HEIGHT, showlegend=False)
    return turning(fig, z=pictures)


def path(one: Walked, low: float, high: float) -> Tree:
    """The loss on the plane of a training path, and the path up to the step of the frame."""
    x, y = array(one.path).T
    fig = go.Figure(ground(one.x, one.y, one.losses, low, high))
    line = {"width": 4, "color": theme.VERMILLION}
    fig.add_scatter(x=x, y=y, mode="lines+markers", line=line, marker={"size": 7}, hoverinfo="skip")
    edge = {"width": 2, "color": theme.paper()}
    star = {"symbol": "star", "size": 20, "color": theme.OUTPUT, "line": edge}
    fig.add_scatter(x=[0.0], y=[0.0], mode="markers", marker=star, hoverinfo="skip")
    for update, places, name in (
        (fig.update_xaxes, one.x, "along u₁"),
        (fig.update_yaxes, one.y, "along u₂"),
    ):
        update(title=name, range=[float(places[0]), float(places[-1])], nticks=4, zeroline=False)
    fig.update_layout(title=one.name, height=HEIGHT, showlegend=False)
    until = np.tri(len(y), dtype=bool)
    tree = turning(fig, 1, y=np.where(until, y, np.nan))
    return resting(tree, (x, y, theme.VERMILLION), size=16)
