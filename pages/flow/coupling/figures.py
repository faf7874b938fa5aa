"""A coupling's numbers as a table, its maps g, Jacobians, and the distributions of its outputs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, heatmap, image

INK = 17  # of the numbers in cells


def table(rows: Mapping[str, Any], copied: Any, now: int) -> tuple[go.Figure, dict[str, Any]]:
    """The rows of numbers of each layer, row 0 what goes in, the last what comes out; film over the layers.

    Args:
        rows: name -> (L, D), NaN where a copied number has none.
        copied: (L, D) bool.
    """
    v = np.stack([array(row) for row in rows.values()], 1).astype(float)  # (L, R, D)
    kept = array(copied)
    reach = float(np.nanmax(np.abs(v))) or 1.0
    labels = [str(i + 1) for i in range(v.shape[2])]
    fig = heatmap(
        v[now], labels, list(rows), scale="diverging", zmin=-reach, zmax=reach, colorbar=False, numbers=".3f",
        xlabel="number",
    )  # fmt: skip
    fig.update_traces(textfont={"size": INK + 2}, hoverinfo="skip")
    across, down = np.meshgrid(np.arange(v.shape[2]), np.arange(1, len(rows) - 1))
    texts = [["↓" if kept[layer, i] else "" for i in across.ravel()] for layer in range(len(v))]
    fig.add_trace(
        go.Scatter(
            x=across.ravel(), y=down.ravel(), mode="text", text=texts[now], hoverinfo="skip",
            showlegend=False,
            textfont={"size": 22, "color": theme.soft()},
        )
    )  # fmt: skip
    fig.update_layout(height=None, margin={"t": 12})
    return fig, {"data.0.z": v, "data.1.text": texts}


def details(
    at: Any, maps: Any, points: Any, own: Any, through: Any, now: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Below the maps g of the changed numbers with their points, above the Jacobians of this layer and of all
    so far; film over the layers.

    Args:
        at: (P,) places. maps: (L, K, P). points: (L, K, 2) before and after.
        own, through: (L, D, D).
    """
    m, p = array(maps).astype(float), array(points).astype(float)
    fig = make_subplots(
        rows=2, cols=2, specs=[[{}, {}], [{"colspan": 2}, None]], vertical_spacing=0.16,
        subplot_titles=["∂h′/∂h, this layer", "all so far", ""],
    )  # fmt: skip
    fig.update_annotations(font_size=theme.FONT_SIZE - 2)
    moves: dict[str, Any] = {}
    for column, matrices in enumerate((array(own), array(through)), start=1):
        z, size = matrices.astype(float), matrices.shape[-1]
        fig.add_trace(
            go.Heatmap(
                z=z[now], colorscale=theme.scale("diverging"), zmid=0, zmin=-2, zmax=2, showscale=False,
                xgap=1, ygap=1, texttemplate="%{z:.1f}", textfont={"size": INK - (0 if size < 5 else 4)},
                hoverinfo="skip",
            ), 1, column,
        )  # fmt: skip
        moves[f"data.{column - 1}.z"] = z
        numbers = {"tickvals": list(range(size)), "ticktext": [str(i + 1) for i in range(size)]}
        fig.update_xaxes(**numbers, showgrid=False, zeroline=False, row=1, col=column)
        fig.update_yaxes(**numbers, showgrid=False, zeroline=False, autorange="reversed", row=1, col=column)
    fig.add_trace(
        go.Scatter(x=[-5, 5], y=[-5, 5], mode="lines", line={"color": theme.HIDDEN, "dash": "dot"},
                   showlegend=False, hoverinfo="skip"), 2, 1,
    )  # fmt: skip
    for k in range(m.shape[1]):
        color = (theme.OUTPUT, theme.BLUE, theme.GREEN)[k % 3]
        fig.add_trace(go.Scatter(x=array(at), y=m[now, k], mode="lines", line={"color": color, "width": 4},
                                 showlegend=False, hoverinfo="skip"), 2, 1)  # fmt: skip
        moves[f"data.{3 + k}.y"] = m[:, k]
    first = 3 + m.shape[1]
    fig.add_trace(
        go.Scatter(x=p[now, :, 0], y=p[now, :, 1], mode="markers", showlegend=False, hoverinfo="skip",
                   marker={"size": 14, "color": theme.VERMILLION,
                           "line": {"width": 2, "color": theme.paper()}}),
        2, 1,
    )  # fmt: skip
    moves |= {f"data.{first}.x": p[..., 0], f"data.{first}.y": p[..., 1]}
    fig.update_xaxes(range=[-5, 5], title="h₂", row=2, col=1)
    fig.update_yaxes(range=[-6, 6], title="g(h₂)", row=2, col=1)
    fig.update_layout(height=None, margin={"t": 34})
    return fig, moves


