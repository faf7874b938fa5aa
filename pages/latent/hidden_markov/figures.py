"""A trellis that fills up, the strip of what is known, α on a long sequence, and the count of paths."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array

NUMBERED = 12  # observations up to which the trellis shows its numbers


def segments(ways: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lines of the transitions that are drawn, (..., T − 1, K, K) bool -> x and y (..., 3 (T − 1) K²)."""
    on = array(ways)
    steps, k = on.shape[-3], on.shape[-1]
    t, j, i = np.indices((steps, k, k))
    x = np.stack([t + 1.0, t + 2.0, np.full(t.shape, np.nan)], -1)
    y = np.stack([j + 0.0, i + 0.0, np.full(t.shape, np.nan)], -1)
    hidden = ~on[..., None]
    x, y = np.where(hidden, np.nan, x), np.where(hidden, np.nan, y)
    return x.reshape(*on.shape[:-3], -1), y.reshape(*on.shape[:-3], -1)


def written(values: Any) -> list[list[str]]:
    """(F, T, K) as texts of the nodes, "" where nothing stands."""
    v = array(values)
    if v.shape[1] > NUMBERED:
        return [[""] * v[0].size for _ in v]
    return [["" if np.isnan(one) else short(one) for one in frame.ravel()] for frame in v]


def short(v: float) -> str:
    return f"{v:.3g}" if v == 0 or v >= 1e-3 else f"{v:.1e}".replace("e-0", "e−").replace("e-", "e−")


def trellis(film: Any, at: int, states: Sequence[str], symbols: Sequence[str], title: str) -> go.Figure:
    """Traces: 0 all transitions, 1 those of this frame, 2 the path, 3 the nodes. Frames by `filling`."""
    t, k = array(film.values).shape[1:]
    frames, size = filling(film), 40 if t <= NUMBERED else max(8, 300 // t)
    faint = segments(np.ones((t - 1, k, k), bool))
    fig = go.Figure()
    for (x, y), color, width in (
        (faint, theme.grid(), 2),
        ((frames["data.1.x"][at], frames["data.1.y"][at]), theme.INPUT, 3),
        ((np.arange(1, t + 1), frames["data.2.y"][at]), theme.VERMILLION, 8),
    ):
        fig.add_trace(go.Scatter(x=x, y=y, mode="lines", hoverinfo="skip", showlegend=False,
                                 line={"color": color, "width": width}))  # fmt: skip
    fig.add_trace(
        go.Scatter(
            x=np.repeat(np.arange(1, t + 1), k), y=np.tile(np.arange(k), t), mode="markers+text",
            text=frames["data.3.text"][at], textposition="bottom center", showlegend=False, hoverinfo="text",
            textfont={"size": 17, "color": theme.text()}, cliponaxis=False,
            marker={"size": size, "color": frames["data.3.marker.color"][at], "cmin": 0, "cmax": 1,
                    "colorscale": theme.scale("probability"), "line": {"width": 2, "color": theme.text()}},
        )
    )  # fmt: skip
    fig.update_xaxes(tickvals=list(range(1, t + 1)), ticktext=list(symbols), range=[0.4, t + 0.6],
                     showgrid=False, zeroline=False)  # fmt: skip
    fig.update_yaxes(tickvals=list(range(k)), ticktext=list(states), range=[k - 0.35, -0.5], showgrid=False,
                     zeroline=False)  # fmt: skip
    return fig.update_layout(title=title)


def filling(film: Any) -> dict[str, Any]:
    """Moving parts of `trellis`."""
    x, y = segments(film.ways)
    path = array(film.path).astype(float)
    path[path < 0] = np.nan
    colours = array(film.colours)
    return {
        "data.1.x": x, "data.1.y": y, "data.2.y": path, "data.3.text": written(film.values),
        "data.3.marker.color": colours.reshape(len(colours), -1),
    }  # fmt: skip


def strip(rows: dict[str, Any], symbols: Sequence[str]) -> go.Figure:
    """Rows by name, (T,) from 0 to 1."""
    names = list(rows)
    fig = basic.heatmap(np.stack([array(v) for v in rows.values()]), list(symbols), names, colorbar=False)
    return fig


def cell(xi: Any, states: Sequence[str]) -> go.Figure:
    """ξ of one step, (K, K), with numbers: from the row's state to the column's."""
    fig = basic.heatmap(
        xi, states, states, "ξ", numbers=".3f", colorbar=False, square=True, xlabel="to", ylabel="from"
    )
    return fig.update_traces(textfont={"size": 20})


def sinking(log_p: Any, plain: Any, single: Any) -> go.Figure:
    """log₁₀ Σ α by t: scaled, and as it is in float64 and float32, until they are 0 (NaN)."""
    lines = {"scaled": array(log_p), "float64": array(plain), "float32": array(single)}
    colors = {"scaled": theme.HIDDEN, "float64": theme.OUTPUT, "float32": theme.INPUT}
    time = range(1, len(array(log_p)) + 1)
    fig = basic.curves(lines, time, xlabel="t", ylabel="log₁₀ p(x₁ … xₜ)", colors=colors)
    for trace, width in zip(fig.data, (4, 9, 9), strict=True):
        trace.line.width = width
    return fig


def work(length: int, states: int) -> go.Figure:
    """log₁₀ of the number of paths K^t and of the products of a forward pass, (t − 1) K²."""
    t = np.arange(1, length + 1)
    paths, products = t * np.log10(states), np.log10(np.maximum((t - 1) * states**2, 1))
    lines = {"paths, Kᵗ": paths, "products, (t − 1) K²": products}
    colors = dict(zip(lines, (theme.VERMILLION, theme.GREEN), strict=True))
    return basic.curves(lines, t, xlabel="t", ylabel="log₁₀ of the count", colors=colors)
