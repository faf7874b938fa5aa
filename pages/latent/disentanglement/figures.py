"""Turned codes as a sheet, shares of the factors as a table, and what both cost over the models."""

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from datamodules.sprites import SIDE
from lab.figures import basic, sheets, theme
from pages.latent.disentanglement.lens import NAMES, VALUES, Scores

PITCH = SIDE + sheets.gap_of(SIDE)
TOP = 0.5  # share of a factor that is drawn darkest: single codes do not come near 1
MARK = {"color": theme.VERMILLION, "width": 4}


def turned(pictures: Tensor, rows: Sequence[str], at: int) -> go.Figure:
    """A row a dimension (R, C, H, W), a column a value; shape 0 frames row `at`."""
    fig = sheets.contact_sheet(pictures, rows, [f"{v:g}" if v == int(v) else "" for v in VALUES])
    low, high = edges(at)
    gap = PITCH - SIDE
    fig.add_shape(
        type="rect", x0=-0.5 - gap / 2, x1=len(VALUES) * PITCH - 0.5 - gap / 2, y0=low, y1=high, line=MARK
    )
    return fig


def edges(row: int) -> tuple[float, float]:
    """Top and bottom of the frame around a row of the sheet."""
    gap = PITCH - SIDE
    return row * PITCH - 0.5 - gap / 2, (row + 1) * PITCH - 0.5 - gap / 2


def sheet_moves(rows: int) -> dict[str, list[float]]:
    """The frame on each row, for a film."""
    places = [edges(row) for row in range(rows)]
    return {"layout.shapes.0.y0": [p[0] for p in places], "layout.shapes.0.y1": [p[1] for p in places]}


def table(shares: Tensor, rows: Sequence[str], at: int | None = None) -> go.Figure:
    """Shares (K, V) of the factors that each dimension tells; shape 0 frames row `at`."""
    fig = basic.heatmap(shares, NAMES, rows, numbers=".0%", zmin=0, zmax=TOP, colorbar=False)
    fig.update_xaxes(side="top", tickfont_size=16, range=[-0.53, len(NAMES) - 0.47])
    fig.update_yaxes(tickfont_size=18, range=[len(rows) - 0.45, -0.55])
    fig.update_traces(textfont_size=18)
    if at is not None:
        fig.add_shape(type="rect", x0=-0.5, x1=len(NAMES) - 0.5, y0=at - 0.5, y1=at + 0.5, line=MARK)
    return fig


def table_moves(rows: int) -> dict[str, list[float]]:
    """The frame on each row, for a film."""
    return {f"layout.shapes.0.y{end}": [row - 0.5 + end for row in range(rows)] for end in (0, 1)}


def price(results: Sequence[Scores], names: Sequence[str], at: int) -> go.Figure:
    """MIG, above, and TC, below, against what held-out pictures cost; rings (traces 2 and 3) around `at`."""
    costs = [one.distortion for one in results]
    values = [one.mig for one in results], [one.tc for one in results]
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for row, each in enumerate(values, 1):
        fig.add_scatter(
            x=costs, y=each, mode="markers+text", text=list(names) if row == 1 else [""] * len(names),
            textposition="top center", showlegend=False, row=row, col=1,
            marker={"size": 14, "color": theme.OUTPUT}, hovertext=list(names),
            hovertemplate="%{hovertext}: %{x:.1f} nats, %{y:.3f}<extra></extra>",
        )  # fmt: skip
    for row, each in enumerate(values, 1):
        fig.add_scatter(
            x=[costs[at]], y=[each[at]], mode="markers", showlegend=False, hoverinfo="skip", row=row, col=1,
            marker={"size": 26, "symbol": "circle-open", "color": theme.VERMILLION, "line": {"width": 4}},
        )  # fmt: skip
    low, high = min(costs), max(costs)
    room = 0.25 * (high - low or 1.0)
    fig.update_xaxes(range=[low - room, high + room])
    fig.update_xaxes(title="−E log p(x|z), held out, nats", row=2, col=1)
    for row, (word, each) in enumerate(zip(("MIG", "TC, nats"), values, strict=True), 1):
        fig.update_yaxes(title=word, range=[-0.08 * max(each), 1.35 * max(each)], row=row, col=1)
    return fig
