"""Matching of leaves: the root of a tree has to hear, through its one state, what is written at 2^r leaves.

A complete binary tree of depth r. Each leaf has a key, the keys are 1 … 2^r in any order, and a value of
four; the root is asked for the value of each key. Messages run upwards, so that all that the leaves say goes
through states of D numbers. The network has r + 1 layers, each with a skip and a layer norm, as published;
every batch is a fresh draw, so that nothing can be learnt by heart.

As published the root has one key in its state, and the value is one of 2^r: then the look-up has to be learnt
too, which takes longer than a bench may. Here a key picks its rows of the last layer.

Reference: Alon & Yahav 2021, arXiv:2006.05205.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import to_torch_csr_tensor

from lab.seeding import seeded
from modules.graph.attention import GraphAttention
from modules.graph.convolution import GraphConvolution, Propagation, edge_weights
from modules.graph.depth import influence
from modules.graph.gin import GINLayer

BATCH, RATE, HEADS, VALUES = 64, 5e-3, 4, 4
STEPS, ENOUGH, LOOK, HELD_OUT = 500, 0.99, 100, 1_024
Layer = Callable[[int], nn.Module]
LAYERS: dict[str, Layer] = {
    "GCN": lambda d: GraphConvolution(d, d, "gcn"),
    "GIN": lambda d: GINLayer(d, d, norm=False),
    "attention": lambda d: GraphAttention(d, d // HEADS, HEADS),
}

WEIGHTS: dict[str, Propagation] = {"GCN": "gcn", "GIN": "sum"}  # of those that take a graph as a matrix


def upwards(depth: int, count: int) -> Tensor:
    """Edges (2, E) of so many complete binary trees, from each node to its parent; node 0 of each is the
    root."""
    n = 2 ** (depth + 1) - 1
    child = torch.arange(1, n)
    one = torch.stack([child, (child - 1) // 2])  # (2, n − 1)
    starts = n * torch.arange(count)[:, None]
    return torch.stack([(row + starts).flatten() for row in one])


def draw(depth: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """What is written at all nodes, (B, n): 0, or of a leaf 1 + 4 key + value; and the value of each key (B,
    2^r)."""
    leaves = 2**depth
    keys = torch.rand(count, leaves, generator=generator).argsort(1)  # (B, 2^r)
    values = torch.randint(VALUES, (count, leaves), generator=generator)
    x = torch.zeros(count, 2 * leaves - 1, dtype=torch.long)
    x[:, leaves - 1 :] = 1 + VALUES * keys + values.gather(1, keys)
    return x, values


class Matcher(nn.Module):
    """Logits (B, V) of the value at the leaf with the root's key."""

    def __init__(self, layer: Layer, depth: int, width: int) -> None:
        super().__init__()
        leaves = 2**depth
        self.leaf = nn.Embedding(1 + VALUES * leaves, width)
        self.layers = nn.ModuleList(layer(width) for _ in range(depth + 1))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth + 1))
        self.head = nn.Linear(width, leaves * VALUES, bias=False)

    def start(self, x: Tensor) -> Tensor:
        """States (B n, D) of what is written at nodes (B, n)."""
        return self.leaf(x).flatten(0, 1)

    def roots(self, h: Tensor, graphs: list[Tensor], count: int) -> Tensor:
        """Last states of the roots, (B, D), of first states (B n, D)."""
        for k, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            h = norm(h + F.relu(layer(h, graphs[k])))
            n = 2 ** (len(self.layers) - k) - 1
            h = h.view(count, -1, h.shape[1])[:, :n].flatten(0, 1)
        return h

    def forward(self, x: Tensor, graphs: list[Tensor]) -> Tensor:
        return self.head(self.roots(self.start(x), graphs, len(x))).unflatten(1, (-1, VALUES))


def graph_of(name: str, depth: int, count: int) -> list[Tensor]:
    """So many trees for each layer, as a network takes them fastest: the levels that the root will hear, with
    weights by the degrees of the whole tree."""
    n, graphs, weight = 2 ** (depth + 1) - 1, [], None
    edges = upwards(depth, count)
    if name in WEIGHTS:
        edges, weight = edge_weights(edges, count * n, WEIGHTS[name])
    for d in (depth, *range(depth, 0, -1)):
        m = 2 ** (d + 1) - 1
        kept = (edges % n < m).all(0)
        cut = edges[:, kept] // n * m + edges[:, kept] % n
        if weight is not None:
            cut = to_torch_csr_tensor(cut.flip(0), weight[kept], size=(count * m, count * m))
        graphs.append(cut)
    return graphs


@torch.no_grad()
def accuracy(network: Matcher, name: str, depth: int, seed: int) -> float:
    """Share of the keys of held-out trees whose value is right."""
    x, y = draw(depth, HELD_OUT, torch.Generator().manual_seed(seed))
    return float((network(x, graph_of(name, depth, HELD_OUT)).argmax(-1) == y).double().mean())


def share_of_leaf(network: Matcher, name: str, depth: int, count: int = 4) -> float:
    """Influence of a leaf on its root's last state, as a share of that of all nodes; mean over leaves and
    trees."""
    x, _ = draw(depth, count, torch.Generator().manual_seed(3))
    graphs, shares = graph_of(name, depth, 1), 0.0
    for one in x:
        h = network.start(one[None]).detach().requires_grad_()
        heard = influence(network.roots(h, graphs, 1)[0], h)
        shares += float(heard[2**depth - 1 :].mean() / heard.sum()) / count
    return shares


def fit(name: str, depth: int, width: int, seed: int, steps: int = STEPS) -> tuple[int, float, float]:
    """Train once: steps, at most so many, fewer where 99 % of the held-out answers are right; accuracy on
    test trees; and a leaf's share of the influence on the root before the first step."""
    network = seeded(lambda: Matcher(LAYERS[name], depth, width), seed)
    before = share_of_leaf(network, name, depth)
    graph, generator = graph_of(name, depth, BATCH), torch.Generator().manual_seed(1_000_003 * (seed + 1))
    optimizer = torch.optim.Adam(network.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, 0.05 * RATE)
    taken = steps
    for step in range(1, steps + 1):
        x, y = draw(depth, BATCH, generator)
        loss = F.cross_entropy(network(x, graph).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % LOOK == 0 and step < steps and accuracy(network, name, depth, 1) >= ENOUGH:
            taken = step
            break
    return taken, accuracy(network, name, depth, 2), before
