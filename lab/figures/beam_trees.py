"""The tree of a beam search, drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.tokens import escape

GROUPS = (theme.BLUE, theme.PURPLE, theme.SKY, theme.ORANGE)
GREY = ("pruned", "unseen")  # states of branches that the search does not follow
ROWS = 15  # of leaves that can be told apart
ACROSS, HIGH = 560, 400  # pixels of a tree that grows down, beside another figure at 1280×720
WIDE = 0.66  # of a character, in its size


def tree(
    depth: Sequence[int],
    place: Sequence[float],
    parent: Sequence[int],
    labels: Sequence[str],
    hover: Sequence[str],
    state: Sequence[str],
    group: Sequence[int],
    best: Sequence[bool],
    *,
    title: str = "",
    way: str = "best",
    down: bool = False,
) -> go.Figure:
    """The tree of a search, N nodes: kept branches in their group's colour, cut ones grey, ended ones square,
    those that the search has not seen hollow and dotted.

    Args:
        depth, place: of each node. parent: its index, −1 for the first.
        labels: written at the node. hover: shown on it.
        state: "kept", "pruned", "ended" or "unseen".
        best: whether the node lies on the way that is marked. way: what the legend calls it.
        title: with one, the tree stands beside another, and has no legend.
        down: steps go down, and edges between two rows of labels; else to the right.
    """
    fig = go.Figure()
    size, small, large = lettering(labels, place, depth) if down else (theme.FONT_SIZE - 2, 9, 14)
    colors = [
        theme.HIDDEN if s in GREY else GROUPS[g % len(GROUPS)] for s, g in zip(state, group, strict=True)
    ]

    def across(steps: Sequence[float | None], rows: Sequence[float | None]) -> dict[str, Any]:
        return {"x": list(rows), "y": list(steps)} if down else {"x": list(steps), "y": list(rows)}

    def edges(
        nodes: Sequence[int],
        color: str,
        width: float,
        opacity: float = 1.0,
        name: str = "",
        dash: str = "solid",
    ) -> None:
        if not nodes:
            return
        steps: list[float | None] = []
        rows: list[float | None] = []
        for n in nodes:
            (d0, p0), (d, p) = ((depth[m], place[m]) for m in (parent[n], n))
            steps += [d0, d0 + 0.35, d0 + 0.65, d, None] if down else [d0, d, None]
            rows += [p0, p0, p, p, None] if down else [p0, p, None]
        fig.add_scatter(
            **across(steps, rows),
            mode="lines", hoverinfo="skip", name=name, showlegend=bool(name), opacity=opacity,
            line={"color": color, "width": width, "dash": dash},
        )  # fmt: skip

    below = [n for n, p in enumerate(parent) if p >= 0]
    for kind, dash in zip(GREY, ("solid", "dot"), strict=True):
        edges([n for n in below if state[n] == kind], theme.fade(theme.HIDDEN, 0.6), 1.5, dash=dash)
    for g in range(max(group) + 1):
        mine = [n for n in below if state[n] not in GREY and group[n] == g]
        edges(mine, GROUPS[g % len(GROUPS)], 3.5)
    edges([n for n in below if best[n]], theme.GREEN, 9, 0.45, way)
    for kind, name, symbol in (
        ("kept", "kept", "circle"),
        ("pruned", "cut", "circle"),
        ("unseen", "not seen", "circle-open"),
        ("ended", "finished", "square"),
    ):
        mine = [n for n in below if state[n] == kind]
        if not mine:
            continue
        grey = kind in GREY
        fig.add_scatter(
            **across([depth[n] for n in mine], [place[n] for n in mine]), mode="markers+text", name=name,
            text=[f" {escape(labels[n])} " for n in mine], cliponaxis=False,
            textposition="middle right" if down else [beside(n, place, parent) for n in mine],
            textfont={"size": size, "color": theme.HIDDEN if grey else theme.text()},
            marker={"size": small if grey else large, "symbol": symbol, "color": [colors[n] for n in mine]},
            hovertext=[escape(hover[n]) for n in mine], hoverinfo="text",
        )  # fmt: skip
    fig.add_scatter(
        **across([0], [place[0]]), mode="markers", showlegend=False, hoverinfo="skip",
        marker={"size": large, "color": theme.text()},
    )  # fmt: skip
    steps = max(depth)
    if down:
        columns = max(place) + 1
        fig.update_xaxes(visible=False, range=[-0.2, columns - 0.1])
        fig.update_yaxes(visible=False, range=[steps + 0.6, -0.5])
        return fig
    fig.update_xaxes(
        title="tokens", tickvals=list(range(steps + 1)), range=[-0.15, steps + room(labels, steps, title)],
        showgrid=False, zeroline=False,
    )  # fmt: skip
    fig.update_yaxes(visible=False, range=[max(place) + 0.7, -0.9])
    fig.update_layout(title=title, showlegend=not title)
    return fig


def lettering(labels: Sequence[str], place: Sequence[float], depth: Sequence[int]) -> tuple[int, int, int]:
    """Sizes of labels and of marks, grey and coloured, of a tree that grows down: as large as the next node
    of a step, and the next step, leave."""
    unit = ACROSS / (max(place) + 1.1)  # pixels a column
    room = [
        unit * (min((q for q, e in zip(place, depth, strict=True) if e == d and q > p), default=edge) - p)
        for p, d, edge in zip(place, depth, [max(place) + 0.9] * len(place), strict=True)
    ]
    wide = min(px / (len(label) + 2) for px, label in zip(room, labels, strict=True) if label)
    size = int(max(9, min(theme.FONT_SIZE - 2, wide / WIDE, HIGH / (max(depth) + 1) * 0.75)))
    return size, size // 2, size * 3 // 4


def beside(n: int, place: Sequence[float], parent: Sequence[int]) -> str:
    """Place of the label of a node, so that no edge crosses it: behind a leaf, else over or under
    the edge that leads to the node."""
    if n not in parent:
        return "middle right"
    return "bottom left" if place[parent[n]] < place[n] else "top left"


def characters(title: str = "") -> int:
    """Number of characters that fit beside each other into a tree: one that stands beside another is half as
    wide."""
    return 42 if title else 54


def room(labels: Sequence[str], steps: int, title: str = "") -> float:
    """Length of the axis behind the last token, so that the longest label fits."""
    share = min(0.8, (max(map(len, labels)) + 2) / characters(title))
    return max(0.3, (steps + 0.15) * share / (1 - share))


def fitting(tokens: Sequence[str], numbers: Sequence[str], steps: int, title: str = "") -> list[str]:
    """Labels that end before the next node: token and number; else the token, or its beginning."""
    most = max(3, int(characters(title) / (steps + 0.8)) - 2)
    whole = [f"{token} {number}" for token, number in zip(tokens, numbers, strict=True)]
    if max(map(len, whole)) <= most:
        return whole
    return [token if len(token) <= most else f"{token[: most - 1]}…" for token in tokens]


def growing(fig: go.Figure, count: int, axis: str = "x") -> dict[str, np.ndarray]:
    """The frames of `tree`: at frame n what lies within the first n + 1 tokens, which go along this axis."""
    reach = np.arange(1, count + 1)[:, None]
    steps = [array([np.nan if v is None else v for v in trace[axis]]) for trace in fig.data]
    return {f"data.{i}.{axis}": np.where(t <= reach, t, np.nan) for i, t in enumerate(steps)}