def masked(
    pictures: Sequence[Any], copied: Sequence[Any], now: int, reach: float, title: str
) -> tuple[go.Figure, dict[str, Any]]:
    """A picture (H, W) with a cross on every copied pixel; film over the layers."""
    fig = image(pictures[now], title, "diverging", zmin=-reach, zmax=reach)
    places = [np.argwhere(array(mask)) for mask in copied]
    fig.add_scatter(x=places[now][:, 1], y=places[now][:, 0], mode="markers", hoverinfo="skip",
                    showlegend=False, marker={"symbol": "x-thin", "size": 12, "color": theme.text(),
                                              "line": {"width": 2, "color": theme.text()}})  # fmt: skip
    return fig, {"data.0.z": list(pictures), "data.1.x": [at[:, 1] for at in places],
                 "data.1.y": [at[:, 0] for at in places]}  # fmt: skip


def framed(fig: go.Figure, place: tuple[int, int]) -> go.Figure:
    """The picture with a frame around the pixel in this row and column."""
    row, column = place
    return fig.add_shape(
        type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": theme.VERMILLION, "width": 4},
    )  # fmt: skip


def distributions(
    middles: Any, heights: Any, distance: Any, p: Any, same: Any, now: int
) -> tuple[go.Figure, dict[str, Any]]:
    """A histogram of each output over the base's density; film over the layers, frame 0 before them.

    Args:
        heights: (F, D, B). distance, p, same: (F, D).
    """
    x, h = array(middles), array(heights)
    count = h.shape[1]
    columns = count if count <= 4 else -(-count // 2)
    texts = [
        [f"{i + 1}: " + ("the base's" if same[f, i] else f"D {float(distance[f, i]):.3f}, p {below(p[f, i])}")
         for i in range(count)]
        for f in range(len(h))
    ]  # fmt: skip
    fig = make_subplots(rows=-(-count // columns), cols=columns, subplot_titles=texts[now], shared_yaxes=True,
                        shared_xaxes=True, horizontal_spacing=0.03, vertical_spacing=0.14)  # fmt: skip
    fig.update_annotations(font_size=theme.FONT_SIZE - 1)
    moves: dict[str, Any] = {}
    normal = np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)
    for i in range(count):
        place = {"row": i // columns + 1, "col": i % columns + 1}
        fig.add_trace(go.Bar(x=x, y=h[now, i], marker={"color": theme.OUTPUT, "line": {"width": 0}},
                             name="output", showlegend=i == 0, hoverinfo="skip"), **place)  # fmt: skip
        fig.add_trace(go.Scatter(x=x, y=normal, mode="lines", line={"color": theme.INPUT, "width": 3},
                                 name="N(0, 1)", showlegend=i == 0, hoverinfo="skip"), **place)  # fmt: skip
        moves[f"data.{2 * i}.y"] = h[:, i]
        moves[f"layout.annotations.{i}.text"] = [row[i] for row in texts]
    fig.update_xaxes(range=[x[0], x[-1]])
    fig.update_yaxes(range=[0, 0.62], nticks=4)
    fig.update_layout(height=None, bargap=0, margin={"t": 70}, legend={"y": 1.08})
    return fig, moves


def below(p: Any) -> str:
    value = float(p)
    return "< 0.001" if value < 1e-3 else f"= {value:.3f}"
