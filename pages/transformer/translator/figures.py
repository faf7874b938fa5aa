"""The tree of a search beside the sums of log p, and numbers of heads."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import beam_trees, theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import Tree, per_frame
from lab.lenses.beam_tree import along
from lab.lenses.translations import written
from pages.transformer.translator.lens import Search

FEW, MANY = 5, 9  # columns of a tree: nodes have room for log p; have not all room for their words


def tree(found: Search) -> go.Figure:
    """The tree of the search, a row for each word; the way to the translation is marked."""
    nodes, best = found.tree, found.tokens[len(found.prefix) :]
    names = ["", *written(found.vocabulary, nodes.tokens[1:], found.eos)]
    begun = float(found.log_p[: len(found.prefix)].sum())  # of what is forced
    sums = [f"{begun + log_p:.2f}".replace("-", "−") for log_p in nodes.log_prob]
    labels, columns = names, max(nodes.place)
    if columns < FEW:
        labels = [
            name if state == "pruned" else f"{name} {log_p}"
            for name, log_p, state in zip(names, sums, nodes.state, strict=True)
        ]
    elif columns >= MANY:
        labels = [name if best[: len(t)] == t else "" for name, t in zip(names, nodes.text, strict=True)]
    hover = [f"{found.read(text)}: log p = {log_p}" for text, log_p in zip(nodes.text, sums, strict=True)]
    fig = beam_trees.tree(
        nodes.depth, nodes.place, nodes.parent, labels, hover, nodes.state, nodes.group,
        along(nodes, best), down=True,
    )  # fmt: skip
    return fig.update_layout(margin={"t": 8}, yaxis={"domain": [0, 0.92]}, legend={"y": 0.93})


def sums(found: Search) -> Tree:
    """log p of greedy decoding and of the beam's translation, token by token."""
    steps, begun = len(found.trace), len(found.prefix)
    data: list[dict[str, Any]] = []
    lines = (("greedy", found.greedy_log_p, theme.ORANGE), ("beam", found.log_p, theme.GREEN))
    for name, log_p, color in lines:
        y = array(log_p.cumsum(0))
        x = np.arange(1, len(y) + 1)
        seen = np.where(x[None] <= begun + 1 + np.arange(steps)[:, None], y[None], np.nan)
        seen[-1] = y
        data.append({
            "type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": per_frame(seen),
            "line": {"color": color, "width": 3, "dash": "dot" if name == "greedy" else "solid"},
            "marker": {"size": 7}, "hovertemplate": "token %{x}: %{y:.3f}<extra></extra>",
        })  # fmt: skip
    low = min(float(found.log_p.sum()), float(found.greedy_log_p.sum()))
    most = max(len(found.tokens), len(found.greedy))
    return {
        "data": data,
        "layout": {
            "xaxis": {"title": "tokens", "range": [0, most + 1]},
            "yaxis": {"title": "log p so far", "range": [1.08 * low - 0.01, 0.05 * abs(low)]},
        },
    }


def heads(values: Any, title: str, scale: theme.Scale = "violet") -> go.Figure:
    """One number a head, (L, H) from 0 to 1."""
    L, H = values.shape
    return heatmap(
        values, x=list(range(1, H + 1)), y=list(range(1, L + 1)), scale=scale, numbers=".3f", zmin=0, zmax=1,
        title=title, xlabel="head", ylabel="layer", colorbar=False,
    )  # fmt: skip
