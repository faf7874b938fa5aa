"""Masks and gradients of one answer, and what the network says when only the best edges are left.

Shapes: N nodes, E edges both ways, P undirected edges in the field, F frames, D features, C classes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.graph import OneGraph
from datamodules.house_shapes import HouseShapes
from datamodules.karate import Karate
from datamodules.motifs import Motifs
from datamodules.tu import ATOMS, TU
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import graphs, surfaces
from modules.graph import explainer
from modules.graph.explainer import Explanation, Network, Penalties
from modules.graph.gcn import GCN
from modules.graph.gin import GIN
from modules.graph.graphs import GraphClassifier
from pages.graph.explanation.room import GRADIENT, MASK, MOST, RANDOM, STEPS

LARGEST = 24  # nodes of a reader's graph
ENTROPY = 0.1
Card = Mapping[str, Any]


def fits(experiment: Experiment) -> bool:
    """Whether it answers for graphs, or for the nodes of a graph that can be drawn."""
    if surfaces.is_a(experiment, GIN):
        return surfaces.is_a(experiment, Motifs, part="data") or experiment.name.endswith("-mutag")
    return surfaces.is_a(experiment, GCN) and surfaces.is_a(experiment, HouseShapes, Karate, part="data")


def last(model: Network, model_card: Card) -> int:
    """The last test graph, or node."""
    if isinstance(model, GraphClassifier):
        return len(graphs.held_out(dict(model_card))) - 1
    return int(graphs.world(dict(model_card)).data.num_nodes) - 1


def own(text: str) -> Tensor | None:
    """The reader's edges (2, E); None where nothing is written."""
    if not text.strip():
        return None
    edges = graphs.labelled(text, LARGEST).edge_index
    if not edges.shape[1]:
        raise UserError("There is no edge to explain by: write one such as 0-1.")
    return edges


@dataclass(frozen=True)
class Case:
    """What is asked: the answer of a network for a graph, or for a node of it.

    Attributes:
        node: whose answer; None: the graph's. classes: their names.
        truth: (E,) bool, edges that were planted; None where nobody knows. label: the class; None, too.
        marks: of the nodes, (N,): symbols of atoms, or numbers. kinds: (N,) for their colours.
    """

    x: Tensor
    edge_index: Tensor
    node: int | None
    classes: list[str]
    truth: Tensor | None
    label: int | None
    marks: list[str]
    kinds: Tensor


def in_cycles(edges: Tensor) -> Tensor:
    """Edges that are no bridges, (E,) bool: in a tree with a motif those of the motif."""
    import networkx as nx

    bridges = {frozenset(pair) for pair in nx.bridges(nx.Graph(edges.T.tolist()))}
    return torch.tensor([frozenset(pair) not in bridges for pair in edges.T.tolist()])


def case(model: Network, card: Card, which: int, drawn: Tensor | None) -> Case:
    if not isinstance(model, GraphClassifier):
        return of_node(graphs.world(dict(card)), which)
    molecules = str(card["config"]["data"]["class_path"]).endswith(".TU")
    if drawn is not None and not molecules:
        x, edges, label = torch.ones(int(drawn.max()) + 1, 1), drawn, None
    else:
        x, edges, label, _ = graphs.held_out(dict(card))[which]
    if molecules:
        kinds = x.argmax(1)
        symbols = [ATOMS[k] for k in kinds.tolist()]
        return Case(x, edges, None, list(TU("MUTAG").classes), None, label, symbols, kinds)
    truth = in_cycles(edges)
    kinds = torch.zeros(len(x), dtype=torch.long)
    return Case(x, edges, None, list(Motifs.classes), truth if truth.any() else None, label,
                [str(n) for n in range(len(x))], kinds)  # fmt: skip


def of_node(module: OneGraph, node: int) -> Case:
    data, truth = module.data, None
    if "house" in data and data.house[node] >= 0:
        truth = (data.house[data.edge_index] == data.house[node]).all(0)
    marks = [str(n) for n in range(int(data.num_nodes))]
    return Case(data.x, data.edge_index, node, list(module.classes), truth, int(data.y[node]), marks, data.y)


@dataclass(frozen=True)
class Found:
    """One answer, explained.

    Attributes:
        case: what was asked. found: the masks, step by step. p: (C,), the network's answer.
        gradient: (E,), of edges. features: (D,), of features, over all nodes.
        pairs: (P,), of each undirected edge in the field one direction, its place among the E edges.
        kept, rest: way -> (K + 1,), p_c with the k best edges alone, and without them, k from 0.
        order: way -> (P,), the pairs, the best first.
        planted: p_c with the planted edges of the field alone, all nodes there; NaN where none are known.
    """

    case: Case
    found: Explanation
    p: Tensor
    gradient: Tensor
    features: Tensor
    pairs: Tensor
    kept: dict[str, Tensor]
    rest: dict[str, Tensor]
    order: dict[str, Tensor]
    planted: float

    @property
    def masks(self) -> Tensor:
        """Of the steps that are shown, (F, P)."""
        return self.found.edges[torch.tensor(STEPS)][:, self.pairs]

    @property
    def truth(self) -> Tensor | None:
        """(P,) bool."""
        return None if self.case.truth is None else self.case.truth[self.pairs]

    def auc(self, scores: Tensor) -> float | None:
        """Of scores (P,), where the truth is known and not all of the field."""
        if self.truth is None or self.truth.all() or not self.truth.any():
            return None
        return explainer.auc(scores, self.truth)


def explained(
    model: Network, model_card: Card, which: int, drawn: Tensor | None, size: float, seed: int
) -> Found:
    """Fit the mask of one answer, and try the best edges of each way."""
    one = case(model, model_card, which, drawn)
    x, edges, node = one.x, one.edge_index, one.node
    cost = Penalties(size=size, entropy=ENTROPY)
    found = explainer.explain(model, x, edges, node, features=x.shape[1] > 1, cost=cost, seed=seed)
    gradient, features = explainer.gradients(model, x, edges, node, found.target)
    inside = found.edges[-1] > 0  # either direction in the field
    pairs = (inside & (edges[0] < edges[1])).nonzero()[:, 0]
    generator = torch.Generator().manual_seed(seed)
    scores = {MASK: found.edges[-1][pairs], GRADIENT: gradient[pairs],
              RANDOM: torch.rand(len(pairs), generator=generator)}  # fmt: skip
    order = {way: score.argsort(descending=True, stable=True) for way, score in scores.items()}
    every = torch.ones(1, edges.shape[1], dtype=torch.bool)
    p = explainer.predicted(model, x, edges, every, node)[0]
    planted = math.nan
    if one.truth is not None:
        alone = (one.truth | ~inside)[None]
        planted = float(explainer.predicted(model, x, edges, alone, node)[0, found.target])
    kept, rest = {}, {}
    number = explainer.edge_numbers(edges)
    for way, ranks in order.items():
        chosen = torch.stack([torch.isin(number, number[pairs[ranks[:k]]]) for k in range(count(pairs))])
        kept[way] = explainer.predicted(model, x, edges, chosen | ~inside, node)[:, found.target]
        rest[way] = explainer.predicted(model, x, edges, ~chosen, node)[:, found.target]
    return Found(one, found, p, gradient, features.sum(0), pairs, kept, rest, order, planted)


def count(pairs: Tensor) -> int:
    """Frames of the edges that are kept."""
    return min(len(pairs), MOST) + 1
