"""Experts by tokens, loads as bars, a table of kinds of characters, and a plane that experts share."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, heatmap, rule
from lab.figures.moving import Tree, per_frame, turning
from lab.figures.tokens import escape
from pages.transformer.experts.lens import KINDS, Routed

HEIGHT = 460
# name; (F, E) of each frame or (E,) of all; colour, or one an expert
Rows = list[tuple[str, Any, str | list[str]]]


def names(count: int) -> list[str]:
    return [str(i + 1) for i in range(count)]


def routes(one: Routed) -> Tree:
    """Weights of the experts of each token, rows experts; × where one was full. A frame marks a column."""
    E, T = one.weights.shape
    crosses = [["×" if full else "" for full in row] for row in one.dropped.tolist()]
    fig = heatmap(one.weights, [escape(piece) for piece in one.pieces], names(E), xlabel="token",
                  ylabel="expert", hover=False, colorbar=False, height=HEIGHT)  # fmt: skip
    fig.update_traces(
        text=crosses, texttemplate="%{text}",
        textfont={"size": theme.FONT_SIZE + 4, "color": theme.VERMILLION},
        hoverinfo=None, hovertemplate="expert %{y}, %{x}: w = %{z:.2f}<extra></extra>",
    )  # fmt: skip
    fig.add_shape(type="rect", x0=-0.5, x1=0.5, y0=-0.5, y1=E - 0.5, line={"width": 4, "color": theme.OUTPUT})
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {
        "x0": per_frame(np.arange(T) - 0.5), "x1": per_frame(np.arange(T) + 0.5),
    }  # fmt: skip
    return tree


def loads(rows: Rows, stacked: bool, most: float) -> Tree:
    """Bars of shares, an expert a place, beside or on top of each other; a dashed line at 1/E."""
    first = array(rows[0][1])
    E = first.shape[-1]
    fig = go.Figure()
    for name, values, color in rows:
        shares = array(values)
        fig.add_bar(x=list(range(E)), y=shares if shares.ndim == 1 else shares[0], name=name,
                    marker={"color": color, "line": {"width": 0}}, hoverinfo="y+name")  # fmt: skip
    rule(fig, y=1 / E, line={"color": theme.text(), "width": 2, "dash": "dash"})
    fig.update_layout(
        height=HEIGHT, bargap=0.2, barmode="stack" if stacked else "group",
        showlegend=len(rows) > 1 and isinstance(rows[0][2], str),
        xaxis={"title": "expert", "tickvals": list(range(E)), "ticktext": names(E), "showgrid": False},
        yaxis={"title": "share of assignments", "range": [0, most]},
    )  # fmt: skip
    tree: Tree = fig.to_plotly_json()
    for trace, (_, values, _) in enumerate(rows):
        if array(values).ndim == 2:
            tree = turning(tree, trace, y=array(values))
    return tree


def of_text(one: Routed) -> Tree:
    """Shares that the experts took of a text, and what they refused; those of the frame's token in full
    colour."""
    E = one.z.shape[1]
    refused = (one.routing.load - one.routing.taken).clamp(min=0)
    most = max(0.3, 1.1 * float(one.routing.load.max()))
    rows: Rows = [("taken", one.routing.taken, theme.HIDDEN), ("dropped", refused, theme.VERMILLION)]
    tree = loads(rows if float(refused.max()) > 0 else rows[:1], True, most)
    pale = [theme.HIDDEN] * E
    colors = []
    for chosen in one.routing.chosen.tolist():
        row = list(pale)
        for i in chosen:
            row[i] = theme.OUTPUT
        colors.append(row)
    return turning(tree, 0, marker={"color": colors})


def by_language(values: Tensor) -> Tree:
    """Loads of both languages at each frame, (F, 2, E)."""
    most = max(0.3, 1.1 * float(values.max()))
    rows: Rows = [
        ("first language", values[:, 0], theme.INPUT), ("second language", values[:, 1], theme.OUTPUT),
    ]  # fmt: skip
    return loads(rows, False, most)


def table(values: Tensor) -> Tree:
    """Shares of the experts by kind of character, of the first language above that of the second."""
    _, rows, E = values.shape
    labels = [f"{which} {kind}" for which in ("1st:", "2nd:") for kind in KINDS]
    fig = heatmap(values[0], names(E), labels, xlabel="expert", hover=False, colorbar=False, numbers=".2f",
                  height=HEIGHT)  # fmt: skip
    fig.update_traces(hoverinfo=None, hovertemplate="%{y}, expert %{x}: %{z:.3f}<extra></extra>")
    fig.add_shape(type="line", x0=-0.5, x1=E - 0.5, y0=rows / 2 - 0.5, y1=rows / 2 - 0.5,
                  line={"width": 4, "color": theme.text()})  # fmt: skip
    return turning(fig, z=values)


def plane(values: Tensor, experts: int) -> Tree:
    """The likeliest expert at each place of the plane, (F, G, G), a colour an expert."""
    colors = theme.CATEGORIES[:experts]
    stops = [[(i + end) / experts, color] for i, color in enumerate(colors) for end in (0, 1)]
    side = np.linspace(-1, 1, values.shape[1])
    fig = go.Figure(
        go.Heatmap(
            z=array(values[0]) + 1, x=side, y=side, zmin=0.5, zmax=experts + 0.5, colorscale=stops,
            showscale=False, hovertemplate="expert %{z}<extra></extra>",
        )
    )  # fmt: skip
    fig.update_xaxes(title="x₁", range=[-1, 1], constrain="domain", nticks=5)
    fig.update_yaxes(title="x₂", range=[-1, 1], scaleanchor="x", constrain="domain", nticks=5)
    fig.update_layout(height=HEIGHT)
    return turning(fig, z=array(values) + 1)


def of_plane(taken: Tensor, chosen: Tensor) -> Tree:
    """Shares that experts took at each frame, in their colours on the plane, and, pale, what they refused:
    (F, E) each."""
    most = max(0.3, 1.1 * float(chosen.max()))
    colors = list(theme.CATEGORIES[: taken.shape[1]])
    refused = (chosen - taken).clamp(min=0)
    pale = [theme.fade(color, 0.3) for color in colors]
    return loads([("taken", taken, colors), ("dropped", refused, pale)], True, most)
