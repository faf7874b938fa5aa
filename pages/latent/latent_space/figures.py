"""Figures of the latent rooms: sheets of digits, walks, a posterior, a bound split into its parts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array, rule
from lab.lenses.latent import Window

WALKS = {"linear": theme.BLUE, "spherical": theme.VERMILLION}


# --- Sheets of digits -----------------------------------------------------------------------------


def gap_of(side: int) -> int:
    """Pixels between two pictures of a sheet."""
    return max(1, side // 14)


def sheet(pictures: Any) -> np.ndarray:
    """(..., R, C, H, W) pictures as sheets (..., R (H + gap), C (W + gap)), with nothing between them."""
    z = array(pictures)
    *lead, r, c, h, w = z.shape
    gap = gap_of(h)
    out = np.full((*lead, r, h + gap, c, w + gap), np.nan, dtype=np.float32)
    out[..., :h, :, :w] = np.moveaxis(z, -2, -3)  # (..., R, H, C, W)
    return out.reshape(*lead, r * (h + gap), c * (w + gap))


def contact_sheet(
    pictures: Any, rows: Sequence[str], columns: Sequence[str], xlabel: str = "", clickable: bool = False
) -> go.Figure:
    """A table of pictures with names on both sides.

    Args:
        pictures: (R, C, H, W) in [0, 1].
        rows, columns: R and C names; of many columns every second or third is named.
        clickable: a click on a picture reports x = column, y = row.
    """
    r, c, h, w = array(pictures).shape
    gap = gap_of(h)
    middle_x = [j * (w + gap) + (w - 1) / 2 for j in range(c)]
    middle_y = [i * (h + gap) + (h - 1) / 2 for i in range(r)]
    fig = go.Figure(
        go.Heatmap(z=sheet(pictures), zmin=0, zmax=1, colorscale=theme.scale("grey"), showscale=False,
                   hoverinfo="skip")
    )  # fmt: skip
    if clickable:
        places = [(i, j) for i in range(r) for j in range(c)]
        fig.add_trace(
            basic.click_targets(
                [middle_x[j] for _, j in places], [middle_y[i] for i, _ in places], places,
                [f"{rows[i]}, {columns[j]}" for i, j in places], size=40,
            )
        )  # fmt: skip
        fig.update_layout(hoverdistance=-1)
    step = -(-c // 11)  # names that would collide are left out
    fig.update_xaxes(
        showgrid=False, zeroline=False, title=xlabel, tickvals=middle_x[::step],
        ticktext=list(columns)[::step], range=[-0.5 - gap, c * (w + gap) - 0.5], constrain="domain",
    )  # fmt: skip
    fig.update_yaxes(
        showgrid=False, zeroline=False, tickvals=middle_y, ticktext=list(rows), scaleanchor="x",
        range=[r * (h + gap) - 0.5, -0.5 - gap], constrain="domain",
    )  # fmt: skip
    return fig


def frame(fig: go.Figure, side: int, at: float, row: int | None, rows: int) -> go.Figure:
    """A frame around column `at` of a sheet, of all rows or of one."""
    pitch, gap = side + gap_of(side), gap_of(side)
    top, height = (0, rows) if row is None else (row, 1)
    fig.add_shape(
        type="rect", **dict(zip(("x0", "x1"), edges(side, at), strict=True)),
        y0=top * pitch - 0.5 - gap / 2, y1=(top + height) * pitch - 0.5 - gap / 2,
        line={"color": theme.VERMILLION, "width": 4},
    )  # fmt: skip
    return fig


def edges(side: int, at: float) -> tuple[float, float]:
    """Left and right edge of the frame around column `at`."""
    pitch, gap = side + gap_of(side), gap_of(side)
    return at * pitch - 0.5 - gap / 2, (at + 1) * pitch - 0.5 - gap / 2


def frame_moves(side: int, places: Sequence[float]) -> dict[str, list[float]]:
    """The frame at each of these columns, for a film."""
    moves = [edges(side, at) for at in places]
    return {
        "layout.shapes.0.x0": [left for left, _ in moves],
        "layout.shapes.0.x1": [right for _, right in moves],
    }


def label_gap(side: int) -> int:
    """Pixels between two pictures that have texts above them."""
    return max(2, side // 4)


def labelled(
    pictures: Sequence[Any], labels: Sequence[str], columns: int, scale: theme.Scale = "grey"
) -> go.Figure:
    """Pictures (N of (H, W)), each with a short text above it, that may change with a film:
    "layout.annotations.<i>.text"."""
    gap = label_gap(array(pictures[0]).shape[-1])
    fig = basic.images(
        np.stack([array(p) for p in pictures]), columns=columns, labels=labels, gap=gap, scale=scale
    )
    bottom, _ = fig.layout.yaxis.range
    fig.update_yaxes(range=[bottom, -0.5 - gap])
    fig.update_layout(margin={"l": 4, "r": 4, "t": 8, "b": 4})
    return fig


def grids_of(pictures: Any, columns: int, gap: int) -> np.ndarray:
    """Sheets of a film, laid as `basic.images` lays them.

    Args:
        pictures: (F, N, H, W), N a multiple of `columns`.
    """
    z = array(pictures)
    frames, n, h, w = z.shape
    rows = n // columns
    out = np.full((frames, rows, h + gap, columns, w + gap), np.nan, dtype=np.float32)
    out[:, :, :h, :, :w] = np.moveaxis(z.reshape(frames, rows, columns, h, w), 3, 2)
    out = out.reshape(frames, rows * (h + gap), columns * (w + gap))
    return out[:, : rows * (h + gap) - gap, : columns * (w + gap) - gap]


# --- Curves and bars --------------------------------------------------------------------------------


def norms(t: Any, lengths: Mapping[str, Any], typical: float, at: float) -> go.Figure:
    """‖z(t)‖ along each walk against the length that draws from the prior have.

    Args:
        t: (steps,) in [0, 1].
        lengths: "linear" and "spherical" -> (steps,).
        typical: mean length of a draw from the prior.
        at: the current t.
    """
    fig = basic.curves(dict(lengths), t, colors=WALKS, mark=at, xlabel="t", ylabel="length ‖z(t)‖")
    rule(fig, y=typical, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    fig.add_annotation(
        x=0.02, y=typical, xref="paper", text="typical of the prior", showarrow=False, yanchor="bottom",
        xanchor="left",
    )  # fmt: skip
    top = max(typical, *(float(array(v).max()) for v in lengths.values()))
    fig.update_yaxes(range=[0, 1.25 * top])
    fig.update_xaxes(range=[0, 1], tickvals=[0.2, 0.4, 0.6, 0.8, 1])  # the corner belongs to the lengths
    return fig


def posterior(near: Window, outline: Any) -> go.Figure:
    """The exact posterior on a small square, and the outline (M, 2) of the encoder's guess."""
    line = array(outline)
    colors = [[0, theme.paper()], [1, theme.OUTPUT]]
    fig = go.Figure(
        go.Heatmap(x=array(near.u), y=array(near.v), z=array(near.density), zmin=0, colorscale=colors,
                   showscale=False, hoverinfo="skip")
    )  # fmt: skip
    fig.add_scatter(x=line[:, 0], y=line[:, 1], mode="lines", line={"color": theme.BLUE, "width": 3},
                    showlegend=False, hoverinfo="skip")  # fmt: skip
    fig.update_xaxes(showgrid=False, zeroline=False, constrain="domain", nticks=3)
    fig.update_yaxes(showgrid=False, zeroline=False, scaleanchor="x", constrain="domain", nticks=4)
    fig.update_layout(title="Exact, near A")
    return fig


