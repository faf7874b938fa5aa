"""A graph with edges as thick as their mask, or with the best of them alone, and charts beside it."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from datamodules.tu import ATOMS
from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, resting
from lab.figures.networks import ink, layout
from pages.graph.explanation.lens import Found
from pages.graph.explanation.room import STEPS

LEAST, WIDEST = 1.5, 12.0  # of an edge
MANY = 30  # nodes, above which they are drawn smaller
PLAIN = "#C9CDD2"
KINDS = [c for c in theme.CATEGORIES if c not in (theme.GREEN, theme.VERMILLION)]  # these are rings


def graph(one: Found, widths: Any, name: str, height: int = 540) -> Tree:
    """The field of the answer.

    Args:
        widths: (F, P) in [0, 1], of each edge in each frame; of one frame it stands still.
        name: of what they are, written in the corner.
    """
    ends = one.case.edge_index[:, one.pairs]  # (2, P)
    nodes = ends.unique() if one.case.node is not None else torch.arange(len(one.case.x))
    if one.case.node is not None:
        nodes = torch.cat([nodes, torch.tensor([one.case.node])]).unique()
    place = torch.full((len(one.case.x),), -1)
    place[nodes] = torch.arange(len(nodes))
    p = array(layout(torch.cat([place[ends], place[ends].flip(0)], 1), len(nodes)))
    w = array(widths).astype(float)
    data: list[dict[str, Any]] = []
    for e, (a, b) in enumerate(place[ends].T.tolist()):
        width, shade = LEAST + (WIDEST - LEAST) * w[:, e], 0.3 + 0.7 * w[:, e]
        still = len(w) == 1
        data.append({
            "type": "scatter", "x": p[[a, b], 0], "y": p[[a, b], 1], "mode": "lines", "showlegend": False,
            "hoverinfo": "skip", "opacity": float(shade[0]) if still else per_frame(shade),
            "line": {"color": theme.ATTENTION, "width": float(width[0]) if still else per_frame(width)},
        })  # fmt: skip
    data.append(discs(one, nodes, p))
    if one.case.node is not None:
        at = p[int(place[one.case.node])]
        data.append({
            "type": "scatter", "x": [at[0]], "y": [at[1]], "mode": "markers", "hoverinfo": "skip",
            "showlegend": False,
            "marker": {"symbol": "circle-open", "size": 44, "color": theme.VERMILLION, "line": {"width": 4}},
        })  # fmt: skip
    axis = {"visible": False}
    corner = {"x": 0, "y": 1, "xref": "paper", "yref": "paper", "text": f"<b>{name}</b>", "showarrow": False,
              "xanchor": "left", "yanchor": "top"}  # fmt: skip
    low, high = p.min(0) - 0.14, p.max(0) + 0.14
    return {"data": data, "layout": {
        "height": height, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "hovermode": "closest",
        "annotations": [corner],
        "xaxis": axis | {"range": [low[0], high[0]]}, "yaxis": axis | {"range": [low[1], high[1]]},
    }}  # fmt: skip


def discs(one: Found, nodes: Tensor, p: np.ndarray) -> dict[str, Any]:
    """The nodes; those of the planted answer have a thick green ring."""
    kinds = one.case.kinds[nodes].tolist()
    atoms = one.case.marks[0] in ATOMS
    several = len(one.case.kinds.unique()) > 1
    colors = [KINDS[k % len(KINDS)] if several else PLAIN for k in kinds]
    planted = torch.zeros(len(one.case.x), dtype=torch.bool)
    if one.case.truth is not None:
        planted[one.case.edge_index[:, one.case.truth].flatten()] = True
    ring = planted[nodes].tolist()
    few = len(nodes) <= MANY
    hover = [
        f"node {n}, {one.case.marks[n] if atoms else one.case.classes[k] if several else 'no data'}"
        for n, k in zip(nodes.tolist(), kinds, strict=True)
    ]
    return {
        "type": "scatter", "x": p[:, 0], "y": p[:, 1], "mode": "markers+text" if few else "markers",
        "text": [one.case.marks[n] for n in nodes.tolist()], "hovertext": hover, "hoverinfo": "text",
        "textfont": {"size": 15, "color": [ink(c) for c in colors]}, "showlegend": False,
        "marker": {"size": 30 if few else 16, "color": colors, "opacity": 1,
                   "line": {"width": [5 if r else 1 for r in ring],
                            "color": [theme.GREEN if r else theme.text() for r in ring]}},
    }  # fmt: skip


def scaled(scores: Tensor) -> Tensor:
    """Scores (P,) as widths, (1, P): the largest is 1."""
    return (scores / scores.max().clamp(min=1e-30))[None] if len(scores) else scores[None]


def fitting(one: Found) -> Tree:
    """p_c of the masked graph, step by step."""
    steps = list(STEPS)
    p = array(one.found.probability[torch.tensor(STEPS)])
    fig = basic.curves({"p": p}, steps, xlabel="step", ylabel="p of the answer", height=260,
                       colors={"p": theme.OUTPUT})  # fmt: skip
    fig.update_layout(showlegend=False)
    fig.update_yaxes(range=[-0.06, 1.08], nticks=3)
    fig.update_xaxes(nticks=4)
    return resting(fig, (steps, p, theme.OUTPUT), size=16)


def features(one: Found) -> Tree:
    """The mask of the features, step by step."""
    masks = array(one.found.features[torch.tensor(STEPS)])
    names = list(ATOMS) if one.case.marks[0] in ATOMS else [str(d) for d in range(masks.shape[1])]
    fig = basic.bars(names, masks[0], xlabel="feature", ylabel="mask", height=260, color=theme.INPUT)
    fig.update_traces(hovertext=None, text=None)
    fig.update_yaxes(range=[0, 1], nticks=3)
    tree: dict[str, Any] = fig.to_plotly_json()
    tree["data"][0] |= {"y": per_frame(masks)}
    return tree


def deletion(one: Found, way: str) -> Tree:
    """p_c with the k best edges alone, and without them."""
    kept, rest = array(one.kept[way]), array(one.rest[way])
    ks = list(range(len(kept)))
    fig = basic.curves(
        {"kept": kept, "rest": rest}, ks, xlabel="edges k", ylabel="p of the answer", height=540,
        colors={"kept": theme.OUTPUT, "rest": theme.HIDDEN},
    )  # fmt: skip
    fig.update_yaxes(range=[-0.06, 1.08], nticks=3)
    fig.update_xaxes(nticks=4, range=[-0.5, len(kept) - 0.5])
    return resting(fig, (ks, kept, theme.OUTPUT), (ks, rest, theme.HIDDEN), size=18)


def best(one: Found, way: str) -> np.ndarray:
    """Widths of the frames where the k best edges are kept, (K + 1, P)."""
    rank = torch.empty(len(one.pairs), dtype=torch.long)
    rank[one.order[way]] = torch.arange(len(one.pairs))
    return array((rank[None] < torch.arange(len(one.kept[way]))[:, None]).double() * 0.7)
