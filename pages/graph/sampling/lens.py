"""What a node's answer needs of a graph: all senders, a sample of them, a part; and how noisy a sample is.

Shapes: N nodes, K layers; levels 0 … K go back from the answer to the inputs.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from lab.bench import record
from lab.errors import UserError
from lab.seeding import seeded
from modules.graph.convolution import GraphConvolution
from modules.graph.gcn import GCN
from modules.graph.partition import cut, partition
from modules.graph.sampling import Senders, sample
from pages.graph.sampling.room import PAIRS, RANDOM, SWAPS

DRAWS, WIDTH, CLASSES = 60, 8, 2
SIZES = (1, 2, 3, 4, 5, 6)


def last_node(own: Tensor) -> int:
    return len(own) - 1


# --- Samples --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """
    Attributes:
        levels: K + 1, the nodes that are needed after k steps back, (M_k,) each.
        edges: K, of level k: (2, E_k), senders in level k + 1 and receivers in level k.
    """

    levels: list[Tensor]
    edges: list[Tensor]


@dataclass(frozen=True)
class Trees:
    """All that a node needs, and a sample of it; `count` nodes in the graph."""

    full: Tree
    sampled: Tree
    count: int


def tree(graph: Senders, node: int, hops: int, most: int | None, seed: int) -> Tree:
    """What a node's answer needs, level by level."""
    generator = torch.Generator().manual_seed(seed)
    found = sample(graph, torch.tensor([node]), [most] * hops, generator)
    levels, edges = [found.nodes[:1]], list[Tensor]()
    for layer in reversed(found.layers):
        width = max(len(levels[-1]), int(layer[0].max()) + 1 if layer.numel() else 0)
        levels.append(found.nodes[:width])
        edges.append(found.nodes[layer])
    return Tree(levels, edges)


def trees(own: Tensor, node: int, hops: int, most: int, seed: int) -> Trees:
    """The full and the sampled computation tree of a node on A (N, N)."""
    graph = Senders.of(own.nonzero().T, len(own))
    return Trees(tree(graph, node, hops, None, seed), tree(graph, node, hops, most, seed), len(own))


