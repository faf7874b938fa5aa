"""The tree of a beam search, drawn."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.tokens import escape

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
