"""Blind spots drawn: which earlier pixels reach a conditional, which never do, and what it costs."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_plane, curves, image, images, rule
from lab.figures.raster import ring

DECADES = 8  # of the number of paths, from the palest blue to full blue


def reach(paths: Any, pixel: int, at: int = 0) -> tuple[go.Figure, dict[str, Any]]:
    """Pixels of the picture that a pixel's logit reads after `at` layers, and the frames for every number of
    layers; a click reports x = column, y = row.

    Args:
        paths: (L, side, side) at least 0, drawn by the logarithm.
        pixel: number of the pixel in raster order.
    """
    p = array(paths).astype(float)
    side = p.shape[-1]
    number = np.arange(side * side).reshape(side, side)
    read, earlier = p > 0, number < pixel
    fig = image(np.zeros((side, side)))
    fig.update_traces(xgap=1, ygap=1)
    most = p.max((1, 2), keepdims=True)
    decades = np.log10(np.where(read, p, 1)) - np.log10(np.where(most > 0, most, 1))
    shade = np.clip(1 + decades / DECADES, 0.15, 1)
    frames: dict[str, Any] = {}
    for name, cells, z, color in (
        ("read", read & earlier, shade, theme.INPUT),
        ("blind spot", earlier & ~read, np.full_like(p, 0.75), theme.VERMILLION),
        ("leak", read & ~earlier, np.ones_like(p), theme.ATTENTION),
    ):
        if not cells.any():
            continue
        shown = np.where(cells, z, np.nan).astype(np.float32)
        counts = [f"{name}: {int(count)}" for count in cells.sum((1, 2))]
        frames |= {f"data.{len(fig.data)}.z": shown, f"data.{len(fig.data) + 1}.name": counts}
        scale = [[0, theme.fade(color, 0.1)], [1, theme.fade(color, 1.0)]]
        fig.add_heatmap(z=shown[at], zmin=0, zmax=1, colorscale=scale, showscale=False, hoverinfo="skip",
                        xgap=1, ygap=1)  # fmt: skip
        fig.add_scatter(x=[None], y=[None], mode="markers", name=counts[at],
                        marker={"symbol": "square", "size": 16, "color": color})  # fmt: skip
    texts = [f"row {i}, column {j}" for i, j in np.ndindex(side, side)]
    places = np.arange(side)
    fig.add_trace(click_plane(places, places, np.array(texts, dtype=object).reshape(side, side)))
    fig.add_trace(ring(pixel % side, pixel // side, side))
    fig.update_layout(
        hoverdistance=-1, showlegend=True, plot_bgcolor=theme.grid(),
        legend={"orientation": "h", "y": -0.02, "yanchor": "top"}, margin_t=8,
    )  # fmt: skip
    return fig, frames


def unread(lines: dict[str, Any], layer: int, title: str = "", height: int = 520) -> go.Figure:
    """Earlier pixels that are not read, after each layer: name -> (layers,) counts; a line at `layer`."""
    fig = curves(
        lines, title=title, xlabel="layers after the first", mark=layer, height=height,
        colors=dict(zip(lines, (theme.VERMILLION, theme.BLUE), strict=False)),
    )  # fmt: skip
    last = len(next(iter(lines.values()))) - 1
    fig.update_xaxes(range=[-0.1 * last, 1.03 * last], zeroline=False)  # the zeros of the axes must not meet
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
    """Nats per picture of each model as bars, a line at the least a density can pay and one at fair coins."""
    names, values = list(costs), list(costs.values())
    fig = go.Figure(
        go.Bar(
            x=names, y=values, marker={"color": theme.OUTPUT, "line_width": 0},
            text=[f"{v:.2f}" for v in values], textposition="outside", cliponaxis=False,
            hovertext=[f"{n}: {v:.4f} nats" for n, v in costs.items()], hoverinfo="text",
        )
    )  # fmt: skip
    for height_, name, color in ((coins, "fair coins", theme.HIDDEN), (floor, "floor", theme.VERMILLION)):
        rule(
            fig, y=height_, line={"color": color, "width": 3, "dash": "dash"},
            annotation={"text": f"{name} {height_:.2f}", "xanchor": "right", "x": 1, "yanchor": "top"},
        )  # fmt: skip
    fig.update_yaxes(range=[0, 1.18 * max(coins, *values)], title="nats")
    fig.update_layout(title=title, height=height, showlegend=False)
    return fig
