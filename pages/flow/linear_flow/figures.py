"""A plane under the factors of a matrix, the factors as maps of numbers, and measured times."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, heatmap


def plane(square: Any, circle: Any, cloud: Any, now: int) -> tuple[go.Figure, dict[str, Any]]:
    """Square, circle and samples, at first pale, and their images; film over the factors.

    Args:
        square, circle, cloud: (F, N, 2).
    """
    s, c, p = (array(v) for v in (square, circle, cloud))
    line = {"mode": "lines", "hoverinfo": "skip"}
    pale = {"line": {"color": theme.HIDDEN, "dash": "dot"}, **line}
    traces = [
        go.Scatter(x=p[now, :, 0], y=p[now, :, 1], mode="markers", name="samples", hoverinfo="skip",
                   marker={"size": 5, "color": theme.HIDDEN, "opacity": 0.6}),
        go.Scatter(x=c[now, :, 0], y=c[now, :, 1], name="ellipse", line={"color": theme.OUTPUT, "width": 4},
                   **line),
        go.Scatter(x=s[now, :, 0], y=s[now, :, 1], name="square", fill="toself",
                   fillcolor=theme.fade(theme.INPUT, 0.35), line={"color": theme.INPUT, "width": 4}, **line),
        go.Scatter(x=c[0, :, 0], y=c[0, :, 1], showlegend=False, **pale),
        go.Scatter(x=s[0, :, 0], y=s[0, :, 1], showlegend=False, **pale),
    ]  # fmt: skip
    fig = go.Figure(traces)
    reach = 1.08 * float(max(np.abs(c).max(), np.abs(s).max()))
    fig.update_xaxes(range=[-reach, reach], title="x₁", constrain="domain")
    fig.update_yaxes(range=[-reach, reach], title="x₂", scaleanchor="x", constrain="domain")
    moves = {
        f"data.{i}.{axis}": shape[..., j] for i, shape in enumerate((p, c, s)) for j, axis in enumerate("xy")
    }
    return fig, moves


def areas(values: Any, labels: list[str], now: int) -> tuple[go.Figure, dict[str, Any]]:
    """The square's area after each factor; the frame's bar is full."""
    v = array(values)
    full, pale = theme.INPUT, theme.fade(theme.INPUT, 0.35)
    colors = [[full if i == frame else pale for i in range(len(v))] for frame in range(len(v))]
    fig = go.Figure(
        go.Bar(x=labels, y=v, marker={"color": colors[now], "line": {"width": 0}}, hoverinfo="skip",
               text=[f"{a:.2f}" for a in v], textposition="outside", cliponaxis=False)
    )  # fmt: skip
    fig.update_yaxes(title="area of the square", range=[0, 1.2 * float(v.max())], nticks=5)
    return fig, {"data.0.marker.color": colors}


def factors(matrices: dict[str, Any]) -> go.Figure:
    """Matrices side by side with their numbers."""
    fig = make_subplots(rows=1, cols=len(matrices), subplot_titles=list(matrices), horizontal_spacing=0.06)
    reach = max(float(np.abs(array(m)).max()) for m in matrices.values())
    for column, matrix in enumerate(matrices.values(), start=1):
        z = array(matrix).astype(float)
        fig.add_trace(
            go.Heatmap(z=z, zmin=-reach, zmax=reach, colorscale=theme.scale("diverging"), showscale=False,
                       xgap=1, ygap=1, hoverinfo="skip", texttemplate="%{z:.3~g}", textfont={"size": 19}),
            1, column,
        )  # fmt: skip
    fig.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    fig.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, autorange="reversed")
    return fig.update_layout(margin={"t": 40})


def vectors(values: Any, rows: list[str], now: int) -> tuple[go.Figure, dict[str, Any]]:
    """The numbers known so far, (F, R, D)."""
    v = array(values).astype(float)
    reach = float(np.nanmax(np.abs(v))) or 1.0
    fig = heatmap(v[now], [str(i + 1) for i in range(v.shape[2])], rows, scale="diverging", zmin=-reach,
                  zmax=reach, colorbar=False, numbers=".3f")  # fmt: skip
    fig.update_traces(textfont={"size": 19}, hoverinfo="skip")
    return fig.update_layout(height=None, margin={"t": 12}), {"data.0.z": v}


def times(rows: dict[str, list[float]]) -> go.Figure:
    """Milliseconds against D, both logarithmic, with lines of slope 2 and 3 through the last points."""
    fig = go.Figure()
    for name, color, power in (("dense inverse", theme.OUTPUT, 3), ("two triangles", theme.INPUT, 2)):
        fig.add_trace(go.Scatter(x=rows["D"], y=rows[name], name=name, mode="lines+markers",
                                 marker={"size": 11}, line={"color": color, "width": 4}))  # fmt: skip
        ends = [rows["D"][0], rows["D"][-1]]
        guide = [rows[name][-1] * (d / ends[-1]) ** power for d in ends]
        fig.add_trace(go.Scatter(x=ends, y=guide, name=f"D{'²³'[power - 2]}", mode="lines",
                                 line={"color": color, "width": 2, "dash": "dot"}))  # fmt: skip
    fig.update_xaxes(type="log", title="D", tickvals=rows["D"], ticktext=[str(d) for d in rows["D"]])
    fig.update_yaxes(type="log", title="milliseconds", exponentformat="power", dtick=1)
    return fig
