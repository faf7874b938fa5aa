"""Results of every width of a beam: three curves, and the texts themselves."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.tokens import escape

LINE = 36  # characters


def widths(
    sizes: Sequence[int],
    log_prob: Sequence[float],
    lengths: Sequence[float],
    normalised: Sequence[float],
    beam: Sequence[float],
    diverse: Sequence[float],
    alpha: float,
) -> tuple[go.Figure, dict[str, np.ndarray]]:
    """Curves of W widths: log P of the best text, its length by the sum and by the power α, and the share of
    different pairs of tokens in a beam and in groups; and the frames of the line at the width looked at."""
    titles = ("log P of the best", "tokens of the best", "different pairs")
    fig = make_subplots(1, 3, subplot_titles=titles, horizontal_spacing=0.09)
    places = list(range(len(sizes)))
    lines = [
        (1, log_prob, "beam", theme.BLUE, True), (2, lengths, "beam", theme.BLUE, False),
        (3, beam, "beam", theme.BLUE, False), (2, normalised, f"α = {alpha:g}", theme.GREEN, True),
        (3, diverse, "groups", theme.ORANGE, True),
    ]  # fmt: skip
    for column, values, name, color, named in lines:
        dashed = name.startswith("α")
        fig.add_scatter(
            x=places, y=list(values), name=name, mode="lines+markers", showlegend=named, row=1, col=column,
            line={"color": color, "width": 3, "dash": "dash" if dashed else "solid"}, marker={"size": 9},
        )  # fmt: skip
    frames = {}
    for column in (1, 2, 3):
        fig.add_vline(
            x=0, line={"color": theme.text(), "width": 2, "dash": "dot"}, row=1, col=column,
        )  # fmt: skip
        for end in ("x0", "x1"):
            frames[f"layout.shapes.{column - 1}.{end}"] = np.arange(len(sizes), dtype=float)
    fig.update_xaxes(tickvals=places, ticktext=[str(s) for s in sizes], range=[-0.4, len(sizes) - 0.6])
    fig.update_yaxes(nticks=4)
    reach = [min(log_prob), max(log_prob)]
    fig.update_yaxes(range=[reach[0] - 0.5, reach[1] + 0.5], row=1, col=1)
    fig.update_yaxes(range=[0, 1.25 * max(*lengths, *normalised)], row=1, col=2)
    fig.update_yaxes(range=[0, 1.08], row=1, col=3)
    fig.update_annotations(font_size=theme.FONT_SIZE - 2)
    fig.update_layout(showlegend=True, legend={"y": 1.16}, margin={"t": 58})
    return fig, frames


def text_list(texts: Sequence[Sequence[str]], title: str) -> tuple[go.Figure, dict[str, list[str]]]:
    """Texts (W widths, up to the largest of them), one a row; and the frames over the widths."""
    most = max(map(len, texts))
    rows = [[cut(row[n]) if n < len(row) else "" for row in texts] for n in range(most)]
    fig = go.Figure(
        go.Scatter(
            x=[0.0] * most, y=list(range(most)), mode="text", text=[row[0] for row in rows],
            textposition="middle right", hoverinfo="skip", showlegend=False,
            textfont={"family": "monospace", "size": theme.FONT_SIZE},
        )
    )  # fmt: skip
    fig.update_xaxes(visible=False, range=[0, 1])
    fig.update_yaxes(visible=False, range=[most - 0.4, -0.6])
    fig.update_layout(title=title)
    return fig, {f"data.0.text.{n}": row for n, row in enumerate(rows)}


def cut(text: str) -> str:
    """The beginning of a text that is longer than a line."""
    return escape(text if len(text) <= LINE else f"{text[: LINE - 1]}…") or " "
