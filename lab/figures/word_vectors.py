"""Word vectors drawn: a map of words, the parallelogram of an analogy, the arrows of a learning step."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.tokens import escape


def word_map(
    points: Any, words: Sequence[str], kinds: Sequence[int] | None = None, names: Sequence[str] = ()
) -> go.Figure:
    """Words in the plane: points (N, 2), coloured by kind (N,), the kinds named in the legend."""
    p = array(points)
    kinds = [0] * len(words) if kinds is None else kinds
    fig = go.Figure()
    for kind in sorted(set(kinds)):
        mine = [n for n, k in enumerate(kinds) if k == kind]
        color = theme.CATEGORIES[kind % len(theme.CATEGORIES)]
        fig.add_scatter(
            x=p[mine, 0], y=p[mine, 1], mode="markers+text", text=[escape(words[n]) for n in mine],
            name=names[kind] if names else "", textposition="top center", textfont={"color": color},
            marker={"size": 9, "color": color}, hoverinfo="text", hovertext=[escape(words[n]) for n in mine],
        )  # fmt: skip
    span = max(1e-6, float(abs(p).max()))
    fig.update_xaxes(showticklabels=False, zeroline=True, range=[-1.2 * span, 1.2 * span])
    fig.update_yaxes(showticklabels=False, zeroline=True, range=[-1.2 * span, 1.2 * span])
    fig.update_layout(height=560, showlegend=bool(names))
    return fig


def parallelogram(points: Any, words: Sequence[str], right: bool) -> go.Figure:
    """a, b, c and the answer (5 points: a, b, c, the sum b − a + c, the answer) with their arrows."""
    p = array(points)
    fig = word_map(p[[0, 1, 2, 4]], [words[0], words[1], words[2], words[4]])
    for start, end, color in ((0, 1, theme.BLUE), (2, 3, theme.BLUE)):
        arrow(fig, p[start], p[end], color)
    for start, end in ((0, 2), (1, 3)):
        fig.add_scatter(
            x=[p[start, 0], p[end, 0]], y=[p[start, 1], p[end, 1]], mode="lines", hoverinfo="skip",
            line={"color": theme.HIDDEN, "dash": "dot", "width": 2}, showlegend=False,
        )  # fmt: skip
    fig.add_scatter(
        x=[p[3, 0]], y=[p[3, 1]], mode="markers+text", text=[f"{words[1]} − {words[0]} + {words[2]}"],
        textposition="bottom center", showlegend=False, hoverinfo="skip",
        marker={"symbol": "x", "size": 13, "color": theme.GREEN if right else theme.VERMILLION},
    )  # fmt: skip
    return fig


def arrow(fig: go.Figure, start: Any, end: Any, color: str, label: str = "") -> None:
    """An arrow from start (2,) to end (2,), its label in the legend."""
    fig.add_annotation(
        x=end[0], y=end[1], ax=start[0], ay=start[1], xref="x", yref="y", axref="x", ayref="y",
        showarrow=True, arrowhead=2, arrowwidth=3.5, arrowcolor=color, text="",
    )  # fmt: skip
    if label:
        fig.add_scatter(
            x=[start[0], end[0]], y=[start[1], end[1]], mode="lines", name=label, hoverinfo="skip",
            line={"color": color, "width": 3.5},
        )  # fmt: skip


def update(
    u: Any, words: Sequence[str], given: str, before: Any, observed: Any, expected: Any, after: Any
) -> go.Figure:
    """One step of word2vec in the plane: the u of all words, and where the given vector goes.

    Args:
        u: (V, 2) before the step. given: name of the given vector. before, after: (2,), where it was and
            goes. observed, expected: (2,).
    """
    u, before, observed, expected, after = (array(t) for t in (u, before, observed, expected, after))
    fig = go.Figure()
    fig.add_scatter(
        x=u[:, 0], y=u[:, 1], mode="markers+text", text=[escape(w) for w in words], name="u, predicted words",
        textposition="top center", textfont={"color": theme.ORANGE}, hoverinfo="skip",
        marker={"size": 8, "color": theme.ORANGE},
    )  # fmt: skip
    fig.add_scatter(
        x=[before[0]], y=[before[1]], mode="markers+text", text=[escape(given)], name="v, given",
        textposition="bottom center", textfont={"color": theme.BLUE},
        marker={"size": 13, "color": theme.BLUE}, hoverinfo="skip",
    )  # fmt: skip
    arrow(fig, expected, observed, theme.GREEN, "gradient: from expected to observed")
    arrow(fig, before, after, theme.BLUE)
    reach = 1.25 * max(1e-6, float(max(abs(u).max(), abs(before).max(), abs(after).max())))
    fig.update_xaxes(range=[-reach, reach])
    fig.update_yaxes(range=[-reach, reach], scaleanchor="x")
    fig.update_layout(height=560)
    return fig


def strip(words: Sequence[str], given: Sequence[int], predicted: Sequence[int]) -> go.Figure:
    """A text of words, the given ones blue, the predicted orange, the others grey, in rows of five:
    a phone has no room for more."""
    rows, colors = -(-len(words) // 5), []
    for n in range(len(words)):
        colors.append(theme.BLUE if n in given else theme.ORANGE if n in predicted else theme.HIDDEN)
    drawn = zip(words, colors, strict=True)
    fig = go.Figure(
        go.Scatter(
            x=[n % 5 for n in range(len(words))], y=[n // 5 for n in range(len(words))], mode="text",
            text=[f"<b>{escape(w)}</b>" if c != theme.HIDDEN else escape(w) for w, c in drawn],
            textfont={"color": colors, "size": theme.FONT_SIZE}, hoverinfo="skip", showlegend=False,
        )
    )  # fmt: skip
    fig.update_xaxes(visible=False, range=[-0.6, 4.6])
    fig.update_yaxes(visible=False, range=[rows - 0.4, -0.6])
    fig.update_layout(height=50 + 34 * rows, margin={"t": 8, "b": 8})
    return fig
