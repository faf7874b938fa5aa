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


# --- What is said of them ---------------------------------------------------------------------------


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


def spell(value: float | Tensor) -> str:
    """Two digits, without the zero before the point."""
    text = f"{abs(float(value)):.2f}".removeprefix("0")
    return f"−{text}" if float(value) < 0 and text != ".00" else text


def factor(value: float | Tensor) -> str:
    """A number after a multiplication sign: a negative one in parentheses."""
    text = spell(value)
    return f"({text})" if text.startswith("−") else text


def number(value: float | Tensor) -> str:
    """A number of an equation."""
    text = f"{float(value):.2f}"
    return "0.00" if text == "-0.00" else text


def order(one: Weighed, head: int, n: int) -> list[int]:
    """Senders of node n, the heaviest first."""
    column = one.alpha[head, :, n]
    return [m for m in column.argsort(descending=True, stable=True).tolist() if one.heard[m, n]]


def captions(one: Weighed, head: int) -> list[str]:
    """Of each receiver, whom it hears, and the first number of its sum."""
    texts = []
    for n in range(len(one.a)):
        senders = order(one, head, n)
        column, value = one.alpha[head, :, n], one.values[head, :, 0]
        first = senders[0]
        parts = [f"{spell(column[m])}·{factor(value[m])}" for m in senders[:3]]
        more = " + …" if len(senders) > 3 else ""
        total = float(column @ value)
        most = "itself" if first == n else f"node {first}"
        who = "itself alone" if len(senders) == 1 else f"{len(senders)} nodes, {most} most"
        texts.append(
            f"Node {n} hears {who}; weights sum to {float(column.sum()):.2f}. "
            f"First number: {' + '.join(parts)}{more} = {spell(total)}."
        )
    return texts


def equations(one: Weighed, head: int) -> list[str]:
    """Score and weight of each receiver's heaviest sender."""
    degrees, texts = one.a.sum(0), []
    for n in range(len(one.a)):
        senders = order(one, head, n)
        m = senders[0]
        if one.kind == "gcn":
            texts.append(
                rf"S_{{{m},{n}}} = \frac{{1}}{{\sqrt{{(d_{{{m}}} + 1)(d_{{{n}}} + 1)}}}} = \frac{{1}}"
                rf"{{\sqrt{{({int(degrees[m])} + 1)({int(degrees[n])} + 1)}}}}"
                rf" = {float(one.alpha[head, m, n]):.3f}"
            )
            continue
        s = one.scores[head, :, n]
        if one.terms is not None:
            sent, got = number(one.terms[0, head, m]), number(one.terms[1, head, n])
            plus = "" if got.startswith("-") else "+"
            score = rf"a[\phi_s^\top h'_{{{m}}} + \phi_r^\top h'_{{{n}}}] = a[{sent} {plus} {got}]"
        elif one.kind == "dynamic":
            score = rf"\phi^\top a[h'_{{{m}}} + \Psi h_{{{n}}}]"
        else:
            score = rf"q_{{{n}}}^\top k_{{{m}}} / \sqrt{{D'}}"
        below = " + ".join(f"e^{{{number(s[i])}}}" for i in senders[:3])
        more = r" + \cdots" if len(senders) > 3 else ""
        texts.append(
            rf"s_{{{m},{n}}} = {score} = {number(s[m])}, \qquad \alpha_{{{m},{n}}} = "
            rf"\frac{{e^{{{number(s[m])}}}}}{{{below}{more}}} = {float(one.alpha[head, m, n]):.3f}"
        )
    return texts


def about(one: Weighed, head: int) -> str:
    """What to notice, with the numbers of this layer."""
    apart, pairs = disagreeing(one.scores[head])
    dead = [
        n for n in range(len(one.a))
        if int(one.heard[:, n].sum()) > 1 and one.kind == "additive" and one.slope == 0
        and not one.scores[head, :, n][one.heard[:, n]].any()
    ]  # fmt: skip
    texts = {
        "gcn": "The weights are those of the edges: degrees set them, features do not, and a column need not "
        "sum to 1.",
        "additive": "A receiver adds the same number to all its scores before the activation, which keeps "
        "their order: this attention is static.",
        "dynamic": "GATv2 applies the activation to the vectors before φ: the receiver can change the order "
        "of its senders.",
        "dot": "The product of query and key has an order of its own for each receiver. Over all nodes it is "
        "the self-attention of transformers; the edges act as its mask.",
    }
    result = texts[one.kind]
    if one.kind != "gcn":
        result += f" {apart} of {pairs} pairs of columns put two common senders in another order."
    if dead:
        which = ("s " if len(dead) > 1 else " ") + ", ".join(map(str, dead))
        result += f" All scores of node{which} are 0: their weights are equal, and φ gets no gradient there."
    return result
