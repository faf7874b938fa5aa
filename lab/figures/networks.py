"""Figures of graphs: nodes and edges, with one node's messages, hops or gradients on them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from lab.figures import basic, theme
from lab.figures.basic import array

APART = 0.15  # least distance of two drawn nodes, on a picture about 2 wide


def layout(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Positions in the plane, (N, 2) within [-1, 1]: near where the graph is near; the same every time."""
    return torch.tensor(_layout(num_nodes, tuple(map(tuple, edge_index.T.tolist()))))


@lru_cache(maxsize=64)
def _layout(num_nodes: int, edges: tuple[tuple[int, int], ...]) -> list[list[float]]:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from((a, b) for a, b in edges if a != b)
    start = nx.circular_layout(graph)
    # Stress (Kamada & Kawai 1989) needs finite distances: far, but not out of sight, between components.
    distance = {a: dict.fromkeys(graph, 4.0) | row for a, row in nx.all_pairs_shortest_path_length(graph)}
    position = nx.kamada_kawai_layout(graph, dist=distance, pos=start) if num_nodes > 1 else start
    return _apart(np.array([position[n] for n in range(num_nodes)]), APART).tolist()


def _apart(p: np.ndarray, least: float) -> np.ndarray:
    """Push nodes that lie closer than `least` away from each other, so that no disc hides another."""
    for _ in range(100):
        away = p[:, None] - p[None]  # (N, N, 2)
        distance = np.linalg.norm(away, axis=2) + np.eye(len(p)) * least
        close = np.maximum(least - distance, 0) / np.maximum(distance, 1e-9) / 2
        if not close.any():
            break
        p = p + (close[..., None] * away).sum(1)
    return p


def node_at(positions: Tensor, x: float, y: float) -> int:
    """The node drawn nearest to (x, y)."""
    return int((positions - torch.tensor([x, y])).norm(dim=1).argmin())


def strokes(p: np.ndarray, pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    """One line through pairs of places of p (N, 2), broken between them: x and y, three numbers a pair."""
    pairs = array(pairs).reshape(-1, 2).astype(int)
    gap = np.full((len(pairs), 1), np.nan)
    return np.hstack([p[pairs, 0], gap]).ravel(), np.hstack([p[pairs, 1], gap]).ravel()


def ink(color: str) -> str:
    """Black or white, whichever reads better on `color` (WCAG's relative luminance)."""
    r, g, b = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (r, g, b)]
    return "#FFFFFF" if 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.18 else "#1B2026"


def network(
    positions: Any,
    edges: Any,
    *,
    classes: Any = None,
    values: Any = None,
    scale: theme.Scale = "probability",
    value_name: str = "",
    names: Sequence[str] | None = None,
    colors: Sequence[str] = theme.CATEGORIES,
    numbers: Sequence[int] | None = None,
    labelled: Any = None,
    selected: int | None = None,
    senders: Any = (),
    weights: Any = (),
    now: int | None = None,
    added: Sequence[tuple[int, int]] = (),
    removed: Sequence[tuple[int, int]] = (),
    hover: Sequence[str] | None = None,
    title: str = "",
    height: int = 560,
) -> go.Figure:
    """A graph; a click on a node reports customdata = [its place].

    Args:
        positions: (N, 2).
        edges: (2, E) places, undirected edges both ways.
        classes: (N,) colours the nodes by class, one legend entry each, named by `names`.
        colors: of the classes ("#RRGGBB").
        values: (N,) colours them on a scale instead.
        numbers: what is written on the nodes; None numbers the places.
        labelled: (N,) bool, gets a thick outline.
        selected: place with a ring.
        senders, weights: (M,) places and S_mn: the edges that carry messages to `selected`, the wider
            the heavier, in the colour of attention.
        now: the sender whose message is just arriving: drawn in full, the others pale.
        added, removed: pairs of places, drawn green and dotted red.
    """
    p, e = array(positions), array(edges)
    n = len(p)
    text = [str(v) for v in (numbers if numbers is not None else range(n))]
    ring = array(labelled).astype(bool) if labelled is not None else np.zeros(n, bool)
    fig = go.Figure()

    def lines(pairs: Any, name: str, **line: Any) -> None:
        x, y = strokes(p, pairs)
        fig.add_trace(
            go.Scatter(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip", showlegend=False)
        )

    drawn = e.T[e[0] < e[1]] if e.size else np.zeros((0, 2), int)
    fresh = set(map(tuple, added))
    lines(
        [pair for pair in map(tuple, drawn.tolist()) if pair not in fresh],
        "edges",
        color=theme.HIDDEN,
        width=1.5,
    )
    if removed:
        lines(removed, "cut", color=theme.VERMILLION, width=3, dash="dot")
    heavy = float(max(array(weights), default=1.0)) or 1.0
    for m, weight in zip(array(senders).tolist(), array(weights).tolist(), strict=True):
        if m == selected:
            continue  # a node's own message has no edge to be drawn on
        color = theme.ATTENTION if now is None or now == m else theme.fade(theme.ATTENTION, 0.35)
        lines([(m, selected)], "message", color=color, width=2 + 7 * abs(weight) / heavy)

    if added:
        lines(added, "joined", color=theme.GREEN, width=4)

    outline = {"color": theme.text()}
    shown = hover if hover is not None else [f"node {t}" for t in text]

    def nodes(mine: np.ndarray, name: str, **marker: Any) -> None:
        places = np.flatnonzero(mine).tolist()
        fig.add_trace(
            go.Scatter(
                x=p[mine, 0], y=p[mine, 1], mode="markers+text", name=name, customdata=[[i] for i in places],
                text=[text[i] for i in places], textposition="middle center",
                hovertext=[shown[i] for i in places], hoverinfo="text",
                marker={"size": 28, "line": {**outline, "width": np.where(ring[mine], 4, 1)}, **marker},
                showlegend="colorscale" not in marker,
            )
        )  # fmt: skip

    if values is not None:
        v = array(values).astype(float)
        low, high = basic.scale_range(v, scale)
        nodes(
            np.ones(n, bool), value_name, color=v, cmin=low, cmax=high, opacity=1,
            colorscale=theme.scale(scale),
            showscale=False,
        )  # fmt: skip
        dark = (v - low) / ((high - low) or 1) > 0.55
        if theme.mode() == "dark":
            dark = ~dark
        fig.data[-1].textfont = {"size": 15, "color": np.where(dark, "#FFFFFF", "#1B2026")}
    else:
        c = array(classes).astype(int) if classes is not None else np.zeros(n, int)
        for k in np.unique(c):
            color = colors[k % len(colors)]
            nodes(c == k, names[k] if names else str(k), color=color)
            fig.data[-1].textfont = {"size": 15, "color": ink(color)}
    if selected is not None:
        fig.add_trace(
            go.Scatter(
                x=[p[selected, 0]], y=[p[selected, 1]], mode="markers", hoverinfo="skip", showlegend=False,
                name="selected",
                marker={"symbol": "circle-open", "size": 40, "color": theme.VERMILLION, "line": {"width": 4}},
            )
        )  # fmt: skip
    fig.update_xaxes(visible=False, range=[p[:, 0].min() - 0.12, p[:, 0].max() + 0.12])
    fig.update_yaxes(visible=False, range=[p[:, 1].min() - 0.12, p[:, 1].max() + 0.12])
    fig.update_layout(title=title, height=height, hoverdistance=30, meta=selected)
    return fig
