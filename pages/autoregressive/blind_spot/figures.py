"""Blind spots drawn: which earlier pixels reach a conditional, which never do, and what it costs."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_targets, curves, image, images
from lab.figures.raster import ring

DECADES = 8  # of the gradient, from the palest blue to full blue


def reach(gradient: Any, pixel: int, title: str = "", height: int = 520) -> go.Figure:
    """What a pixel's logit reads of the picture; a click reports x = column, y = row.

    Args:
        gradient: (side, side) at least 0: |∂ logit / ∂ x|, drawn by its logarithm.
        pixel: number of the pixel in raster order.
    """
    g = array(gradient).astype(float)
    side = len(g)
    number = np.arange(side * side).reshape(side, side)
    read, earlier = g > 0, number < pixel
    fig = image(np.zeros((side, side)), title=title, height=height)
    fig.update_traces(xgap=1, ygap=1)
    decades = np.log10(np.where(read, g, 1)) - np.log10(g.max() or 1.0)
    shade = np.clip(1 + decades / DECADES, 0.15, 1)
    blue, red, violet = theme.INPUT, theme.VERMILLION, theme.ATTENTION
    for name, cells, z, color in (
        ("read", read & earlier, shade, blue),
        ("blind spot", earlier & ~read, np.full_like(g, 0.75), red),
        ("leak", read & ~earlier, np.ones_like(g), violet),
    ):
        if cells.any():
            scale = [[0, theme.fade(color, 0.1)], [1, theme.fade(color, 1.0)]]
            fig.add_trace(
                go.Heatmap(
                    z=np.where(cells, z, np.nan), zmin=0, zmax=1, colorscale=scale, showscale=False,
                    hoverinfo="skip", xgap=1, ygap=1,
                )
            )  # fmt: skip
            fig.add_trace(
                go.Scatter(
                    x=[None], y=[None], mode="markers", name=f"{name}: {int(cells.sum())}",
                    marker={"symbol": "square", "size": 16, "color": color},
                )
            )  # fmt: skip
    i, j = (index.ravel() for index in np.indices(g.shape))
    hover = [f"row {a}, column {b}: {g[a, b]:.2g}" for a, b in zip(i, j, strict=True)]
    fig.add_trace(click_targets(j, i, np.column_stack([i, j]), hover, size=max(10, 400 // side)))
    fig.add_trace(ring(pixel % side, pixel // side, side))
    fig.update_layout(
        hoverdistance=-1, showlegend=True, plot_bgcolor=theme.grid(),
        legend={"orientation": "h", "y": -0.02, "yanchor": "top"},
    )  # fmt: skip
    return fig


def unread(lines: dict[str, Any], layer: int, title: str = "", height: int = 520) -> go.Figure:
    """Earlier pixels that are not read, after each layer: name -> (layers,) counts; a line at `layer`."""
    fig = curves(
        lines, title=title, xlabel="layers after the first", mark=layer, height=height,
        colors=dict(zip(lines, (theme.VERMILLION, theme.BLUE), strict=False)),
    )  # fmt: skip
    fig.update_yaxes(rangemode="tozero")
    return fig


def copied(picture: Any, pixel: int, source: int | None, title: str = "", height: int = 400) -> go.Figure:
    """Stripes (side, side), a ring around `pixel` and a blue one around the pixel that it copies."""
    z = array(picture)
    side = len(z)
    fig = image(z, title=title, zmin=0, zmax=1, clickable=True, height=height)
    fig.update_traces(xgap=2, ygap=2, selector={"type": "heatmap"})
    fig.update_xaxes(range=[-0.6, side - 0.4])  # room for a ring around a pixel of the margin
    fig.update_yaxes(range=[side - 0.4, -0.6])
    fig.update_layout(plot_bgcolor=theme.grid())
    fig.add_trace(ring(pixel % side, pixel // side, side))
    if source is not None:
        fig.add_trace(
            ring(source % side, source // side, side).update(marker={"color": theme.SKY, "line_width": 5})
        )
    return fig


def sheet(pictures: Any, title: str = "", height: int = 400) -> go.Figure:
    """Sixteen pictures at most (N, 1, H, W), each on its own paper, so that an empty one shows."""
    fig = images(array(pictures)[:16], columns=4, title=title, zmin=0, zmax=1, height=height)
    return fig.update_layout(plot_bgcolor=theme.grid())


def against(
    costs: dict[str, float], floor: float, coins: float, title: str = "", height: int = 400
) -> go.Figure:
    """Nats a picture of each model as bars, a line at the least a density can pay and one at fair coins."""
    names, values = list(costs), list(costs.values())
    fig = go.Figure(
        go.Bar(
            x=names, y=values, marker={"color": theme.OUTPUT, "line_width": 0},
            text=[f"{v:.2f}" for v in values], textposition="outside", cliponaxis=False,
            hovertext=[f"{n}: {v:.4f} nats" for n, v in costs.items()], hoverinfo="text",
        )
    )  # fmt: skip
    for height_, name, color in ((coins, "fair coins", theme.HIDDEN), (floor, "floor", theme.VERMILLION)):
        fig.add_hline(
            y=height_, line={"color": color, "width": 3, "dash": "dash"},
            annotation={"text": f"{name} {height_:.2f}", "xanchor": "right", "x": 1, "yanchor": "top"},
        )  # fmt: skip
    fig.update_yaxes(range=[0, 1.18 * max(coins, *values)], title="nats")
    fig.update_layout(title=title, height=height, showlegend=False)
    return fig
