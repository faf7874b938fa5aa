"""Many pictures at once: a table of them with names on both sides, a frame that walks over it, a sheet with a
text above each picture."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame, turning


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


def over_bars(
    pictures: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    bars: Sequence[float],
    xlabel: str,
    ylabel: str,
) -> go.Figure:
    """A `contact_sheet`, and under each column a bar with its number; the second trace is the bars."""
    side = array(pictures).shape[-1]
    fig = contact_sheet(pictures, rows, columns, xlabel=xlabel)
    fig.add_bar(
        x=[sum(edges(side, i)) / 2 for i in range(len(bars))], y=list(bars), yaxis="y2",
        text=bar_labels(bars), width=0.6 * (side + gap_of(side)), textposition="outside", cliponaxis=False,
        hoverinfo="skip", textfont={"size": theme.FONT_SIZE}, marker={"color": theme.OUTPUT},
    )  # fmt: skip
    up = {"domain": [0, 0.36], "anchor": "x", "title": {"text": ylabel}, "nticks": 4}
    fig.update_layout(showlegend=False, margin={"t": 8}, xaxis_anchor="y2", yaxis_domain=[0.42, 1])
    return fig.update_layout(yaxis2=up | {"range": [0, 1.2 * max(bars)]})


def bar_labels(bars: Sequence[float]) -> list[str]:
    """The numbers of bars; of none, nothing."""
    return ["" if not b else f"{b:.0f}" if b >= 10 else f"{b:.2g}" for b in bars]


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


def walking(fig: go.Figure, side: int, places: Sequence[float], row: int | None, rows: int) -> dict[str, Any]:
    """A sheet with a `frame` that stands around another column at each frame of a film."""
    tree = frame(fig, side, places[0], row, rows).to_plotly_json()
    left, right = zip(*(edges(side, at) for at in places), strict=True)
    tree["layout"]["shapes"][0] |= {"x0": per_frame(left), "x1": per_frame(right)}
    return tree


def label_gap(side: int) -> int:
    """Pixels between two pictures that have texts above them."""
    return max(2, side // 4)


def labelled(
    pictures: Sequence[Any], labels: Sequence[str], columns: int, scale: theme.Scale = "grey", **how: Any
) -> go.Figure:
    """Pictures (N of (H, W)), each with a short text above it, that may change with a film:
    "layout.annotations.<i>.text"; `how` is as of `basic.images`."""
    gap = label_gap(array(pictures[0]).shape[-1])
    fig = basic.images(
        np.stack([array(p) for p in pictures]), columns=columns, labels=labels, gap=gap, scale=scale, **how
    )
    bottom, _ = fig.layout.yaxis.range
    fig.update_yaxes(range=[bottom, -0.5 - gap])
    fig.update_layout(margin={"l": 4, "r": 4, "t": 8, "b": 4})
    return fig


def frames(pictures: Any, columns: int | None = None, gap: int = 1, between: float = np.nan) -> np.ndarray:
    """The frames of a film of sheets, each laid as `basic.images` lays it.

    Args:
        pictures: (F, N, H, W), or a sequence of (N, H, W).
        columns: pictures a row; None makes each sheet about square.
        between: what the gaps hold, and places without a picture.
    """
    z = np.stack([array(each) for each in pictures])
    z = z if np.issubdtype(z.dtype, np.floating) else z.astype(np.float32)
    films, n, h, w = z.shape
    columns, rows = basic.table_of(n, columns)
    out = np.full((films, rows * (h + gap) - gap, columns * (w + gap) - gap), between, dtype=z.dtype)
    for i, (top, left) in enumerate(basic.corners(n, columns, h + gap, w + gap)):
        out[:, top : top + h, left : left + w] = z[:, i]
    return out


def film(pictures: Any, columns: int | None = None, gap: int = 1, **how: Any) -> dict[str, Any]:
    """A sheet of other pictures at each frame, (F, N, H, W) or a sequence of (N, H, W); `how` is as of
    `basic.images`."""
    return turning(basic.images(pictures[0], columns, gap=gap, **how), z=frames(pictures, columns, gap))