# --- Parts ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """
    Attributes:
        edges: (2, E) both ways. parts: (N,). between: SᵀAS (P, P). cut: edges between parts.
        expected: of the cut of random parts with these sizes.
        batches: the parts of each.
    """

    edges: Tensor
    parts: Tensor
    between: Tensor
    cut: int
    expected: float
    batches: list[tuple[int, ...]]


def spectral(own: Tensor, count: int, seed: int) -> Tensor:
    """Parts of a graph (N,) by the eigenvectors of its normalised Laplacian, numbered as they come."""
    from sklearn.cluster import SpectralClustering

    clusters = SpectralClustering(
        count, affinity="precomputed", assign_labels="cluster_qr", random_state=seed
    )
    found = torch.tensor(clusters.fit_predict(own.double().numpy()))
    _, first = torch.unique(found, return_inverse=True)
    order = list(dict.fromkeys(first.tolist()))
    return torch.tensor([order.index(c) for c in first.tolist()])


def divide(own: Tensor, count: int, method: str, seed: int) -> Tensor:
    """Parts 0 … P − 1 of the nodes of A (N, N).

    Raises:
        UserError: there are too few nodes, or eigenvectors cannot part a graph that is in pieces.
    """
    N, edges = len(own), own.nonzero().T
    if count >= N:
        raise UserError(f"{N} nodes are too few for {count} parts: write a larger graph, or ask for fewer.")
    if method == SWAPS:
        return partition(edges, N, count, seed)
    if method == RANDOM:
        return torch.randperm(N, generator=torch.Generator().manual_seed(seed)) % count
    if connected_components(own.numpy(), directed=False)[0] > 1:
        raise UserError("Eigenvectors need a connected graph: join its pieces, or choose another method.")
    return spectral(own, count, seed)


def divided(divided: Tensor, count: str, method: str, batch: str, seed: int) -> Parts:
    """A graph in parts, and its batches of one part or two."""
    own, P = divided, int(count)
    parts, edges, N = divide(own, P, method, seed), own.nonzero().T, len(own)
    one_hot = F.one_hot(parts, P)
    sizes = parts.bincount(minlength=P)
    inside = float((sizes * (sizes - 1)).sum()) / max(N * (N - 1), 1)
    batches = list(itertools.combinations(range(P), 2 if batch == PAIRS else 1))
    return Parts(
        edges, parts, one_hot.T @ own @ one_hot, cut(edges, parts), (1 - inside) * edges.shape[1] / 2, batches
    )


# --- Noise of gradients -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noise:
    """Of each of `SIZES`: deviation and bias of the gradient, as shares of its length; Cora's (S', 2): s,
    deviation."""

    deviation: Tensor
    bias: Tensor
    cora: Tensor


def sampled_matrices(
    edges: Tensor, nodes: int, copies: int, most: int | None, generator: torch.Generator
) -> Tensor:
    """S of so many draws, (copies, N, N): a node, and the mean of at most `most` of its senders.

    All are drawn at once, from the disjoint union of as many copies of the graph.
    """
    first = nodes * torch.arange(copies).repeat_interleave(edges.shape[1])
    union = Senders.of(edges.repeat(1, copies) + first, nodes * copies)
    source, target = union.to(torch.arange(nodes * copies), most, generator)
    weight = 1 / target.bincount(minlength=nodes * copies).clamp(min=1)[target]
    s = torch.eye(nodes).repeat(copies, 1, 1)
    s[target // nodes, target % nodes, source % nodes] += weight
    return s


def gradients(s: Tensor, y: Tensor, model: GCN) -> Tensor:
    """Gradients of the first layer (R, D' N), one for each draw of both layers' S, (R, 2, N, N); y (N,)."""
    first, last = (cast(GraphConvolution, layer) for layer in model.layers)
    weight = first.weight.detach().expand(len(s), -1, -1).clone().requires_grad_()  # (R, D', N)
    with torch.enable_grad():
        h = F.relu(s[:, 0] @ weight.mT + first.bias.detach())  # X is the identity
        logits = s[:, 1] @ (h @ last.weight.detach().T) + last.bias.detach()
        loss = F.cross_entropy(logits.mT, y.expand(len(s), -1), reduction="none").mean(1).sum()
        (gradient,) = torch.autograd.grad(loss, weight)
    return gradient.flatten(1)


def on_cora() -> Tensor:
    """Deviations that the bench of batches measured with means on Cora: (S', 2), s and deviation."""
    kept = json.loads((record.HERE / record.RESULTS / "graph-batches.json").read_text(encoding="utf-8"))
    rows = [record.row(said) for said in kept["rows"] if said["case"].endswith("senders, mean")]
    return torch.tensor([[float(one.case.split()[2]), one.ours] for one in rows])


def noise(own: Tensor, seed: int) -> Noise:
    """Noise of sampled gradients of two layers at the start of a training, drawn labels at all nodes."""
    N, edges, generator = len(own), own.nonzero().T, torch.Generator().manual_seed(seed)
    y = torch.randint(CLASSES, (N,), generator=generator)
    model = seeded(partial(GCN, N, CLASSES, [WIDTH], propagation="mean"), seed)

    def draws(most: int | None, count: int) -> Tensor:
        s = sampled_matrices(edges, N, 2 * count, most, generator)
        return gradients(s.reshape(count, 2, N, N), y, model)

    exact = draws(None, 1)[0]
    length, found = exact.norm().clamp(min=1e-12), list[tuple[Tensor, Tensor]]()
    for most in SIZES:
        drawn = draws(most, DRAWS)
        mean = drawn.mean(0)
        found.append(((drawn - mean).square().sum(1).mean().sqrt() / length, (mean - exact).norm() / length))
    deviation, bias = zip(*found, strict=True)
    return Noise(torch.stack(deviation), torch.stack(bias), on_cora())


def shares(one: Tree, count: int) -> Sequence[float]:
    """Share of the graph's nodes that each level needs."""
    return [len(level) / count for level in one.levels]
