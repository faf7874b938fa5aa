"""The tree of a beam search, drawn."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.tokens import escape

GROUPS = (theme.BLUE, theme.PURPLE, theme.SKY, theme.ORANGE)
GREY = ("pruned", "unseen")  # states of branches that the search does not follow
ROWS = 15  # of leaves that can be told apart


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
) -> go.Figure:
    """The tree of a search, N nodes: kept branches in their group's colour, cut ones grey, ended ones square,
    those that the search has not seen hollow and dotted.

    Args:
        depth, place: of each node. parent: its index, −1 for the first.
        labels: written at the node. hover: shown on it.
        state: "kept", "pruned", "ended" or "unseen".
        best: whether the node lies on the most probable text of all.
        title: with one, the tree stands beside another, and has no legend.
    """
    fig = go.Figure()
    colors = [
        theme.HIDDEN if s in GREY else GROUPS[g % len(GROUPS)] for s, g in zip(state, group, strict=True)
    ]

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
        fig.add_scatter(
            x=[v for n in nodes for v in (depth[parent[n]], depth[n], None)],
            y=[v for n in nodes for v in (place[parent[n]], place[n], None)],
            mode="lines", hoverinfo="skip", name=name, showlegend=bool(name), opacity=opacity,
            line={"color": color, "width": width, "dash": dash},
        )  # fmt: skip

    below = [n for n, p in enumerate(parent) if p >= 0]
    for kind, dash in zip(GREY, ("solid", "dot"), strict=True):
        edges([n for n in below if state[n] == kind], theme.fade(theme.HIDDEN, 0.6), 1.5, dash=dash)
    for g in range(max(group) + 1):
        mine = [n for n in below if state[n] not in GREY and group[n] == g]
        edges(mine, GROUPS[g % len(GROUPS)], 3.5)
    edges([n for n in below if best[n]], theme.GREEN, 9, 0.45, "best")
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
            x=[depth[n] for n in mine], y=[place[n] for n in mine], mode="markers+text", name=name,
            text=[f" {escape(labels[n])} " for n in mine], cliponaxis=False,
            textposition=[beside(n, place, parent) for n in mine],
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
        title="tokens", tickvals=list(range(steps + 1)), range=[-0.15, steps + room(labels, steps, title)],
        showgrid=False, zeroline=False,
    )  # fmt: skip
    fig.update_yaxes(visible=False, range=[max(place) + 0.7, -0.9])
    fig.update_layout(title=title, showlegend=not title)
    return fig


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


def growing(fig: go.Figure, count: int) -> dict[str, np.ndarray]:
    """The frames of `tree`: at frame n what lies within the first n + 1 tokens."""
    reach = np.arange(1, count + 1)[:, None]
    xs = [array([np.nan if v is None else v for v in trace.x]) for trace in fig.data]
    return {f"data.{i}.x": np.where(x <= reach, x, np.nan) for i, x in enumerate(xs)}
