"""log p over its parameter, the bound below it, and where we stand on both."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule


def landscape(theta: Any, log_p: Any, bounds: Any, at: int, stands: Any, top: float | None) -> go.Figure:
    """Traces: log p; the bound of the move before; the bound; the gap; the path; us.

    Args:
        theta: (T,); log_p (T,); bounds (F, T), the bound of every move's q.
        stands: (F, 3) θ, log p and bound of every move.
        top: θ where log p is greatest, or None.
    """
    grid, black, curves, s = array(theta), array(log_p), array(bounds), array(stands)
    fig = go.Figure()
    for y, name, color, width, dash in (
        (black, "log p(x; θ)", theme.text(), 5, "solid"),
        (curves[max(at - 1, 0)], "bound of the q before", theme.fade(theme.OUTPUT, 0.5), 3, "dot"),
        (curves[at], "bound of this q", theme.OUTPUT, 4, "solid"),
    ):
        fig.add_scatter(x=grid, y=y, mode="lines", name=name,
                        line={"color": color, "width": width, "dash": dash},
                        hovertemplate="θ = %{x:.2f}: %{y:.3f}<extra></extra>")  # fmt: skip
    paths = walk(s)
    for i, (name, line, marker) in enumerate(
        (
            ("gap", {"color": theme.VERMILLION, "width": 3}, {"size": 1}),
            ("path", {"color": theme.INPUT, "width": 2}, {"size": 6, "color": theme.INPUT}),
            ("us", {"width": 0}, {"size": 17, "color": [theme.text(), theme.OUTPUT]}),
        )
    ):
        fig.add_scatter(x=paths[f"data.{3 + i}.x"][at], y=paths[f"data.{3 + i}.y"][at], name=name, line=line,
                        mode="markers" if name == "us" else "lines+markers", marker=marker,
                        showlegend=False, hoverinfo="skip")  # fmt: skip
    if top is not None:
        rule(fig, x=top, line={"color": theme.soft(), "width": 2, "dash": "dot"})
    high, low = float(black.max()), float(np.quantile(black, 0.1))
    span = max(high - min(low, float(s[:, 2].min())), 0.2)
    fig.update_xaxes(title="θ", range=[grid[0], grid[-1]], zeroline=False)
    fig.update_yaxes(title="nats per point", range=[high - 1.15 * span, high + 0.15 * span], zeroline=False)
    return fig


def walk(stands: Any) -> dict[str, np.ndarray]:
    """The gap, the path of (θ, bound) so far, and us on both curves, for every frame."""
    s = array(stands)
    count = len(s)
    seen = np.arange(count)[None] <= np.arange(count)[:, None]  # (F, F)
    pair = s[:, [0, 0]], s[:, 1:]
    return {
        "data.3.x": pair[0], "data.3.y": pair[1],
        "data.4.x": np.where(seen, s[None, :, 0], np.nan), "data.4.y": np.where(seen, s[None, :, 2], np.nan),
        "data.5.x": pair[0], "data.5.y": pair[1],
    }  # fmt: skip


def moves(bounds: Any, stands: Any) -> dict[str, np.ndarray]:
    """Moving parts of `landscape`."""
    b = array(bounds)
    return {"data.1.y": b[[max(i - 1, 0) for i in range(len(b))]], "data.2.y": b, **walk(stands)}
