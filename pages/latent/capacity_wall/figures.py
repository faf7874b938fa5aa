"""A density with the components or the curve that make it, and likelihood against size."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array
from pages.latent.capacity_wall.lens import EDGE

POINTS = 400  # that are drawn


def plane(
    points: Any, density: Any, outline: Any, top: float, names: tuple[str, str] = ("x₁", "x₂")
) -> go.Figure:
    """Traces: 0 the density, 1 the points, 2 outlines or a curve.

    Args:
        points: (N, 2); density: (CELLS, CELLS), row = x₂ upwards; outline: (P, 2), NaN between the parts.
        top: the density of the strongest colour.
    """
    traces = [
        planar.field(array(density), EDGE, zmin=0, zmax=top, showscale=False),
        planar.points(
            array(points)[:POINTS], {"size": 5, "color": theme.HIDDEN, "opacity": 0.7}, name="points"
        ),
        planar.path(outline, {"width": 3, "color": theme.OUTPUT}, name="model"),
    ]
    return go.Figure(traces, planar.axes(EDGE, names) | {"showlegend": False})


def turns(densities: Any, outlines: Any) -> dict[str, Any]:
    """Moving parts of `plane`: (F, CELLS, CELLS) and (F, P, 2)."""
    o = array(outlines)
    return {"data.0.z": np.round(array(densities), 4), "data.2.x": o[..., 0], "data.2.y": o[..., 1]}


def climb(
    x: Sequence[int], lines: Mapping[str, tuple[Any, str]], levels: Mapping[str, tuple[float, str]],
    at: int, xlabel: str, ylabel: str, log: bool = True,
) -> go.Figure:  # fmt: skip
    """Likelihood against size or step; the dot on the first line is the last trace.

    Args:
        lines: name -> (F,) values and colour; levels: name -> a value that does not depend on x, and colour.
    """
    fig, ends = go.Figure(), [x[0], x[-1]]
    for name, (value, color) in levels.items():
        fig.add_scatter(x=ends, y=[value, value], mode="lines", name=name, hoverinfo="skip",
                        line={"width": 3, "color": color, "dash": "dash"})  # fmt: skip
    for name, (values, color) in lines.items():
        fig.add_scatter(x=list(x), y=array(values), mode="lines", name=name,
                        line={"width": 4, "color": color},
                        hovertemplate="%{x}: %{y:.3f}<extra></extra>")  # fmt: skip
    first, color = next(iter(lines.values()))
    dot = {"size": 16, "color": color, "line": {"width": 3, "color": theme.text()}}
    fig.add_scatter(x=[x[at]], y=[array(first)[at]], mode="markers", showlegend=False, hoverinfo="skip",
                    marker=dot)  # fmt: skip
    fig.update_xaxes(title=xlabel)
    if log:
        ticks = [v for v in x if v & (v - 1) == 0]  # powers of two
        fig.update_xaxes(type="log", tickvals=ticks, ticktext=[str(v) for v in ticks])
    fig.update_yaxes(title=ylabel)
    return fig


def dots(fig: go.Figure, x: Sequence[float], values: Any) -> dict[str, Any]:
    """Moving parts of `climb`."""
    last = len(fig.data) - 1
    return {f"data.{last}.x": [[v] for v in x], f"data.{last}.y": [[v] for v in array(values).tolist()]}
