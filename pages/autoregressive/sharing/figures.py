"""Weights as maps of the picture, and learning curves over the number of training examples."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import heatmap

Line = tuple[Sequence[float], Sequence[float], Sequence[float]]


def by_size(lines: Mapping[str, Line], title: str = "") -> go.Figure:
    """Means with their standard deviations against the training size, on a logarithmic axis.

    Args:
        lines: name -> (sizes, means, standard deviations); a name that begins as one before it ("NADE,
            train" after "NADE, test") takes its colour, dashed.
    """
    colors: dict[str, str] = {}
    fig = go.Figure()
    for name, (sizes, means, spread) in lines.items():
        model = name.partition(",")[0]
        again = model in colors
        color = colors.setdefault(model, theme.CATEGORIES[len(colors)])
        fig.add_trace(
            go.Scatter(
                x=list(sizes), y=list(means), name=name, mode="lines+markers", marker={"size": 10},
                line={"width": 3, "color": color, "dash": "dot" if again else "solid"},
                error_y={"type": "data", "array": list(spread), "thickness": 2, "width": 6},
            )
        )  # fmt: skip
    ticks = sorted({size for sizes, _, _ in lines.values() for size in sizes})
    fig.update_xaxes(
        title="training digits", type="log", tickvals=ticks, ticktext=[f"{size:,}" for size in ticks]
    )
    fig.update_layout(title=title)
    return fig


def maps(sheet: Any, reach: float, title: str = "") -> go.Figure:
    """Weights of units as maps, side by side, from -reach to reach; pixels that are not read are grey."""
    fig = heatmap(sheet, scale="diverging", zmin=-reach, zmax=reach, title=title, colorbar=False)
    fig.update_traces(xgap=0, ygap=0, hoverinfo="skip", hovertext=None)
    fig.update_xaxes(visible=False, constrain="domain")
    fig.update_yaxes(visible=False, scaleanchor="x", constrain="domain")
    return fig.update_layout(plot_bgcolor=theme.grid())
