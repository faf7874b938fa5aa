"""Receptive fields drawn: the box of theory, the gradient that was measured, a patch times its kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, image
from lab.figures.moving import Tree, per_frame, turning

Span = tuple[int, int]


def veil(color: str) -> list[list[float | str]]:
    """A scale from nothing to `color`, to lay over a picture."""
    return [[0, theme.fade(color, 0)], [0.02, theme.fade(color, 0.1)], [1, theme.fade(color, 0.95)]]


def on_image(x: Any, gradient: Any = None, box: Sequence[Span] | None = None, height: int = 420) -> go.Figure:
    """A picture (H, W), the box of theory as a frame, the measured |gradient| (H, W) as colour over it.

    Args:
        box: (first row, last row), (first column, last column); None draws no frame.
    """
    fig = image(x, height=height, hover=gradient is None)
    if gradient is not None:
        g = array(gradient).astype(float)
        peak = g.max() or 1.0
        texts = [
            f"row {i}, column {j}: {v:.3g}" for i, row in enumerate(g.tolist()) for j, v in enumerate(row)
        ]
        hover = np.array(texts, dtype=object).reshape(g.shape)  # plotly is slow to read nested lists
        fig.add_trace(
            go.Heatmap(
                z=g / peak, zmin=0, zmax=1, colorscale=veil(theme.ORANGE), showscale=False,
                hovertext=hover, hoverinfo="text",
            )
        )  # fmt: skip
    if box is not None:
        (top, bottom), (left, right) = box
        fig.add_shape(
            type="rect", x0=left - 0.5, x1=right + 0.5, y0=top - 0.5, y1=bottom + 0.5,
            line={"color": theme.BLUE, "width": 4},
        )  # fmt: skip
    return fig


AWAY: list[Span] = [(-9, -9), (-9, -9)]  # of a unit that sees the padding alone


def field(x: Any, result: Any, box: Sequence[Span] | None, ylabel: str = "|gradient|") -> go.Figure:
    """The input (1, positions...) with the box of theory and what was found, a signal's named `ylabel`."""
    if array(x).ndim == 3:
        return on_image(x[0], result, box or AWAY)
    return on_signal(x[0], result, (box or AWAY)[0], ylabel)


def fields(x: Any, result: Any, boxes: Sequence[Sequence[Span] | None], ylabel: str = "|gradient|") -> Tree:
    """`field` from unit to unit; found (U, positions...)."""
    g, spans = array(result).astype(np.float32), np.array([box or AWAY[: array(x).ndim - 1] for box in boxes])
    low, high = spans[..., 0] - 0.5, spans[..., 1] + 0.5  # (U, axes)
    fig = field(x, result[0], boxes[0], ylabel)
    if array(x).ndim == 3:
        peak = g.max((1, 2), keepdims=True)
        tree = turning(fig, 1, z=g / np.where(peak > 0, peak, 1))
        tree["layout"]["shapes"][0] |= {
            "x0": per_frame(low[:, 1]), "x1": per_frame(high[:, 1]),
            "y0": per_frame(low[:, 0]), "y1": per_frame(high[:, 0]),
        }  # fmt: skip
        return tree
    tree = turning(fig, 1, y=g)
    for shape in tree["layout"]["shapes"][:2]:
        shape |= {"x0": per_frame(low[:, 0]), "x1": per_frame(high[:, 0])}
    return tree


def on_signal(x: Any, result: Any, span: Span, ylabel: str = "|gradient|") -> go.Figure:
    """A signal (n,), the box of theory shaded, what was found at each input (n,) as bars below it."""
    values, g = array(x).astype(float), array(result).astype(float)
    position = list(range(len(values)))
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.5, 0.5])
    fig.add_scatter(
        x=position, y=values, mode="lines+markers", row=1, col=1, name="input",
        line={"color": theme.INPUT, "width": 3}, marker={"size": 8},
    )  # fmt: skip
    fig.add_bar(x=position, y=g, row=2, col=1, name=ylabel, marker={"color": theme.OUTPUT})
    for row in (1, 2):
        fig.add_vrect(
            x0=span[0] - 0.5, x1=span[1] + 0.5, row=row, col=1, line={"color": theme.BLUE, "width": 3},
            fillcolor=theme.fade(theme.BLUE, 0.12), layer="below",
        )  # fmt: skip
    fig.update_xaxes(showgrid=False, range=[-0.6, len(values) - 0.4])
    fig.update_xaxes(title="input", row=2, col=1)
    fig.update_yaxes(title="value", row=1, col=1)
    fig.update_yaxes(title=ylabel, rangemode="tozero", row=2, col=1)
    fig.update_layout(height=420, showlegend=False, bargap=0.15)
    return fig


def product(patch: Any, kernel: Any, height: int = 260) -> go.Figure:
    """patch × kernel = products, element by element: three small matrices with their numbers."""
    shape = (-1, array(patch).shape[-1])
    parts = [array(patch).reshape(shape), array(kernel).reshape(shape)]
    parts.append(parts[0] * parts[1])
    rows, columns = parts[0].shape
    names = ("patch", "kernel", "products")
    fig = make_subplots(rows=1, cols=3, horizontal_spacing=0.06, subplot_titles=names)
    written = "%{z:.2f}" if columns <= 5 else ""
    for index, part in enumerate(parts, 1):
        reach = float(np.abs(part[np.isfinite(part)]).max(initial=0.0)) or 1.0
        fig.add_trace(
            go.Heatmap(
                z=part, zmin=-reach, zmax=reach, colorscale=theme.scale("diverging"), showscale=False,
                texttemplate=written, textfont={"size": theme.FONT_SIZE - 4}, xgap=2, ygap=2,
                hovertemplate="%{z:.5g}<extra></extra>",
            ),
            row=1, col=index,
        )  # fmt: skip
    for index, sign in ((1, "×"), (2, "=")):
        left, right = (fig.layout[f"xaxis{n if n > 1 else ''}"].domain for n in (index, index + 1))
        fig.add_annotation(
            x=(left[1] + right[0]) / 2, y=0.5, xref="paper", yref="paper", text=sign, showarrow=False,
            font={"size": 28},
        )  # fmt: skip
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False, autorange="reversed")
    fig.update_layout(height=max(150, min(height, 120 + 42 * rows)), margin={"t": 44})
    return fig
