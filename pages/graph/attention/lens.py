"""Weights of graph attention as they are used, of a layer that is drawn or of one that is trained.

Shapes: N nodes, H heads of D' numbers; weights (H, N, N) with senders as rows, so that a column sums to 1.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import graphs
from lab.seeding import seeded
from modules.graph.attention import GraphAttention, Score
from modules.graph.convolution import edge_weights
from modules.graph.gat import GAT
from pages.graph.attention import room
from pages.graph.attention.room import ALL, DRAWN, GATV2, GCN, SELF

HEADS = 4  # of a layer that is drawn
WIDTH = 4  # D and D' of such a layer, as in the text's notebook
SCORES: dict[str, Score] = {room.GAT: "additive", GATV2: "dynamic", SELF: "dot", room.DOT: "dot"}
Card = Mapping[str, Any]


@dataclass(frozen=True)
class Weighed:
    """One layer on one graph.

    Attributes:
        a: (N, N), the graph's edges; they may be fewer than those that are heard.
        heard: (N, N) bool, who sends to whom, nodes to themselves too.
        scores: (H, N, N), −∞ where nobody is heard; of a GCN the logarithms of its weights.
        alpha: (H, N, N), the weights that were used.
        values: (H, N, D'), what each node sends.
        terms: (2, H, N), what sender and receiver add to a score before its activation; None where it is no
            such sum.
        kind: of the score, "gcn" if there is none.
        slope: of the activation in the score.
    """

    a: Tensor
    heard: Tensor
    scores: Tensor
    alpha: Tensor
    values: Tensor
    terms: Tensor | None
    kind: str
    slope: float


def both(a: Tensor, over: str) -> Tensor:
    """Edges (2, E) of a graph, or of the complete graph on its nodes."""
    return (1 - torch.eye(len(a)) if over == ALL else a).nonzero().T


def dense(edges: Tensor, values: Tensor, N: int, empty: float) -> Tensor:
    """(M, H) on edges (2, M) -> (H, N, N)."""
    result = torch.full((values.shape[1], N, N), empty, dtype=values.dtype)
    result[:, edges[0], edges[1]] = values.T
    return result


def layer_of(score: Score, slope: float, nodes: int, seed: int) -> tuple[GraphAttention, Tensor]:
    """A layer and features x (N, D): as [UDL]'s notebook draws them, whose seed is 1; then further heads."""
    draw = np.random.RandomState(seed).normal
    x = torch.tensor(draw(size=(WIDTH, nodes))).T
    heads = [[draw(size=size) for size in ((WIDTH, WIDTH), WIDTH, 2 * WIDTH)] for _ in range(HEADS)]
    omega, beta, phi = (torch.tensor(np.stack(parts)) for parts in zip(*heads, strict=True))
    state = {"weight": omega.flatten(0, 1), "bias": beta.flatten()}
    square = (HEADS * WIDTH, WIDTH)
    if score == "additive":
        state |= {"sender": phi[:, :WIDTH], "receiver": phi[:, WIDTH:]}
    elif score == "dynamic":
        state |= {"sender": phi[:, :WIDTH], "own": torch.tensor(draw(size=square))}
    else:
        state |= {"query": torch.tensor(draw(size=square)), "key": torch.tensor(draw(size=square))}
    layer = seeded(lambda: GraphAttention(WIDTH, WIDTH, HEADS, score, slope=slope).double())
    layer.load_state_dict(state)
    return layer.eval(), x


@torch.no_grad()
def recorded(layer: GraphAttention, x: Tensor, edges: Tensor, a: Tensor) -> Weighed:
    """What a layer does with features x (N, D) on edges (2, E)."""
    layer = copy.deepcopy(layer).eval()  # all readers share a model: record on a copy
    layer.recording = True
    layer(x, edges)
    assert layer.weights is not None and layer.edges is not None
    N, used = len(x), layer.edges
    values = (x @ layer.weight.T + layer.bias).view(N, layer.heads, -1)  # (N, H·D') -> (N, H, D')
    scores = dense(used, layer.scores(x, values, *used), N, -torch.inf)
    terms = None
    if layer.score == "additive":
        terms = torch.stack([(values * phi).sum(-1).T for phi in (layer.sender, layer.receiver)])
    return Weighed(a, scores[0] > -torch.inf, scores, dense(used, layer.weights, N, 0.0),
                   values.transpose(0, 1), terms, layer.score, layer.slope)  # fmt: skip


def weighed(mode: str, over: str, slope: float, a: Tensor, seed: int) -> Weighed:
    """A layer with drawn weights on the reader's graph."""
    if mode != GCN:
        edges = both(a, ALL if mode == SELF else over if mode in (room.GAT, GATV2) else room.NEIGHBOURS)
        layer, x = layer_of(SCORES[mode], slope, len(a), seed)
        return recorded(layer, x, edges, a)
    layer, x = layer_of("additive", slope, len(a), seed)
    edges, weight = edge_weights(a.nonzero().T, len(a), "gcn", torch.float64)
    alpha = dense(edges, weight[:, None], len(a), 0.0)
    values = (x @ layer.weight[:WIDTH].T).detach()[None]
    return Weighed(a, alpha[0] > 0, alpha.log(), alpha, values, None, "gcn", slope)


# --- A trained network ------------------------------------------------------------------------------


def fits(experiment: Experiment) -> bool:
    return experiment.module.endswith(".GAT") and experiment.name.endswith("-karate")


def layers(model: GAT) -> list[str]:
    return [str(k + 1) for k in range(len(model.layers))]


def last_head(view: str, model: GAT, layer: str) -> int:
    return HEADS - 1 if view == DRAWN else int(model.layers[int(layer) - 1].heads) - 1  # type: ignore[union-attr, arg-type]


def ran(model: GAT, model_card: Card, layer: str, edits: str) -> tuple[Weighed, Tensor]:
    """A trained layer on the edited graph, and the class that the network predicts for each node (N,)."""
    data = graphs.world(dict(model_card)).data
    N = int(data.num_nodes)
    edges = graphs.edit(data.edge_index, N, edits).edge_index
    a = torch.zeros(N, N, dtype=torch.long)
    a[edges[0], edges[1]] = 1
    with torch.no_grad():
        states = copy.deepcopy(model).eval().embeddings(data.x, edges)
    chosen = model.layers[int(layer) - 1]
    assert isinstance(chosen, GraphAttention)
    return recorded(chosen, states[int(layer) - 1], edges, a), states[-1].argmax(1)


# --- Rankings of senders ------------------------------------------------------------------------------


def ranks(scores: Tensor) -> Tensor:
    """Place of each sender in its column, 1 for the largest score; equal ones share it; 0 if not heard.

    Args:
        scores: (N, N).
    """
    above = (scores[None] > scores[:, None] + 1e-9).sum(1)  # (m, m', n): m' above m, summed over m'
    return torch.where(scores > -torch.inf, above + 1, 0)


def disagreeing(scores: Tensor) -> tuple[int, int]:
    """Number of pairs of columns that put two common senders in another order, and of all; scores (N, N)."""
    N = len(scores)
    finite = torch.where(scores > -torch.inf, scores, torch.nan)
    gap = finite[:, None] - finite[None]  # (m, m', n), NaN where one is not heard
    order = torch.where(gap.abs() > 1e-9, gap.sign(), 0.0).nan_to_num()
    apart = torch.stack([(order[..., n, None] * order < 0).flatten(0, 1).any(0) for n in range(N)])
    return int(apart.triu(1).sum()), N * (N - 1) // 2
