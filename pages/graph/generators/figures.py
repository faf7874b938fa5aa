"""A graph as it grows beside its rows of A, samples beside examples, measures, and embeddings."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import networkx as nx
import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, heatmaps, per_frame
from modules.trace import Trace
from pages.graph.generators.lens import Embedded, Gallery, Measured

COLUMNS = 5  # of a gallery


def placed(a: Tensor) -> np.ndarray:
    """Positions of the nodes, (N, 2), from the smoothest eigenvectors on: a grid does not fold."""
    return np.array(_placed(len(a), tuple(map(tuple, a.nonzero().tolist()))))


@lru_cache(maxsize=256)
def _placed(nodes: int, edges: tuple[tuple[int, int], ...]) -> list[list[float]]:
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(nodes))
    # twins lie at one place of the eigenvectors: a small circle parts them
    smooth, round_ = nx.spectral_layout(graph, center=(0, 0)), nx.circular_layout(graph, center=(0, 0))
    found = nx.kamada_kawai_layout(graph, pos={n: smooth[n] + 0.05 * round_[n] for n in graph})
    return [list(found[n]) for n in range(nodes)]


def segments(p: np.ndarray, pairs: Sequence[tuple[int, int]], shown: np.ndarray) -> tuple[Any, Any]:
    """Lines of pairs with gaps, x and y (3E,); NaN where one is not shown."""
    ends = np.where(shown[:, None, None], p[np.array(pairs, int).reshape(-1, 2)], np.nan)  # (E, 2, 2)
    gap = np.full((len(ends), 1), np.nan)
    return tuple(np.hstack([ends[..., axis], gap]).ravel() for axis in (0, 1))  # type: ignore[return-value]


def growth(trace: Trace) -> Tree:
    """In frame f the nodes up to f + 1, the edges of the newest green; nodes to come are pale."""
    a = trace.result
    N = len(a)
    p = placed(a)
    pairs = [(i, j) for i, j in a.nonzero().tolist() if j < i]
    newer = np.array([i for i, _ in pairs])
    data: list[dict[str, Any]] = []
    nodes = [step.values["node"] for step in trace]
    for name, color, width, chosen in (
        ("edges", theme.HIDDEN, 3, [newer < node for node in nodes]),
        ("new edges", theme.GREEN, 7, [newer == node for node in nodes]),
    ):
        frames = [segments(p, pairs, mine) for mine in chosen]
        data.append({
            "type": "scatter", "mode": "lines", "name": name, "hoverinfo": "skip", "connectgaps": False,
            "x": per_frame(np.stack([x for x, _ in frames])), "line": {"color": color, "width": width},
            "y": per_frame(np.stack([y for _, y in frames])), "showlegend": False,
        })  # fmt: skip

    def color_of(n: int, node: int) -> str:
        return (
            theme.GREEN if n == node else theme.CATEGORIES[0] if n < node else theme.fade(theme.HIDDEN, 0.3)
        )

    colors = [[color_of(n, node) for n in range(N)] for node in nodes]
    data.append({
        "type": "scatter", "mode": "markers+text", "x": p[:, 0], "y": p[:, 1], "showlegend": False,
        "hoverinfo": "skip", "text": [str(n) for n in range(N)], "textfont": {"size": 15, "color": "#1B2026"},
        "marker": {"size": 28, "color": per_frame(colors), "line": {"color": theme.text(), "width": 1}},
    })  # fmt: skip
    axis = {"visible": False}
    layout = {"height": 520, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "xaxis": axis, "yaxis": axis}
    return {"data": data, "layout": layout}


def matrix(trace: Trace) -> Tree:
    """Rows of A so far, and in the newest the probabilities with which its entries were drawn."""
    N = max(step.values["node"] for step in trace) + 1
    frames = np.full((len(trace), N, N), np.nan)
    for f, step in enumerate(trace):
        for row in trace.steps[: f + 1]:
            i = row.values["node"]
            reach = min(i, len(row.values["p"]))
            name = "p" if row is step else "row"
            frames[f, i, i - reach : i] = array(row.values[name])[:reach][::-1]
    tree = heatmaps(frames, scale="probability", zmin=0, zmax=1, square=True, colorbar=False,
                    xlabel="earlier node", ylabel="node", height=520)  # fmt: skip
    nodes = np.array([step.values["node"] for step in trace])
    box = {"type": "rect", "x0": -0.5, "x1": per_frame(nodes - 0.5), "y0": per_frame(nodes - 0.5),
           "y1": per_frame(nodes + 0.5), "line": {"color": theme.GREEN, "width": 3}}  # fmt: skip
    return tree | {"layout": dict(tree["layout"]) | {"shapes": [box]}}


def small(graphs: Sequence[Tensor], colors: Sequence[str], title: str) -> go.Figure:
    """Graphs side by side in rows of five."""
    fig = go.Figure()
    for k, (a, color) in enumerate(zip(graphs, colors, strict=True)):
        p = placed(a)
        p = (p - (p.min(0) + p.max(0)) / 2) / (np.abs(p - (p.min(0) + p.max(0)) / 2).max() or 1.0) * 0.42
        p = p + np.array([k % COLUMNS, -(k // COLUMNS)])
        x, y = segments(
            p, [(i, j) for i, j in a.nonzero().tolist() if j < i], np.array(True).repeat(int(a.sum()) // 2)
        )
        fig.add_scatter(x=x, y=y, mode="lines", line={"color": color, "width": 2}, hoverinfo="skip")
        fig.add_scatter(x=p[:, 0], y=p[:, 1], mode="markers", marker={"size": 8, "color": color},
                        hovertext=f"{len(a)} nodes, {int(a.sum()) // 2} edges", hoverinfo="text")  # fmt: skip
    rows = -(-len(graphs) // COLUMNS)
    fig.update_xaxes(visible=False, range=[-0.5, COLUMNS - 0.5])
    fig.update_yaxes(visible=False, range=[-rows + 0.5, 0.5])
    fig.update_layout(showlegend=False, height=260, title=title, margin={"l": 4, "r": 4, "t": 40, "b": 4})
    return fig


def gallery(one: Gallery) -> tuple[go.Figure, go.Figure]:
    """Examples, and samples: green those that are valid, red others."""
    of = {True: theme.GREEN, False: theme.VERMILLION, None: theme.CATEGORIES[0]}
    plain = [theme.HIDDEN] * len(one.examples)
    return (
        small(one.examples, plain, "graphs of training"),
        small(one.samples, [of[mark] for mark in one.valid], "samples"),
    )


def measures(one: Measured) -> go.Figure:
    """MMD² of each statistic and set, on a logarithmic axis."""
    fig = go.Figure()
    colors = (theme.BLUE, theme.VERMILLION, theme.HIDDEN)
    for (name, row), color in zip(one.mmds.items(), colors, strict=True):
        values = list(row.values())
        fig.add_bar(x=list(row), y=[max(v, 1e-5) for v in values], name=name, marker_color=color,
                    text=[f"{v:.4f}" for v in values], textposition="outside", textangle=0)  # fmt: skip
    fig.update_yaxes(type="log", title="MMD²", range=[-5, 0.5], dtick=1, exponentformat="power")
    fig.update_layout(barmode="group", height=520)
    return fig


def latent(one: Embedded) -> go.Figure:
    """Embeddings with one standard deviation, by community where they have one; circles of the prior."""
    z, sd = array(one.z), array(one.sd)
    fig = go.Figure()
    turn = np.linspace(0, 2 * np.pi, 90)
    for radius in (1, 2):
        fig.add_scatter(x=radius * np.cos(turn), y=radius * np.sin(turn), mode="lines", hoverinfo="skip",
                        line={"color": theme.HIDDEN, "dash": "dot"})  # fmt: skip
    classes = np.zeros(len(z), int) if one.communities is None else array(one.communities)
    for c in np.unique(classes):
        mine = classes == c
        error = {} if one.communities is None else {
            f"error_{axis}": {"array": sd[mine, k], "thickness": 0.5, "width": 0}
            for k, axis in enumerate("xy")
        }  # fmt: skip
        fig.add_scatter(x=z[mine, 0], y=z[mine, 1], mode="markers", hoverinfo="skip", **error,
                        marker={"size": 9, "color": theme.CATEGORIES[c % len(theme.CATEGORIES)]})  # fmt: skip
    reach = max(2.1, float(np.abs(z).max()) + 0.2)
    fig.update_xaxes(range=[-reach, reach], title="z, first", constrain="domain")
    fig.update_yaxes(range=[-reach, reach], title="second", scaleanchor="x", constrain="domain")
    fig.update_layout(showlegend=False, height=520)
    return fig


def likely(one: Embedded) -> go.Figure:
    """Probabilities of all pairs, (N, N), below the diagonal; above it the edges."""
    order = one.order
    p, a = (v[order][:, order] for v in (one.p / one.p.max(), one.a))
    both = torch.where(torch.ones_like(p).tril(-1).bool(), p, a)
    return basic.heatmap(both, scale="probability", zmin=0, zmax=1, square=True, colorbar=False,
                         xlabel="node n", ylabel="node m", height=520)  # fmt: skip
