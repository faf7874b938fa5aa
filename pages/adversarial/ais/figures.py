"""Chains on the plane over a density, and log Z along the temperatures."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap
from pages.adversarial.ais import lens


def plane(density: Any, found: lens.Run, x: tuple[float, float], at: int) -> go.Figure:
    """log p(x) by brute force from e⁻⁹ up, x, and what g makes of the chains. Trace 2 moves."""
    side = np.linspace(-lens.REACH, lens.REACH, lens.SIDE)
    z = np.log(np.maximum(array(density), np.exp(-9.0)))
    fig = heatmap(z + 9, scale="violet", zmin=0, zmax=float(z.max()) + 9, colorbar=False)
    fig.update_traces(x=side, y=side, xgap=0, ygap=0, hoverinfo="skip")
    fig.add_scatter(
        x=[x[0]], y=[x[1]], mode="markers", name="x",
        marker={"symbol": "x", "size": 15, "color": theme.INPUT, "line": {"width": 1, "color": "white"}},
    )  # fmt: skip
    made = array(found.made)[at]
    fig.add_scatter(
        x=made[:, 0], y=made[:, 1], mode="markers", name="g(z) of the chains",
        marker={"size": 8, "color": theme.OUTPUT, "line": {"width": 1, "color": theme.text()}},
    )  # fmt: skip
    ticks = [-3, -1, 1, 3]
    fig.update_xaxes(range=[-lens.REACH, lens.REACH], tickmode="array", tickvals=ticks, ticktext=ticks,
                     title="", constrain="domain")  # fmt: skip
    fig.update_yaxes(range=[-lens.REACH, lens.REACH], tickmode="array", tickvals=ticks, ticktext=ticks,
                     title="", scaleanchor="x", constrain="domain", autorange=False)  # fmt: skip
    return fig.update_layout(showlegend=True)


def places(found: lens.Run) -> dict[str, Any]:
    """Where the chains are at each frame of `plane`."""
    made = array(found.made)
    return {"data.2.x": made[:, :, 0], "data.2.y": made[:, :, 1]}


def ladder(found: lens.Run, at: int) -> go.Figure:
    """log Z against β: brute force, the chains with two standard errors either side. Trace 3 moves."""
    beta, value = np.array(found.betas), np.array(found.log_z)
    error = 2 * np.nan_to_num(np.array(found.error))
    fig = go.Figure(
        [
            go.Scatter(x=beta, y=found.brute, mode="lines", name="brute force",
                       line={"color": theme.text(), "width": 2, "dash": "dot"}),
            go.Scatter(x=beta, y=value, mode="lines+markers", name="the chains, ± 2 errors",
                       line={"color": theme.OUTPUT, "width": 2}, marker={"size": 5},
                       error_y={"type": "data", "array": error, "thickness": 1.5, "width": 3}),
            go.Scatter(x=[1], y=[found.plain], mode="markers", name="their first draws alone",
                       marker={"size": 10, "symbol": "square", "color": theme.HIDDEN},
                       error_y={"type": "data", "array": [2 * found.plain_error], "thickness": 1.5,
                                "width": 5}),
            go.Scatter(x=[beta[at]], y=[value[at]], mode="markers", showlegend=False, hoverinfo="skip",
                       marker={"size": 14, "color": theme.OUTPUT,
                               "line": {"width": 2, "color": theme.text()}}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="β", range=[-0.05, 1.08], tickvals=[0.25, 0.5, 0.75])
    return fig.update_yaxes(title="log Z, nats", nticks=5, ticklabelposition="outside right")


def rests(found: lens.Run) -> dict[str, list[list[float]]]:
    """Where the point of `ladder` stands at each frame."""
    return {"data.3.x": [[b] for b in found.betas], "data.3.y": [[v] for v in found.log_z]}
