"""Tokens as coloured pieces with their numbers, several tokenizers one above the other."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import click_targets
from lab.figures.tokens import escape

WRAP = 44  # characters a line
SIZE = 15


def pieces(
    tokens: Sequence[str],
    ids: Sequence[int],
    marked: Sequence[bool] | None = None,
    most: int = 400,
    clickable: bool = False,
) -> go.Figure:
    """A text as pieces, each with its id below; the same id has the same colour.

    Args:
        tokens: as shown. ids: -1 is an unknown token, drawn in vermillion.
        marked: pieces to stand out; all others are pale.
        most: pieces drawn; an ellipsis stands for the rest.
        clickable: a click reports customdata = [place in `tokens`].
    """
    left, row, x, y, widths = 0.0, 0, [], [], []
    shown = list(tokens[:most]) + (["…"] if len(tokens) > most else [])
    numbers = [str(i) if i >= 0 else "?" for i in ids[:most]] + ([""] if len(tokens) > most else [])
    for token, number in zip(shown, numbers, strict=True):
        width = max(len(token), 0.8 * len(number)) + 0.5
        if left and left + width > WRAP:
            left, row = 0.0, row + 1
        x.append(left)
        y.append(row)
        widths.append(width)
        left += width
    palette = [color for color in theme.CATEGORIES if color not in (theme.VERMILLION, theme.YELLOW)]
    colors = []
    for place in range(len(shown)):
        i = ids[place] if place < len(ids) else 0
        if i < 0:
            color, strength = theme.VERMILLION, 0.75
        else:
            chosen = marked is not None and place < len(marked) and marked[place]
            color, strength = palette[i % len(palette)], 0.3 if marked is None else 0.85 if chosen else 0.15
        colors.append(theme.fade(color, strength))
    fig = go.Figure(
        go.Bar(
            x=[w - 0.12 for w in widths],
            base=x,
            y=y,
            width=0.86,
            orientation="h",
            marker={"color": colors, "line_width": 0},
            text=[
                f"{escape(t)}<br><span style='font-size:11px'>{n}</span>"
                for t, n in zip(shown, numbers, strict=True)
            ],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            constraintext="none",
            textfont={"family": "monospace", "size": SIZE, "color": theme.text()},
            hovertext=[f"{escape(t)}: id {n}" for t, n in zip(shown, numbers, strict=True)],
            hoverinfo="text",
        )
    )
    if clickable:
        middle = [a + w / 2 for a, w in zip(x, widths, strict=True)][:most]
        fig.add_trace(click_targets(middle, y[:most], [[i] for i in range(len(tokens[:most]))]))
        fig.update_layout(hoverdistance=-1)
    rows = row + 1
    fig.update_xaxes(visible=False, range=[0, WRAP + 0.2])
    fig.update_yaxes(visible=False, range=[rows - 0.5, -0.5])
    fig.update_layout(
        height=int(24 + 46 * rows), margin={"t": 4, "b": 4, "l": 0, "r": 0}, showlegend=False, title=""
    )
    return fig
