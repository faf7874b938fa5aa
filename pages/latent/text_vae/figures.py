"""Figures of lines from codes: a walk as a sheet of text, how far it goes, and a line letter by letter."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme

LEFT, WIDE = -3.5, 40  # columns of the sheet: room for the names of the ends, and letters


def sheet(a: str, b: str, written: Sequence[str], at: int) -> go.Figure:
    """The line A, what is written on the way, and the line B; letters are orange where a line differs from
    the one above it. The present one is framed (shape 0)."""
    fig = go.Figure()
    rows = [a, *written, b]
    last = len(rows) - 1
    x: list[float] = []
    y, letters, colors = [], [], []
    for row, line in enumerate(rows):
        above = rows[row - 1] if 1 < row < last else None
        for column, letter in enumerate(line):
            if letter == " ":
                continue
            same = above is not None and column < len(above) and above[column] == letter
            x.append(column)
            y.append(row)
            letters.append(letter)
            colors.append(
                theme.INPUT
                if row in (0, last)
                else theme.text()
                if above is None or same
                else theme.VERMILLION
            )
    x += [LEFT + 1.5] * 2
    y += [0, last]
    letters += ["<b>A</b>", "<b>B</b>"]
    colors += [theme.INPUT] * 2
    fig.add_scatter(
        x=x, y=y, text=letters, mode="text", hoverinfo="skip", showlegend=False,
        textfont={"family": "monospace", "size": theme.FONT_SIZE, "color": colors},
    )  # fmt: skip
    fig.add_shape(
        type="rect", x0=-0.8, x1=WIDE - 0.2, y0=at + 0.5, y1=at + 1.5,
        line={"color": theme.VERMILLION, "width": 3},
    )  # fmt: skip
    fig.update_xaxes(visible=False, range=[LEFT, WIDE])
    fig.update_yaxes(visible=False, range=[last + 0.7, -0.7])
    fig.update_layout(margin={"t": 4, "b": 4, "l": 4, "r": 4})
    return fig


def turning(count: int) -> dict[str, Any]:
    """What moves in `sheet`: the frame."""
    return {
        "layout.shapes.0.y0": [i + 0.5 for i in range(count)],
        "layout.shapes.0.y1": [i + 1.5 for i in range(count)],
    }


def departures(moved: Mapping[str, Sequence[int]], ts: Sequence[float], at: int) -> go.Figure:
    """How many letters differ from the first line's along the walk, a line for each model."""
    fig = basic.curves(moved, ts, mark=ts[at], xlabel="t", ylabel="letters that differ", markers=True)
    fig.update_yaxes(range=[-1, 1.05 * max(10, *(max(line) for line in moved.values()))])
    return fig


def letters(told: Any, names: tuple[str, str]) -> go.Figure:
    """−log p of each letter with the line's own code, and with others'."""
    fig = basic.bars(told.letters, told.own, baseline=told.other, names=names, ylabel="−log p, nats")
    fig.update_xaxes(tickangle=0, tickfont={"family": "monospace"})
    return fig
