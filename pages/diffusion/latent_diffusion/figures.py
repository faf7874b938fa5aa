"""Clouds of codes, and what the judges say with its standard errors."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array

COLORS = [theme.OUTPUT, theme.INPUT, theme.GREEN, theme.ATTENTION]


def clouds(data: Any, prior: Any, now: Any, i: int, j: int, reach: float) -> go.Figure:
    """Codes of digits, of N(0, I), and of diffusion now (N, K): dimensions i and j."""
    fig = go.Figure()
    for name, points, color in (
        ("N(0, I)", prior, theme.INPUT), ("digits", data, theme.HIDDEN), ("diffusion", now, theme.OUTPUT),
    ):  # fmt: skip
        p = array(points)
        fig.add_scatter(x=p[:, i], y=p[:, j], mode="markers", name=name, hoverinfo="skip",
                        marker={"size": 6, "color": color, "opacity": 0.65})  # fmt: skip
    ends = [-reach, reach]
    fig.update_xaxes(title=f"code, dimension {i + 1}", range=ends, tickvals=[-2, 0, 2], constrain="domain")
    fig.update_yaxes(title=f"dimension {j + 1}", range=ends, tickvals=[-2, 0, 2], scaleanchor="x",
                     constrain="domain")  # fmt: skip
    return fig


def judged(values: Any, mean: Any, error: Any, names: list[str], xlabel: str, ylabel: str) -> go.Figure:
    """Measures (V, M) by a knob's value, bars of a standard error each way."""
    v, m, e = [float(x) for x in values], array(mean), array(error)
    fig = go.Figure()
    for k, name in enumerate(names):
        fig.add_scatter(
            x=v, y=m[:, k], name=name, mode="lines+markers", marker={"size": 8},
            line={"width": 3, "color": COLORS[k]}, error_y={"array": e[:, k], "thickness": 2, "width": 4},
        )  # fmt: skip
    fig.update_xaxes(title=xlabel, tickvals=v, ticktext=[f"{x:g}" for x in v])
    top = 1.15 * float((m + e).max()) if m.size else 1.0
    fig.update_yaxes(title=ylabel, range=[0, top], nticks=5)
    fig.update_layout(showlegend=len(names) > 1)
    return fig


def image(sheet: Any, title: str) -> go.Figure:
    """A sheet of digits."""
    return basic.image(sheet, title=title, zmin=0, zmax=1)
