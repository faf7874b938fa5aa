"""Tokens as coloured pieces: under several tokenizers one above the other, and merge by merge as a film."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import click_targets
from lab.figures.tokens import escape
from pages.language.tokenizer_workbench.lens import Coded, Merging

WRAP = 44.0  # letters a line
ASIDE = 11.0  # letters beside the lanes, for their names
ROWS = 2  # lines of a lane; an ellipsis stands for the rest
SIZE = 15
MOST = 250  # pieces of a film


def wide(tokens: Sequence[str]) -> list[float]:
    """Widths of pieces without ids, in letters."""
    return [max(1.3, len(token) + 0.5) for token in tokens[:MOST]]


def line(steps: Sequence[Merging]) -> float:
    """Letters a line of the film: so many that 13 lines hold the text."""
    return max(30.0, max(sum(wide(step.tokens)) for step in steps) / 13)


def wrapped(widths: Sequence[float], wrap: float) -> tuple[list[float], list[int]]:
    """Left ends and rows of pieces, in letters, in lines of `wrap`."""
    x, y, left, row = [], [], 0.0, 0
    for width in widths:
        if left and left + width > wrap:
            left, row = 0.0, row + 1
        x.append(left)
        y.append(row)
        left += width
    return x, y


@lru_cache(maxsize=4096)
def color(i: int, strength: float = 0.3) -> str:
    """The same id has the same colour; unknown is vermillion."""
    palette = [c for c in theme.CATEGORIES if c not in (theme.VERMILLION, theme.YELLOW)]
    return theme.fade(theme.VERMILLION, 0.75) if i < 0 else theme.fade(palette[i % len(palette)], strength)


def bar(x: Any, base: Any, y: Any, colors: Any, texts: Any) -> go.Bar:
    """Pieces as horizontal bars with their text inside."""
    return go.Bar(
        x=x, base=base, y=y, width=0.86, orientation="h", marker={"color": colors, "line_width": 0},
        text=texts, textposition="inside", insidetextanchor="middle", textangle=0, constraintext="none",
        textfont={"family": "monospace", "size": SIZE, "color": theme.text()}, hoverinfo="skip",
    )  # fmt: skip


def lanes(coded: Sequence[Coded]) -> go.Figure:
    """A text under several tokenizers, a lane each: its pieces with their ids, and how many there are."""
    fig, row = go.Figure(), 0
    bars: dict[str, list[Any]] = {name: [] for name in ("x", "base", "y", "colors", "texts")}
    for one in coded:
        numbers = [str(i) if i >= 0 else "?" for i in one.ids]
        widths = [max(len(t), 0.65 * len(n)) + 0.5 for t, n in zip(one.tokens, numbers, strict=True)]
        x, y = wrapped(widths, WRAP)
        fits = [i for i in range(len(x)) if y[i] < ROWS]
        cut = len(fits) < len(x)
        for i in fits:
            last = cut and i == fits[-1]
            bars["x"].append(widths[i] - 0.12)
            bars["base"].append(x[i])
            bars["y"].append(row + y[i])
            bars["colors"].append(color(one.ids[i]))
            bars["texts"].append("…" if last else f"{escape(one.tokens[i])}<br><sub>{numbers[i]}</sub>")
        unknown = f"<br>{one.unknown} unknown" if one.unknown else ""
        fig.add_annotation(
            x=-0.6, y=row, xanchor="right", showarrow=False, align="right", font={"size": SIZE - 1},
            text=f"<b>{one.name.replace(', ', '<br>')}</b><br>{len(one.tokens)} of {one.vocabulary}{unknown}",
        )  # fmt: skip
        row += 1 + max((y[i] for i in fits), default=0)
    fig.add_trace(bar(**bars))
    fig.update_xaxes(visible=False, range=[-ASIDE, WRAP + 0.2])
    fig.update_yaxes(visible=False, range=[row - 0.4, -0.6])
    fig.update_layout(margin={"t": 4, "b": 4, "l": 0, "r": 0}, showlegend=False)
    return fig


def merging(steps: Sequence[Merging], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The training text in pieces, the newest token in strong colour; a click reports the place of a piece.

    Returns:
        the figure at step `at`, and all its frames.
    """
    count = min(MOST, max(len(step.tokens) for step in steps))
    wrap = line(steps)
    x, base, y = (np.full((len(steps), count), np.nan) for _ in range(3))
    texts, colors, rows = [], [], 1
    for n, step in enumerate(steps):
        widths = wide(step.tokens)
        left, row = wrapped(widths, wrap)
        here = len(widths)
        x[n, :here], base[n, :here], y[n, :here] = np.array(widths) - 0.12, left, row
        shown = [escape(t) for t in step.tokens[:count]]
        if here < len(step.tokens):
            shown[-1] = "…"
        blank = [""] * (count - here)
        texts.append(shown + blank)
        strengths = [0.9 if new else 0.18 for new in step.new[:count]]
        colors.append([color(i, s) for i, s in zip(step.ids, strengths, strict=False)]
                      + ["rgba(0,0,0,0)"] * len(blank))  # fmt: skip
        rows = max(rows, max(row) + 1)
    middle = base + (x + 0.12) / 2
    fig = go.Figure(bar(x[at], base[at], y[at], colors[at], texts[at]))
    fig.add_trace(click_targets(middle[at], y[at], size=26))
    fig.update_xaxes(visible=False, range=[0, wrap + 0.2])
    fig.update_yaxes(visible=False, range=[rows - 0.5, -0.5])
    fig.update_layout(margin={"t": 4, "b": 4, "l": 0, "r": 0}, showlegend=False, hoverdistance=-1)
    return fig, {
        "data.0.x": x, "data.0.base": base, "data.0.y": y, "data.0.text": texts,
        "data.0.marker.color": colors, "data.1.x": middle, "data.1.y": y,
    }  # fmt: skip


def pressed(steps: Sequence[Merging], at: int, x: float, row: float) -> int | None:
    """The piece of `merging` at a place, as a number in the text; None beside all."""
    widths = wide(steps[at].tokens)
    left, rows = wrapped(widths, line(steps))
    places = enumerate(zip(left, rows, widths, strict=True))
    return next((i for i, (a, r, width) in places if r == row and a <= x <= a + width), None)


def pairs(tables: Sequence[tuple[Sequence[str], Sequence[float], Sequence[float]]], at: int
          ) -> tuple[go.Figure, dict[str, Any]]:  # fmt: skip
    """Bars of the most frequent pairs, before and after each merge: (names, before, after) a step.

    Returns:
        the figure at step `at`, and all its frames.
    """
    count = max(len(names) for names, _, _ in tables)
    names = [[*row, *[" "] * (count - len(row))] for row, _, _ in tables]
    before, after = (
        np.array([[*table[i], *[np.nan] * (count - len(table[i]))] for table in tables]) for i in (1, 2)
    )
    fig = basic.bars(
        names[at], after[at], baseline=before[at], horizontal=True, names=("after", "before"), xlabel="times"
    )
    fig.update_traces(hoverinfo="skip")
    fig.update_xaxes(range=[0, 1.05 * float(np.nanmax(before))])
    shown = [[escape(name) for name in row] for row in names]
    return fig, {"data.0.x": before, "data.1.x": after, "layout.yaxis.ticktext": shown}
