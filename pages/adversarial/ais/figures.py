"""Chains on the plane over a density, and log Z along the temperatures."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import turning
from pages.adversarial.ais import lens


def plane(density: Any, run: lens.Run, x: float, y: float) -> dict[str, Any]:
    """log p by brute force from e⁻⁹ up, the point (x, y), and what g makes of the chains at each frame."""
    side = np.linspace(-lens.REACH, lens.REACH, lens.SIDE)
    z = np.log(np.maximum(array(density), np.exp(-9.0)))
    fig = heatmap(z + 9, scale="violet", zmin=0, zmax=float(z.max()) + 9, colorbar=False)
    fig.update_traces(x=side, y=side, xgap=0, ygap=0, hoverinfo="skip")
    cross = {"symbol": "x", "size": 15, "color": theme.INPUT, "line": {"width": 1, "color": "white"}}
    dots = {"size": 8, "color": theme.OUTPUT, "line": {"width": 1, "color": theme.text()}}
    fig.add_scatter(x=[x], y=[y], mode="markers", name="x", marker=cross)
    fig.add_scatter(mode="markers", name="G(z) of the chains", marker=dots)
    ticks = [-3, -1, 1, 3]
    axis = {"range": [-lens.REACH, lens.REACH], "tickmode": "array", "tickvals": ticks, "ticktext": ticks}
    fig.update_xaxes(**axis, title="", constrain="domain")
    fig.update_yaxes(**axis, title="", constrain="domain", scaleanchor="x", autorange=False)
    result = array(run.samples)
    return turning(fig.update_layout(showlegend=True), 2, x=result[:, :, 0], y=result[:, :, 1])


def ladder(run: lens.Run) -> dict[str, Any]:
    """log Z against β: brute force, the chains with two standard errors either side, and a point at each
    frame."""
    beta, value = np.array(run.betas), np.array(run.log_z)
    error = {"type": "data", "array": 2 * np.nan_to_num(np.array(run.error))}
    of_plain = {"type": "data", "array": [2 * run.plain_error], "thickness": 1.5, "width": 5}
    ring = {"size": 14, "color": theme.OUTPUT, "line": {"width": 2, "color": theme.text()}}
    dotted, grey = (
        {"color": theme.text(), "width": 2, "dash": "dot"},
        {"symbol": "square", "color": theme.HIDDEN},
    )
    fig = go.Figure(
        [
            go.Scatter(x=beta, y=run.brute, mode="lines", name="brute force", line=dotted),
            go.Scatter(x=beta, y=value, mode="lines+markers", name="AIS, ± 2 errors",
                       line={"color": theme.OUTPUT, "width": 2}, marker={"size": 5},
                       error_y={**error, "thickness": 1.5, "width": 3}),
            go.Scatter(x=[1], y=[run.plain], mode="markers", name="prior draws alone",
                       marker={"size": 10, **grey}, error_y=of_plain),
            go.Scatter(mode="markers", showlegend=False, hoverinfo="skip", marker=ring),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="β", range=[-0.05, 1.08], tickvals=[0.25, 0.5, 0.75])
    fig.update_yaxes(title="log Z, nats", nticks=5, ticklabelposition="outside right")
    return turning(fig, 3, x=beta[:, None], y=value[:, None])
