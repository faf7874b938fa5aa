"""Three bells over x_{t−1}."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array


def bells(x: Any, densities: Any, marks: tuple[float, float], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Prior, likelihood, posterior (3, F, P) at a frame, with x_0 and x_t below; and what moves."""
    p, axis = array(densities), array(x)
    fig = go.Figure()
    for values, name, color in zip(
        p, ("from x₀", "from xₜ", "from both"), (theme.INPUT, theme.HIDDEN, theme.OUTPUT), strict=True
    ):
        width = 4 if name == "from both" else 3
        fig.add_trace(
            go.Scatter(x=axis, y=values[at], name=name, mode="lines", line={"width": width, "color": color})
        )
    for place, name, color in zip(marks, ("x₀", "xₜ"), (theme.INPUT, theme.HIDDEN), strict=True):
        fig.add_trace(go.Scatter(x=[place], y=[0], mode="markers", name=name,
                                 marker={"size": 14, "symbol": "triangle-up", "color": color}))  # fmt: skip
    fig.update_xaxes(title="x at t − 1", range=[-3, 3], tickvals=[-2, -1, 0, 1, 2])
    fig.update_yaxes(title="density", rangemode="tozero")
    return fig, {f"data.{i}.y": p[i] for i in range(3)}
