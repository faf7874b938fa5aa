"""Decoding drawn: the tree of a beam search, a text with its repetitions, curves against temperature."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.tokens import escape, wrap

GROUPS = (theme.BLUE, theme.PURPLE, theme.SKY, theme.ORANGE)


def tree(
    depth: Sequence[int],
    place: Sequence[float],
    parent: Sequence[int],
    labels: Sequence[str],
    hover: Sequence[str],
    state: Sequence[str],
    group: Sequence[int],
    best: Sequence[bool],
) -> go.Figure:
    """The tree of a search, N nodes: kept branches in their group's colour, cut ones grey, ended ones square.

    Args:
        depth, place: of each node. parent: its index, −1 for the first.
        labels: written at the node. hover: shown on it.
        state: "kept", "pruned" or "ended".
        best: whether the node lies on the most probable text of all.
    """
    fig = go.Figure()
    colors = [
        theme.HIDDEN if s == "pruned" else GROUPS[g % len(GROUPS)] for s, g in zip(state, group, strict=True)
    ]
    for chosen in ("pruned", "kept"):
        for g in range(max(group) + 1) if chosen == "kept" else [0]:
            x: list[float | None] = []
            y: list[float | None] = []
            for n, p in enumerate(parent):
                if p < 0 or (state[n] == "pruned") != (chosen == "pruned"):
                    continue
                if chosen == "kept" and group[n] != g:
                    continue
                x += [depth[p], depth[n], None]
                y += [place[p], place[n], None]
            color = theme.fade(theme.HIDDEN, 0.6) if chosen == "pruned" else GROUPS[g % len(GROUPS)]
            fig.add_scatter(
                x=x, y=y, mode="lines", hoverinfo="skip", showlegend=False,
                line={"color": color, "width": 1.5 if chosen == "pruned" else 3.5},
            )  # fmt: skip
    along = [n for n, on in enumerate(best) if on and parent[n] >= 0]
    if along:
        fig.add_scatter(
            x=[v for n in along for v in (depth[parent[n]], depth[n], None)],
            y=[v for n in along for v in (place[parent[n]], place[n], None)],
            mode="lines", name="most probable of all texts", hoverinfo="skip",
            line={"color": theme.GREEN, "width": 9}, opacity=0.45,
        )  # fmt: skip
    for kind, name, symbol in (
        ("kept", "kept", "circle"),
        ("pruned", "cut", "circle"),
        ("ended", "finished", "square"),
    ):
        mine = [n for n, s in enumerate(state) if s == kind and parent[n] >= 0]
        if not mine:
            continue
        grey = kind == "pruned"
        fig.add_scatter(
            x=[depth[n] for n in mine], y=[place[n] for n in mine], mode="markers+text", name=name,
            text=[f" {escape(labels[n])}" for n in mine], textposition="top right",
            textfont={"size": theme.FONT_SIZE - 2, "color": theme.HIDDEN if grey else theme.text()},
            marker={"size": 9 if grey else 14, "symbol": symbol, "color": [colors[n] for n in mine]},
            hovertext=[escape(hover[n]) for n in mine], hoverinfo="text",
        )  # fmt: skip
    fig.add_scatter(
        x=[0], y=[place[0]], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"size": 14, "color": theme.text()},
    )  # fmt: skip
    steps = max(depth)
    fig.update_xaxes(
        title="tokens",
        tickvals=list(range(steps + 1)),
        range=[-0.15, steps + 0.75],
        showgrid=False,
        zeroline=False,
    )
    fig.update_yaxes(visible=False, range=[max(place) + 0.7, -0.7])
    fig.update_layout(height=int(min(760, max(300, 120 + 30 * (max(place) + 1)))), showlegend=True)
    return fig


def text(tokens: Sequence[str], repeated: Sequence[bool], most: int = 34) -> go.Figure:
    """A text as tokens, wrapped; those that repeat what has come before on a coloured ground."""
    x, y = wrap(tokens, most)
    fig = go.Figure()
    mine = [n for n, again in enumerate(repeated) if again]
    if mine:
        fig.add_bar(
            x=[x[n] for n in mine], y=[0.9] * len(mine), base=[y[n] - 0.45 for n in mine],
            width=[max(1, len(tokens[n])) for n in mine], hoverinfo="skip",
            marker={"color": theme.fade(theme.VERMILLION, 0.3), "line_width": 0},
        )  # fmt: skip
    fig.add_scatter(
        x=x, y=y, mode="text", text=[escape(t) for t in tokens], hoverinfo="skip",
        textfont={"size": theme.FONT_SIZE - 2, "family": "monospace"},
    )  # fmt: skip
    rows = max(y) + 1
    fig.update_xaxes(visible=False, range=[-1, most])
    fig.update_yaxes(visible=False, range=[rows - 0.4, -0.6])
    fig.update_layout(
        height=int(40 + 28 * rows), margin={"t": 8, "b": 8}, showlegend=False, barmode="overlay"
    )
    return fig


def against_temperature(
    temperatures: Sequence[float], distinct: Sequence[float], entropy: Sequence[float], nats: Sequence[float]
) -> go.Figure:
    """Share of different 8-token sequences (left axis), entropy and surprisal in nats (right axis)."""
    fig = go.Figure()
    for values, name, color, axis, dash in (
        (distinct, "different 8-token sequences", theme.BLUE, "y", "solid"),
        (entropy, "entropy (nats)", theme.ORANGE, "y2", "solid"),
        (nats, "surprisal at own text (nats)", theme.VERMILLION, "y2", "dash"),
    ):
        fig.add_scatter(
            x=list(temperatures), y=list(values), name=name, yaxis=axis, mode="lines+markers",
            line={"color": color, "width": 3, "dash": dash}, marker={"size": 9},
        )  # fmt: skip
    fig.update_xaxes(title="temperature")
    fig.update_layout(
        height=400,
        yaxis={"title": "share different", "range": [0, 1.05]},
        yaxis2={
            "title": "nats",
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "rangemode": "tozero",
        },
    )
    return fig