def reach(reconstruction: Sequence[float], kl: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds both bars of `costs`; it grows in steps, so that bars can be compared."""
    low = min(0.0, *reconstruction)
    high = max(0.0, *(r + k for r, k in zip(reconstruction, kl, strict=True)))
    return 50 * math.floor(low / 50), 50 * math.ceil(1.02 * high / 50 + 1e-9)


def costs(
    rows: Sequence[str], reconstruction: Sequence[float], kl: Sequence[float], reach: tuple[float, float]
) -> go.Figure:
    """What a bound costs, as stacked bars in nats: −E log p(x|z) and the weighted KL.

    Args:
        rows: names, one a bar.
        reconstruction, kl: the parts of each bar.
        reach: ends of the axis.
    """
    fig = go.Figure()
    for name, values, color in (
        ("reconstruction", reconstruction, theme.OUTPUT),
        ("KL × weight", kl, theme.ATTENTION),
    ):
        fig.add_trace(
            go.Bar(
                y=list(rows), x=list(values), orientation="h", name=name,
                marker={"color": color, "line_width": 0},
                hovertemplate="%{x:.4f} nats<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    fig.update_layout(barmode="relative", bargap=0.3, showlegend=True)
    fig.update_xaxes(title="nats", range=list(reach))
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig


def dimensions(kl: Any, average: Any, order: Sequence[int], highlight: int | None = None) -> go.Figure:
    """KL of each latent dimension for this digit, beside the mean over the examples; both (K,)."""
    kl, average = array(kl)[list(order)], array(average)[list(order)]
    return basic.bars(
        [str(i + 1) for i in order], kl, highlight, baseline=average, ylabel="KL, nats",
        xlabel="dimension", names=("this digit", "mean of the examples"), color=theme.ATTENTION,
    )  # fmt: skip
