"""Figures of collapse: the KL by dimension, strings."""

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import plotly.graph_objects as go
from torch import Tensor

from lab.figures import basic, theme
from lab.lenses.latent import MOVES
from pages.latent.collapse.lens import Dimensions

FLOOR = 1e-4  # of the logarithmic axis


def by_dimension(results: Sequence[Dimensions], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """KL of each dimension, the most costly first, violet where it is active; film over models."""
    most = max(len(one.kl) for one in results)
    colors = [[theme.ATTENTION if on else theme.HIDDEN for on in one.active.tolist()] for one in results]
    names = [f"z{j + 1}" for j in results[at].order]
    now = results[at].kl
    fig = basic.bars(names, now, xlabel="dimension, by its KL", ylabel="KLⱼ, nats")
    fig.update_traces(
        marker_color=colors[at], text=labels([now])[0], textposition="outside", cliponaxis=False
    )
    fig.update_yaxes(range=[0, 1.12 * max(one.kl.max().item() for one in results)])
    fig.update_xaxes(range=[-0.5, most - 0.5])
    moves = {
        "data.0.x": [list(range(len(one.kl))) for one in results], "data.0.y": [one.kl for one in results],
        "data.0.marker.color": colors, "data.0.text": labels([one.kl for one in results]),
        "layout.xaxis.tickvals": [list(range(len(one.kl))) for one in results],
        "layout.xaxis.ticktext": [[f"z{j + 1}" for j in one.order] for one in results],
    }  # fmt: skip
    return fig, moves


def labels(values: Sequence[Tensor]) -> list[list[str]]:
    """Numbers over bars."""
    return [[f"{v:.3f}" for v in one.tolist()] for one in values]


def movement(results: Sequence[Dimensions], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """KL of each dimension against how far its mean moves, each model's dimensions as dots; film over models.

    The line is the least: E KLⱼ = ½ Var μⱼ + ½ (E μⱼ)² + ½ E[σⱼ² − 1 − log σⱼ²].
    """
    x, y = ([getattr(one, part).clamp(min=FLOOR).tolist() for one in results] for part in ("moved", "kl"))
    fig = go.Figure()
    fig.add_scatter(x=[2 * FLOOR, 4], y=[FLOOR, 2], mode="lines", name="½ Var μⱼ", hoverinfo="skip",
                    line={"color": theme.soft(), "width": 3, "dash": "dot"})  # fmt: skip
    fig.add_scatter(x=list(chain(*x)), y=list(chain(*y)), mode="markers", name="all models", hoverinfo="skip",
                    marker={"size": 9, "color": theme.HIDDEN, "opacity": 0.5})  # fmt: skip
    fig.add_scatter(x=x[at], y=y[at], mode="markers", name="this model", hoverinfo="skip",
                    marker={"size": 16, "color": theme.ATTENTION,
                            "line": {"width": 2, "color": theme.paper()}})  # fmt: skip
    basic.rule(fig, x=MOVES, line={"color": theme.text(), "width": 2, "dash": "dash"})
    fig.add_annotation(x=math.log10(MOVES), y=-3.9, xanchor="left", yanchor="bottom", showarrow=False,
                       text=" active →", font={"size": theme.FONT_SIZE - 2})  # fmt: skip
    ticks = {"tickvals": [10.0**k for k in range(-4, 1)], "ticktext": ["10⁻⁴", "0.001", "0.01", "0.1", "1"]}
    fig.update_xaxes(type="log", title="Var μⱼ over test data", range=[-4.1, 0.7], **ticks)
    fig.update_yaxes(type="log", title="KLⱼ, nats", range=[-4.1, 0.5], **ticks)
    fig.update_layout(legend={"x": 0.02, "y": 0.99, "xanchor": "left", "yanchor": "top", "orientation": "v"})
    return fig, {"data.2.x": x, "data.2.y": y}


def strings(x: Tensor, title: str) -> go.Figure:
    """Bits (N, D) as rows of ink, as high as there is room."""
    fig = basic.image(x, title=title)
    fig.update_yaxes(scaleanchor=None)
    return fig
