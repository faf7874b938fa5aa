"""Completed digits in two colours, and the bells of the toy."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, sheets, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame, turning


def digits(pictures: Any, title: str) -> dict[str, Any]:
    """Pictures (F, N, H, W) in rows of three, from −1 (drawn ink) over 0 (paper) to 1 (given ink)."""
    z = sheets.frames(pictures, 3, between=0)
    fig = basic.image(z[0], title=title, zmin=-1, zmax=1)
    scale = [[0, theme.OUTPUT], [0.5, theme.paper()], [1, theme.text()]]
    return turning(fig.update_traces(colorscale=scale, selector={"type": "heatmap"}), z=z)


def toy(x: Any, reached: Any, exact: Any) -> dict[str, Any]:
    """Densities of x_2: exact (P,), reached (F, P)."""
    axis, p, q = array(x), array(reached), array(exact)
    lines = {
        "exact p(x₂ | x₁)": (q, {"width": 3, "color": theme.INPUT, "dash": "dash"}),
        "reached": (per_frame(p), {"width": 4, "color": theme.OUTPUT}),
    }
    data = [
        {"x": axis, "y": y, "name": name, "mode": "lines", "line": line} for name, (y, line) in lines.items()
    ]
    across = {"range": [float(axis[0]), float(axis[-1])], "tickvals": [-2, -1, 0, 1, 2]}
    up = {"range": [0, 1.15 * max(float(p.max()), float(q.max()))], "nticks": 5}
    axes = {"xaxis": {"title": "x₂"} | across, "yaxis": {"title": "density"} | up}
    return {"data": data, "layout": axes | {"meta": theme.NAMED_APART}}


def means(passes: Any, mean: Any, exact: float) -> dict[str, Any]:
    """The mean reached against the number of passes, the exact one as a line."""
    r, m = array(passes), array(mean)
    fig = go.Figure(
        [
            go.Scatter(x=r, y=m, mode="lines+markers", hoverinfo="x+y",
                       line={"width": 3, "color": theme.OUTPUT}, marker={"size": 8}),
            go.Scatter(mode="markers", hoverinfo="skip", marker={"size": 16, "color": theme.VERMILLION}),
        ]
    )  # fmt: skip
    fig.add_hline(y=exact, line={"color": theme.INPUT, "width": 3, "dash": "dash"})
    low, high = min(0.0, exact, float(m.min())), max(0.0, exact, float(m.max()))
    slack = 0.15 * (high - low or 1)
    fig.update_xaxes(
        type="log", title="passes r", tickvals=r, ticktext=[str(v) for v in r], range=[-0.1, 1.8]
    )
    fig.update_yaxes(title="mean of x₂", range=[low - slack, high + slack], nticks=5)
    return turning(fig.update_layout(showlegend=False), 1, x=r[:, None], y=m[:, None])
