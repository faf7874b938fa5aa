"""The table: a row a family, a column a promise, its colour whether the text agrees with the measurement."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import click_targets

NAMES = (
    "no verdict or no measurement",
    "textbook and measurement agree",
    "the measurement contradicts the textbook",
)


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
    for name, color in zip(NAMES, colors, strict=True):
        fig.add_scatter(x=[None], y=[None], mode="markers", name=name,
                        marker={"symbol": "square", "size": 16, "color": color})  # fmt: skip
    fig.add_trace(
        click_targets(
            [j for _ in rows for j in range(len(columns))], [i for i in range(len(rows)) for _ in columns]
        )
    )
    fig.add_shape(type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
                  line={"color": theme.text(), "width": 4})  # fmt: skip
    ticks = {"showgrid": False, "zeroline": False, "tickmode": "array"}
    fig.update_xaxes(**ticks, tickvals=list(range(len(columns))), side="top",
                     ticktext=[name.replace(" ", "<br>") for name in columns])  # fmt: skip
    fig.update_yaxes(**ticks, tickvals=list(range(len(rows))), ticktext=list(rows), autorange="reversed")
    fig.update_layout(
        hoverdistance=-1, legend={"y": -0.02, "yanchor": "top"}, margin={"t": 64, "l": 4, "r": 4, "b": 4}
    )
    return fig
