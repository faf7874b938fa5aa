"""Batches of a graph that is too large: the nodes that a batch needs, or a sample of them.

    field      nodes within K steps of the batch: a network of K layers needs no others
    sampled    going back from the last layer, each node keeps at most s random senders, drawn anew each time

The mean over s sampled neighbours has the mean over all as its expectation. A **sum** has s/d of it, so it
takes the factor d/s. Weights by degrees of both ends (gcn, symmetric) need the degrees of the full graph:
those of the rim count edges that a piece does not have.

Shapes: a graph is `Senders`, in compressed rows; a sample is one `edge_index` (2, E_k) of each layer, the
first layer first, over the nodes of `nodes`, the batch first.

References: [UDL] §13.7.1; Hamilton et al. 2017, arXiv:1706.02216 (sampling); Chiang et al. 2019,
arXiv:1905.07953 (parts).
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Senders:
    """The senders of each node, in compressed rows.

    Attributes:
        starts: (N + 1,), where each node's senders begin. nodes: (E,), the senders.
    """

    starts: Tensor
    nodes: Tensor

    @classmethod
    def of(cls, edge_index: Tensor, num_nodes: int) -> "Senders":
        """From edges (2, E), in their order at each receiver."""
        order = edge_index[1].argsort(stable=True)
        counts = edge_index[1].bincount(minlength=num_nodes)
        starts = torch.zeros(num_nodes + 1, dtype=torch.long)
        starts[1:] = counts.cumsum(0)
        return cls(starts, edge_index[0][order])

    def to(self, receivers: Tensor, most: int | None, generator: torch.Generator | None) -> Tensor:
        """Edges (2, E') into the receivers: all, or at most `most` senders of each, without replacement."""
        counts = self.starts[receivers + 1] - self.starts[receivers]  # (R,)
        row = torch.arange(len(receivers)).repeat_interleave(counts)
        first = counts.cumsum(0) - counts
        place = torch.arange(len(row)) - first[row]  # 0 … d − 1 in each row
        edge = self.starts[receivers][row] + place
        if most is not None and len(row) and int(counts.max()) > most:
            # a random order in each row: sort all by (row, key), keep the first of each
            key = row + torch.rand(len(row), generator=generator, dtype=torch.float64)
            order = key.argsort()
            # rows stay where they are, so that `place` counts in the new order, too
            kept = order[place < most].sort().values
            row, edge = row[kept], edge[kept]
        return torch.stack([self.nodes[edge], receivers[row]])


@dataclass(frozen=True)
class Sample:
    """What a batch needs of a graph.

    Attributes:
        nodes: (M,), the batch first, then the others as they were found.
        layers: `edge_index` (2, E_k) of each layer in numbers of `nodes`, the first layer first.
        factors: d/s of each layer's receivers, (M,) each, 1 where all senders are kept.
    """

    nodes: Tensor
    layers: list[Tensor]
    factors: list[Tensor]


def sample(
    graph: Senders, batch: Tensor, sizes: list[int | None], generator: torch.Generator | None = None
) -> Sample:
    """Draw what a batch of nodes needs.

    Args:
        batch: (B,), different nodes.
        sizes: s of each layer, the first layer first; None keeps all senders.
    """
    number = torch.full((len(graph.starts) - 1,), -1)
    nodes, layers, factors = batch, [], []
    number[batch] = torch.arange(len(batch))
    for most in reversed(sizes):
        edges = graph.to(nodes, most, generator)
        counts = graph.starts[nodes + 1] - graph.starts[nodes]
        factors.append(counts / counts.clamp(max=most or int(counts.max().clamp(min=1))).clamp(min=1))
        new = edges[0][number[edges[0]] < 0].unique()
        number[new] = torch.arange(len(nodes), len(nodes) + len(new))
        nodes = torch.cat([nodes, new])
        layers.append(number[edges])
    width = len(nodes)
    factors = [torch.cat([f.where(f > 0, 1), f.new_ones(width - len(f))]) for f in factors]
    return Sample(nodes, layers[::-1], factors[::-1])


def field(graph: Senders, batch: Tensor, steps: int) -> Tensor:
    """Nodes within so many steps of the batch, the batch first: (M,)."""
    return sample(graph, batch, [None] * steps).nodes
