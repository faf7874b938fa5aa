"""Pictures beside each other, and what each sum of components loses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule

GAP, HEAD = 0.02, 0.07  # between panels, and above each for its title; of the whole


@dataclass(frozen=True)
class Panel:
    """A picture (side, side) under its title; ink on paper, or "diverging" up to ±`reach`."""

    title: str
    values: Any
    scale: theme.Scale = "grey"
    reach: float = 1.0


def panels(shown: Sequence[Panel], columns: int) -> go.Figure:
    """Trace i is panel i: rows of `columns`, each with its title."""
    rows = -(-len(shown) // columns)
    wide, high = (1 - GAP * (columns - 1)) / columns, 1 / rows
    fig = go.Figure()
    for i, panel in enumerate(shown):
        row, column = divmod(i, columns)
        left, top, suffix = column * (wide + GAP), 1 - row * high, str(i + 1) if i else ""
        side, low = len(array(panel.values)), -panel.reach if panel.scale == "diverging" else 0.0
        fig.add_trace(
            go.Heatmap(z=array(panel.values), zmin=low, zmax=panel.reach, showscale=False, hoverinfo="z",
                       colorscale=theme.scale(panel.scale), xaxis=f"x{suffix}", yaxis=f"y{suffix}")
        )  # fmt: skip
        edge = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": "", "showline": True,
                "mirror": True, "linecolor": theme.grid(), "constrain": "domain"}  # fmt: skip
        fig.update_layout(
            {
                f"xaxis{suffix}": {**edge, "domain": [left, left + wide], "anchor": f"y{suffix}",
                                   "range": [-0.5, side - 0.5]},
                f"yaxis{suffix}": {**edge, "domain": [top - high + GAP, top - HEAD], "anchor": f"x{suffix}",
                                   "scaleanchor": f"x{suffix}", "range": [side - 0.5, -0.5]},
            }
        )  # fmt: skip
        fig.add_annotation(x=left + wide / 2, y=top - HEAD, xref="paper", yref="paper", text=panel.title,
                           showarrow=False, xanchor="center", yanchor="bottom", name=f"p{i}")  # fmt: skip
    return fig.update_layout(margin={"t": 4, "b": 4, "l": 4, "r": 4})


def losses(lines: Mapping[str, tuple[Any, str]], floor: float | None, named: str, at: int) -> go.Figure:
    """Over k: one line each (values, colour); the dot on the first is the last trace.

    Args:
        floor: a horizontal line, of what is called `named`.
    """
    fig = go.Figure()
    for name, (values, color) in lines.items():
        v = array(values)
        fig.add_scatter(x=np.arange(len(v)), y=v, mode="lines", name=name, line={"width": 4, "color": color},
                        hovertemplate="k = %{x}: %{y:.3f}<extra></extra>")  # fmt: skip
    first, color = next(iter(lines.values()))
    v = array(first)
    if floor is not None:
        fig.add_scatter(x=[0, len(v) - 1], y=[floor, floor], mode="lines", name=named, hoverinfo="skip",
                        line={"width": 3, "color": theme.ATTENTION, "dash": "dot"})  # fmt: skip
    ring = {"size": 16, "color": color, "line": {"width": 3, "color": theme.text()}}
    fig.add_scatter(x=[at], y=[v[at]], mode="markers", showlegend=False, hoverinfo="skip", marker=ring)
    fig.update_xaxes(title="components k", range=[-0.5, len(v) - 0.5])
    fig.update_yaxes(title="‖x − x̂‖²", rangemode="tozero")
    return fig


def errors(lines: Mapping[str, tuple[Any, str]], at: int) -> go.Figure:
    """Over the lines that are hidden, each model's error; a vertical line at the frame (the only shape)."""
    fig = go.Figure()
    for name, (values, color) in lines.items():
        v = array(values)[1:]
        fig.add_scatter(x=np.arange(1, len(v) + 1), y=v, mode="lines", name=name,
                        line={"width": 4, "color": color},
                        hovertemplate="%{x} hidden: %{y:.3f}<extra></extra>")  # fmt: skip
    rule(fig, x=at, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_xaxes(title="steps that hide", range=[0, len(v) + 0.2])
    fig.update_yaxes(title="error of a hidden pixel", rangemode="tozero")
    return fig


def cover(hidden: Any) -> np.ndarray:
    """Hidden pixels (..., side, side) as 1, all others empty."""
    return np.where(array(hidden), 1.0, np.nan)


def hidden(fig: go.Figure, gone: Any) -> go.Figure:
    """`panels` with a blue cover over the hidden pixels of the first one; it is the last trace."""
    blue = theme.fade(theme.INPUT, 0.3)
    cloth = go.Heatmap(z=cover(gone), zmin=0, zmax=1, colorscale=[[0, blue], [1, blue]], showscale=False,
                       hoverinfo="skip", xaxis="x", yaxis="y")  # fmt: skip
    return fig.add_trace(cloth)
