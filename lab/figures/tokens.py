"""Text generation drawn: the text so far, the bars before and after truncation, draws, and the cost."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, rule
from lab.figures.moving import Tree, per_frame, turning
from lab.lenses.sampling import Reel

WRAP = 40  # characters a line of the strip
FAR = 1000.0  # where what is not to be seen lies
LETTERS = 5  # of a token's name in a cell


def strip(tokens: Sequence[str], prompt: int, count: int) -> Tree:
    """The text while `count` tokens are drawn: prompt blue, drawn orange, the newest framed, later ones pale;
    at most five lines are seen, the one that is written among them.

    Args:
        tokens: as shown, in order. prompt: how many are the prompt.
    """
    x, y = wrap(tokens, WRAP)
    inks = [theme.INPUT, theme.OUTPUT, theme.fade(theme.HIDDEN, 0.45)]
    places = range(prompt, prompt + count)
    colors = [[inks[0 if j < prompt else 1 if j <= i else 2] for j in range(len(tokens))] for i in places]
    half = [max(1, len(tokens[i])) / 2 for i in places]
    first = [max(0, min(max(y) - 4, y[i] - 2)) for i in places]
    rows = max(y) + 1
    text = {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "text",
        "text": [escape(t) for t in tokens],
        "textfont": {"color": per_frame(colors), "size": theme.FONT_SIZE, "family": "monospace"},
        "hovertext": [f"{i + 1}: {escape(t)}" for i, t in enumerate(tokens)],
        "hoverinfo": "text",
        "showlegend": False,
    }
    frame = {
        "type": "rect",
        "x0": per_frame([x[i] - h for i, h in zip(places, half, strict=True)]),
        "x1": per_frame([x[i] + h for i, h in zip(places, half, strict=True)]),
        "y0": per_frame([y[i] - 0.48 for i in places]),
        "y1": per_frame([y[i] + 0.48 for i in places]),
        "line": {"color": theme.VERMILLION, "width": 3},
    }
    result = per_frame([[min(max(y), f + 4) + 0.6, f - 0.6] for f in first])
    layout = {
        "shapes": [frame],
        "xaxis": {"visible": False, "range": [-1, WRAP]},
        "yaxis": {"visible": False, "range": result},
        "height": int(40 + 30 * rows),
        "margin": {"t": 8, "b": 8},
        "showlegend": False,
    }
    return {"data": [text], "layout": layout}


def wrap(tokens: Sequence[str], most: int) -> tuple[list[float], list[int]]:
    """Middle and row of every token of a text in lines of `most` characters; "⏎" ends a line too."""
    x: list[float] = []
    y: list[int] = []
    row, column = 0, 0
    for token in tokens:
        width = max(1, len(token))
        if column and column + width > most:
            row, column = row + 1, 0
        x.append(column + (width - 1) / 2)
        y.append(row)
        column += width
        if "⏎" in token:
            row, column = row + 1, 0
    return x, y


def shortened(name: str) -> str:
    """The name of a token as it fits a cell; the whole one is read by pointing at it."""
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def escape(text: str) -> str:
    """Plotly reads a few HTML tags: a token that looks like one is text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def truncation(
    names: Sequence[str],
    before: Tensor,
    after: Tensor,
    kept: Tensor,
    drawn: int | None = None,
    *,
    cut: bool = False,
) -> go.Figure:
    """The most probable tokens before and after temperature and truncation, and the line where they are cut.

    Args:
        names: N tokens by rank.
        before, after: (N,). kept: (N,) bool.
        drawn: index of the token drawn, pointed at; None if it is not among these.
        cut: the line and its word are there even where nothing is cut, out of sight: for a film.
    """
    b, a, k = array(before), array(after), array(kept).astype(bool)
    places = list(range(len(names)))
    fig = go.Figure()
    for values, name, color in ((b, "before", theme.HIDDEN), (a, "after", theme.OUTPUT)):
        fig.add_trace(
            go.Bar(
                x=places,
                y=values,
                name=name,
                marker={"color": color, "line_width": 0},
                hovertext=[f"{escape(n)} {name}: {v:.4f}" for n, v in zip(names, values, strict=True)],
                hoverinfo="text",
            )
        )
    if cut or not k.all():
        line = int(k.sum()) - 0.5 if not k.all() else FAR
        rule(fig, x=line, line={"color": theme.VERMILLION, "width": 3, "dash": "dash"})
        right = line < 0.75 * len(names)
        fig.add_annotation(
            x=line,
            y=1,
            yref="paper",
            text="cut →" if right else "← kept",
            showarrow=False,
            xanchor="left" if right else "right",
            xshift=6 if right else -6,
            font={"color": theme.VERMILLION},
        )
    if drawn is not None:
        fig.add_annotation(
            x=drawn, y=max(a[drawn], b[drawn]), text="drawn", showarrow=True, arrowhead=2, ax=0, ay=-36
        )
    if cut:
        fig.add_annotation(x=FAR, y=0, text="drawn", showarrow=True, arrowhead=2, ax=0, ay=-36)
    fig.update_xaxes(
        tickvals=places,
        ticktext=[escape(n) for n in names],
        showgrid=False,
        tickangle=0 if max(map(len, names)) <= 2 else -60,
        range=[-0.6, len(names) - 0.4],
    )
    fig.update_yaxes(title="probability", range=[0, min(1.0, 1.25 * float(max(a.max(), b.max())))])
    fig.update_layout(height=400, barmode="group", bargap=0.2)
    return fig


