"""Completed digits in two colours, and the bells of the toy."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array


def digits(sheet: Any, title: str) -> go.Figure:
    """A sheet with values from −1 (drawn ink) over 0 (paper) to 1 (given ink)."""
    fig = basic.image(sheet, title=title, zmin=-1, zmax=1)
    scale = [[0, theme.OUTPUT], [0.5, theme.paper()], [1, theme.text()]]
    return fig.update_traces(colorscale=scale, selector={"type": "heatmap"})


def toy(x: Any, reached: Any, exact: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Densities of x_2: exact (P,), reached (F, P) at a frame, N(0, 1); and what moves."""
    axis, p = array(x), array(reached)
    fig = go.Figure(
        [
            go.Scatter(x=axis, y=array(exact), name="exact p(x₂ | x₁)", mode="lines",
                       line={"width": 3, "color": theme.INPUT, "dash": "dash"}),
            go.Scatter(x=axis, y=p[at], name="reached", mode="lines",
                       line={"width": 4, "color": theme.OUTPUT}),
        ]
    )  # fmt: skip
    top = 1.15 * max(float(p.max()), float(array(exact).max()))
    fig.update_xaxes(title="x₂", range=[float(axis[0]), float(axis[-1])], tickvals=[-2, -1, 0, 1, 2])
    fig.update_yaxes(title="density", range=[0, top], nticks=5)
    return fig, {"data.1.y": p}


def means(passes: Any, mean: Any, exact: float, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The mean reached against the number of passes, the exact one as a line; and what moves."""
    r, m = array(passes), array(mean)
    fig = go.Figure(
        [
            go.Scatter(x=r, y=m, mode="lines+markers", hoverinfo="x+y",
                       line={"width": 3, "color": theme.OUTPUT}, marker={"size": 8}),
            go.Scatter(x=[r[at]], y=[m[at]], mode="markers", hoverinfo="skip",
                       marker={"size": 16, "color": theme.VERMILLION}),
        ]
    )  # fmt: skip
    fig.add_hline(y=exact, line={"color": theme.INPUT, "width": 3, "dash": "dash"})
    low, high = min(0.0, exact, float(m.min())), max(0.0, exact, float(m.max()))
    slack = 0.15 * (high - low or 1)
    fig.update_xaxes(type="log", title="passes r", tickvals=r, ticktext=[str(v) for v in r],
                     range=[-0.1, 1.8])  # fmt: skip
    fig.update_yaxes(title="mean of x₂", range=[low - slack, high + slack], nticks=5)
    fig.update_layout(showlegend=False)
    return fig, {"data.1.x": r[:, None], "data.1.y": m[:, None]}
