"""The table, a row a family, a column a promise, its colour whether the text agrees with the measurement; and
samples of each family beside it."""

from collections.abc import Sequence

import plotly.graph_objects as go
from torch import Tensor

from lab.figures import sheets, theme
from lab.figures.basic import click_targets

BROKEN = {"disentangled": "disen-<br>tangled", "likelihood": "likeli-<br>hood",
          "autoregressive": "auto-<br>regressive"}  # fmt: skip
MARGIN = {"t": 64, "l": 4, "r": 4, "b": 4}  # of both, so that their rows stand side by side


def table(
    rows: Sequence[str], columns: Sequence[str], words: Sequence[Sequence[str]],
    agree: Sequence[Sequence[int]], row: int, column: int,
) -> go.Figure:  # fmt: skip
    """Words (R, C) on colours (R, C) of 0 to 2; the chosen cell is framed."""
    colors = (theme.grid(), theme.fade(theme.BLUE, 0.35), theme.fade(theme.VERMILLION, 0.55))
    fig = go.Figure(
        go.Heatmap(
            z=agree, zmin=-0.5, zmax=2.5, showscale=False, hoverinfo="skip", xgap=3, ygap=3, text=words,
            texttemplate="%{text}", textfont={"color": theme.text()},
            colorscale=[[i / 3 + d / 3, color] for i, color in enumerate(colors) for d in (0, 1)],
        )
    )  # fmt: skip
    fig.add_trace(
        click_targets(
            [j for _ in rows for j in range(len(columns))], [i for i in range(len(rows)) for _ in columns]
        )
    )
    fig.add_shape(type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
                  line={"color": theme.text(), "width": 4})  # fmt: skip
    ticks = {"showgrid": False, "zeroline": False, "tickmode": "array"}
    fig.update_xaxes(**ticks, tickvals=list(range(len(columns))), side="top", tickangle=0, ticks="",
                     ticktext=[BROKEN.get(name, name.replace(" ", "<br>")) for name in columns])  # fmt: skip
    fig.update_yaxes(**ticks, tickvals=list(range(len(rows))), range=[len(rows) - 0.5, -0.5], ticks="",
                     ticktext=[BROKEN.get(name, name) for name in rows])  # fmt: skip
    fig.update_layout(hoverdistance=-1, margin=MARGIN)
    return fig


def samples(pictures: Tensor) -> go.Figure:
    """Samples (R, SHOWN, H, W), a row beside each of the table's."""
    rows, count, side, _ = pictures.shape
    names = ["samples" if j == count // 2 else "" for j in range(count)]
    fig = sheets.contact_sheet(pictures, [""] * rows, names)
    gap = sheets.gap_of(side) / 2
    fig.update_xaxes(side="top", ticks="", range=[-0.5 - gap, count * (side + 2 * gap) - 0.5 - gap])
    fig.update_yaxes(showticklabels=False, ticks="", range=[rows * (side + 2 * gap) - 0.5 - gap, -0.5 - gap])
    return fig.update_layout(margin=MARGIN)