def ticks(top: float) -> float:
    """The step of a probability axis that holds `top`; none stands above 1, where a label has room."""
    return next(step for least, step in ((0.7, 0.5), (0.3, 0.2), (0.12, 0.1), (0.0, 0.05)) if top >= least)


def truncations(reel: Reel) -> Tree:
    """`truncation` at every step, with the token that was drawn pointed at."""
    before, after, kept = array(reel.before), array(reel.after), array(reel.kept).astype(bool)
    N = before.shape[1]
    top = np.maximum(before, after)
    line = np.where(kept.all(1), FAR, kept.sum(1) - 0.5)
    right, drawn = line < 0.75 * N, array(reel.drawn)
    fig = truncation(reel.names[0], reel.before[0], reel.after[0], reel.kept[0], cut=True)
    tree = turning(turning(fig, y=before), 1, y=after)
    layout = tree["layout"]
    layout["xaxis"] |= {"ticktext": per_frame([[escape(n) for n in row] for row in reel.names])}
    layout["yaxis"] |= {
        "dtick": per_frame([ticks(float(t)) for t in top.max(1)]),
        "range": per_frame([[0.0, min(1.35, 1.45 * float(t))] for t in top.max(1)]),
    }
    layout["shapes"][0] |= {"x0": per_frame(line), "x1": per_frame(line)}
    cut, word = layout["annotations"]
    cut |= {
        "x": per_frame(line),
        "text": per_frame(["cut →" if r else "← kept" for r in right]),
        "xanchor": per_frame(["left" if r else "right" for r in right]),
    }
    word |= {
        "x": per_frame(np.where(drawn < 0, FAR, drawn)),
        "y": per_frame(np.where(drawn < 0, 0, top[np.arange(len(top)), drawn.clip(0)])),
    }
    return tree


def draws(names: Sequence[str], counts: Tensor, expected: Tensor, *, labels: bool = True) -> go.Figure:
    """Counts of many draws beside n·p ± σ, the spread that chance alone gives. (N,) each.

    Args:
        labels: name the tokens under their bars; not where a figure beside has them already.
    """
    o, e = array(counts), array(expected)
    places = list(range(len(names)))
    # one standard deviation of a binomial count
    spread = np.sqrt(np.clip(e * (1 - e / max(1.0, float(o.sum()))), 0, None))
    fig = go.Figure(
        [
            go.Bar(
                x=places,
                y=o,
                name="drawn",
                marker={"color": theme.OUTPUT, "line_width": 0},
                hovertext=[
                    f"{escape(n)}: {v:.0f} drawn, {w:.1f} expected"
                    for n, v, w in zip(names, o, e, strict=True)
                ],
                hoverinfo="text",
            ),
            go.Scatter(
                x=places,
                y=e,
                name="n·p ± σ",
                mode="markers",
                marker={
                    "symbol": "line-ew",
                    "size": 18 if labels else 8,
                    "line": {"width": 3, "color": theme.text()},
                },
                error_y={"array": spread, "color": theme.text(), "thickness": 1.5, "width": 4},
                hoverinfo="skip",
            ),
        ]
    )
    fig.update_xaxes(
        tickvals=places,
        ticktext=[escape(n) for n in names],
        showgrid=False,
        tickangle=0 if max(map(len, names)) <= 2 else -60,
        showticklabels=labels,
    )
    fig.update_yaxes(title="draws")
    fig.update_layout(height=400)
    return fig


def work(cached: Sequence[int], full: Sequence[int], ylabel: str, limit: int | None = None) -> go.Figure:
    """Work at each step, with and without the cache; a line where the context is full.

    Args:
        limit: the first step at which the window slides; None if it never does.
    """
    steps = list(range(1, len(cached) + 1))
    fig = go.Figure()
    for values, name, color in ((full, "without cache", theme.HIDDEN), (cached, "with cache", theme.OUTPUT)):
        fig.add_trace(
            go.Bar(
                x=steps,
                y=list(values),
                name=name,
                marker={"color": color, "line_width": 0},
                hovertext=[f"step {s}, {name}: {v:,}" for s, v in zip(steps, values, strict=True)],
                hoverinfo="text",
            )
        )
    if limit is not None:
        rule(fig, x=limit - 0.5, line={"color": theme.VERMILLION, "width": 3, "dash": "dash"})
        fig.add_annotation(
            x=limit,
            y=1,
            yref="paper",
            text="context full",
            showarrow=False,
            xanchor="left",
            font={"color": theme.VERMILLION},
        )
    fig.update_xaxes(title="step")
    fig.update_yaxes(title=ylabel)
    fig.update_layout(height=360, barmode="overlay", bargap=0.1)
    return fig
