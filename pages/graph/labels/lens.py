"""A graph network and a dense one that learn the same few labels, and what each says of all nodes.

Both are the layers of `GCN` from the same first weights: the dense one has no edges, its S is the identity.
They are trained at once, stacked along a first dimension; Adam moves each number by itself.

Shapes: N nodes, C classes, F looks; 2: the graph network, then the dense one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.errors import UserError
from lab.lenses import graphs
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.graph.convolution import GraphConvolution, propagation_matrix
from modules.graph.depth import drop_edges
from modules.graph.gcn import GCN
from pages.graph.labels.room import COMMUNITIES, KARATE, MOST, STEPS

WIDTH, DECAY = 16, 5e-4
CLASSES = 4  # of the reader's own graph, at most
WORD = re.compile(r"(\d{1,6})(?::(\d{1,6}))?")
Told = tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class World:
    """x (N, D); edges (2, E) both ways; classes (N,), or None where nobody knows them; their number."""

    x: Tensor
    edges: Tensor
    classes: Tensor | None
    count: int


def world(graph: str, own: Tensor, said: Told) -> World:
    """A graph by its name, or the reader's A (N, N), whose nodes have their numbers as features, and as many
    classes as are named, two at least."""
    if graph in (KARATE, COMMUNITIES):
        data = graphs.karate().data if graph == KARATE else graphs.communities().graph()
        return World(data.x.to_dense().float(), data.edge_index, data.y, int(data.y.max()) + 1)
    most = max([1, *(label for _, label in said if label is not None)])
    return World(torch.eye(len(own)), own.nonzero().T, None, min(most + 1, CLASSES))


# --- Labels and test nodes ------------------------------------------------------------------------------


def told(text: str) -> Told:
    """Nodes with the class that is said of them, None for their true one.

    Raises:
        UserError: a word is no node, or there are too many.
    """
    found = dict[int, int | None]()
    words = text.replace(",", " ").replace(";", " ").split()
    if len(words) > MOST:
        raise UserError(f"{len(words)} nodes are too many: write at most {MOST}.")
    for word in words:
        match = WORD.fullmatch(word)
        if match is None:
            raise UserError(
                f"“{word[:20]}” is no labelled node: write 33, or 33:1 to say that its class is 1."
            )
        found[int(match[1])] = None if match[2] is None else int(match[2])
    return tuple(found.items())


def labelled(here: World, said: Told, each: int, seed: int) -> tuple[Tensor, Tensor]:
    """Nodes with a label (M,), rising, and these labels (M,).

    Args:
        said: by the reader; where it is empty, `each` of every class are drawn, or the two ends of a graph
            without classes have one each.

    Raises:
        UserError: there is no such node or class, or nobody knows the class of one.
    """
    N, chosen = len(here.x), dict[int, int]()
    for node, label in said:
        if node >= N:
            raise UserError(f"There is no node {node}: they run from 0 to {N - 1}.")
        if label is None and here.classes is None:
            raise UserError(f"Nobody knows the class of node {node}: write {node}:0 or {node}:1.")
        if label is not None and label >= (here.count if here.classes is not None else CLASSES):
            raise UserError(f"{node}:{label}: a class is a number from 0 to {CLASSES - 1}.")
        chosen[node] = int(here.classes[node]) if label is None else label  # type: ignore[index]
    if not said and here.classes is None:
        chosen = {0: 0, N - 1: 1}
    elif not said:
        chosen = {n: int(here.classes[n]) for n in drawn(here.classes, each, seed)}  # type: ignore[index, arg-type]
    if len(chosen) > N - 2:
        raise UserError("Leave at least two nodes without a label: nothing is left to be found out.")
    nodes = torch.tensor(sorted(chosen))
    return nodes, torch.tensor([chosen[n] for n in nodes.tolist()])


def drawn(classes: Tensor, each: int, seed: int) -> list[int]:
    """So many nodes of each class, of a small one all but one; of one each the first, as in the paper."""
    generator, found = torch.Generator().manual_seed(seed), list[int]()
    for c in range(int(classes.max()) + 1):
        mine = (classes == c).nonzero()[:, 0]
        order = torch.cat([mine[:1], mine[1:][torch.randperm(len(mine) - 1, generator=generator)]])
        found += order[: max(1, min(each, len(mine) - 1))].tolist()
    return found


def kept_edges(edges: Tensor, kept: float, seed: int) -> Tensor:
    """A share of the edges, both directions together."""
    if not kept:
        return edges[:, :0]
    return drop_edges(edges, 1 - kept, torch.Generator().manual_seed(seed))


# --- Training -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """
    Attributes:
        edges: (2, E'), those that are kept. nodes, labels: (M,), what the networks are told.
        test: (N,) bool, half of the other nodes; unseen: whether these are hidden in training.
        p: (F, 2, N, C), class probabilities. loss: (F, 2), nats per labelled node.
        right, fitted: (F, 2), share of test and of labelled nodes that are right; NaN where nobody knows.
    """

    world: World
    edges: Tensor
    nodes: Tensor
    labels: Tensor
    test: Tensor
    unseen: bool
    p: Tensor
    loss: Tensor
    right: Tensor
    fitted: Tensor


def logits(x: Tensor, s: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """Logits (2, N, C) of x (N, D) and s (2, N, N); of each layer weights (2, D', D), biases (2, D')."""
    h = x
    for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        h = s @ ((F.relu(h) if k else h) @ weight.mT) + bias[:, None]
    return h


def matrices(edges: Tensor, nodes: int) -> Tensor:
    """Sᵀ of the graph, and of its nodes alone: (2, N, N)."""
    s = propagation_matrix(edges, nodes, "gcn").to_dense()
    return torch.stack([s, torch.eye(nodes)])


def spread(
    graph: str, own: Tensor, labels: Told, each: int, layers: int, kept: float, hide: bool, rate: float,
    seed: int,
) -> Spread:  # fmt: skip
    """Train both networks; look at each of `STEPS`."""
    here = world(graph, own, labels)
    N = len(here.x)
    edges = kept_edges(here.edges, kept, seed)
    nodes, y = labelled(here, labels, each, seed)
    free = torch.ones(N, dtype=torch.bool)
    free[nodes] = False
    others = free.nonzero()[:, 0]
    test = torch.zeros(N, dtype=torch.bool)
    order = torch.randperm(len(others), generator=torch.Generator().manual_seed(seed))
    test[others[order[: max(1, len(others) // 2)]]] = True
    whole = matrices(edges, N)
    seen = matrices(edges[:, ~test[edges].any(0)], N) if hide else whole

    model = seeded(partial(GCN, here.x.shape[1], here.count, [WIDTH] * (layers - 1), dropout=0.0), seed)
    made = [cast(GraphConvolution, layer) for layer in model.layers]
    weights = [nn.Parameter(layer.weight.detach().repeat(2, 1, 1)) for layer in made]
    biases = [nn.Parameter(layer.bias.detach().repeat(2, 1)) for layer in made]
    groups: list[dict[str, Any]] = [
        {"params": [weights[0], biases[0]], "weight_decay": DECAY},
        {"params": [*weights[1:], *biases[1:]]},
    ]
    optimizer = torch.optim.Adam(groups, lr=rate)
    p, losses = list[Tensor](), list[Tensor]()

    def measured() -> Tensor:
        said = logits(here.x, seen, weights, biases)[:, nodes]
        nll = F.cross_entropy(said.mT, y.expand(2, -1), reduction="none").mean(1)
        losses.append(nll.detach())
        return nll.sum()

    for _ in training_steps(measured, optimizer, STEPS[-1]):
        with torch.no_grad():
            p.append(logits(here.x, whole, weights, biases).softmax(-1))
    every = torch.stack(p)
    guess = every.argmax(-1)
    right = torch.full((len(p), 2), torch.nan)
    if here.classes is not None:
        right = (guess == here.classes)[..., test].float().mean(-1)
    fitted = (guess[..., nodes] == y).float().mean(-1)
    return Spread(here, edges, nodes, y, test, hide, every, torch.stack(losses), right, fitted)


def certainty(p: Tensor) -> Tensor:
    """0 where all classes are alike, 1 where one is sure: (…, N) of (…, N, C)."""
    C = p.shape[-1]
    return (p.amax(-1) * C - 1) / max(C - 1, 1)


def clicked(one: Spread, node: int) -> str:
    """The words of the labelled nodes after a click on one: told its class, or no more.

    In a graph without classes clicks go through them.
    """
    labels = dict(zip(one.nodes.tolist(), one.labels.tolist(), strict=True))
    classes = one.world.classes
    if node not in labels:
        labels[node] = 0 if classes is None else int(classes[node])
    elif classes is None and labels[node] + 1 < CLASSES:
        labels[node] += 1
    elif len(labels) > 1:
        del labels[node]
    return " ".join(
        f"{n}" if classes is not None and c == int(classes[n]) else f"{n}:{c}"
        for n, c in sorted(labels.items())
    )
