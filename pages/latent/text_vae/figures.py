"""Figures of lines from codes: a walk as a sheet of text, how far it goes, and a line letter by letter."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme

LEFT, WIDE = -3.5, 40  # columns of the sheet: room for the names of the ends, and letters


def marked(line: str, above: str) -> str:
    """A line in which every letter that the one above does not have there is orange."""
    padded = above.ljust(len(line))
    parts = []
    for same, run in groupby(zip(line, padded, strict=False), lambda pair: pair[0] == pair[1]):
        text = "".join(letter for letter, _ in run)
        parts.append(text if same else f'<span style="color:{theme.VERMILLION}">{text}</span>')
    return "".join(parts)


def sheet(a: str, b: str, written: Sequence[str], at: int) -> go.Figure:
    """The line A, what is written on the way, and the line B; letters are orange where a line differs from
    the one above it. The present one is framed (shape 0)."""
    last = len(written) + 1
    # one text a line: with one a letter the film turns a third as fast
    lines = [marked(line, before) for line, before in zip(written, [*written[:1], *written], strict=False)]
    fig = go.Figure()
    for x, y, text, color in (
        ([0] * len(lines), list(range(1, last)), lines, theme.text()),
        ([0, 0], [0, last], [a, b], theme.INPUT),
        ([LEFT + 1] * 2, [0, last], ["<b>A</b>", "<b>B</b>"], theme.INPUT),
    ):
        fig.add_scatter(
            x=x, y=y, text=text, mode="text", textposition="middle right", hoverinfo="skip", showlegend=False,
            textfont={"family": "monospace", "size": theme.FONT_SIZE, "color": color},
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
    """Moving parts of `sheet`: the frame."""
    return {
        "layout.shapes.0.y0": [i + 0.5 for i in range(count)],
        "layout.shapes.0.y1": [i + 1.5 for i in range(count)],
    }


def departures(moved: Mapping[str, Sequence[int]], ts: Sequence[float], at: int) -> go.Figure:
    """Number of letters that differ from the first line's along the walk, a line for each model."""
    fig = basic.curves(moved, ts, mark=ts[at], xlabel="t", ylabel="letters that differ", markers=True)
    fig.update_yaxes(range=[-1, 1.05 * max(10, *(max(line) for line in moved.values()))])
    return fig


def letters(result: Any, names: tuple[str, str]) -> go.Figure:
    """−log p of each letter with the line's own code, and with others'."""
    fig = basic.bars(result.letters, result.own, baseline=result.other, names=names, ylabel="−log p, nats")
    fig.update_xaxes(tickangle=0, tickfont={"family": "monospace"})
    return fig
