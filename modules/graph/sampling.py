"""Batches of a graph that is too large: the nodes that a batch needs, or a sample of them.

    field      nodes within K steps of the batch: a network of K layers needs no others
    sampled    going back from the last layer, each node keeps at most s random senders, drawn anew each time

The mean over s sampled neighbours has the mean over all as its expectation. A **sum** has s/d of it, so it
takes the factor d/s. Weights by degrees of both ends (gcn, symmetric) need the degrees of the full graph:
those of the rim count edges that a piece does not have.

Where all nodes are asked for, batch after batch computes a state again for each batch whose field has it.
Layer by layer it is computed once: all states of a layer stand before the next begins, and only the messages
into one batch of nodes are held.

Shapes: a graph is `Senders`, in compressed rows; a sample is one `edge_index` (2, E_k) of each layer, the
first layer first, over the nodes of `nodes`, the batch first.

References: [UDL] §13.7.1; Hamilton et al. 2017, arXiv:1706.02216 (sampling); Chiang et al. 2019,
arXiv:1905.07953 (parts).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.base import require


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
        starts = self.starts[receivers]
        counts = self.starts[receivers + 1] - starts  # (R,)
        kept = counts if most is None else counts.clamp(max=most)
        offset = starts - kept.cumsum(0) + kept  # of each row's edges, where rows follow one another
        edge = torch.arange(int(kept.sum())) + offset.repeat_interleave(kept)
        many = kept < counts
        if most is not None and many.any():
            drawn = starts[many][:, None] + subsets(counts[many], most, generator)
            edge.masked_scatter_(many.repeat_interleave(kept), drawn)
        return torch.stack([self.nodes.index_select(0, edge), receivers.repeat_interleave(kept)])


def subsets(counts: Tensor, size: int, generator: torch.Generator | None = None) -> Tensor:
    """Subsets of `size` different numbers below each of the counts (M,), none of which is smaller: (M, size).

    All subsets are equally likely, and no work depends on the counts (Floyd's algorithm, Bentley 1987): the
    k-th number is drawn from those up to c − size + k; one that is there already gives way to the largest.
    """
    u = torch.rand(len(counts), size, generator=generator, dtype=torch.float64)
    largest = counts[:, None] - size + torch.arange(size)  # of each draw
    chosen = (u * (largest + 1)).long().clamp(max=largest)
    for k in range(1, size):
        taken = (chosen[:, :k] == chosen[:, k : k + 1]).any(1)
        chosen[:, k] = largest[:, k].where(taken, chosen[:, k])
    return chosen


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
        fresh = torch.zeros(len(number), dtype=torch.bool)
        fresh.index_fill_(0, edges[0], True)
        new = (fresh & (number < 0)).nonzero()[:, 0]
        number[new] = torch.arange(len(nodes), len(nodes) + len(new))
        nodes = torch.cat([nodes, new])
        layers.append(torch.stack([number.index_select(0, end) for end in edges]))
    width = len(nodes)
    factors = [torch.cat([f.where(f > 0, 1), f.new_ones(width - len(f))]) for f in factors]
    return Sample(nodes, layers[::-1], factors[::-1])


def field(graph: Senders, batch: Tensor, steps: int) -> Tensor:
    """Nodes within so many steps of the batch, the batch first: (M,)."""
    return sample(graph, batch, [None] * steps).nodes


@torch.no_grad()
def by_layers(
    layers: Sequence[Callable[[Tensor, Tensor], Tensor]], x: Tensor, graph: Senders | Tensor, size: int
) -> Tensor:
    """States of all nodes behind the last layer, (N, D'), without gradients: layer by layer, in batches of
    nodes.

    Args:
        layers: each gives states (M, D') of states (M, D) and a graph on them, with its activation; in
            training mode, dropout and batch norm would see one batch at a time.
        x: (N, D).
        graph: its senders, and a layer gets `edge_index` (2, E') into the batch, in numbers of the piece; or
            Sᵀ (N, N) in compressed rows, as `propagation_matrix` gives it, and a layer gets its rows, (M, M):
            what goes by degrees of senders needs those of the whole graph.
        size: nodes of a batch, which with their senders make a piece.

    Raises:
        ValueError: `size` is below 1.
    """
    require(1, size=size)
    senders = graph if isinstance(graph, Senders) else Senders(graph.crow_indices(), graph.col_indices())
    for layer in layers:
        out: Tensor | None = None
        for batch in torch.arange(len(x)).split(size):
            piece = sample(senders, batch, [None])
            edges = piece.layers[0]
            if isinstance(graph, Tensor):
                edges = rows_of(graph, batch, edges[0], len(piece.nodes))
            h = layer(x[piece.nodes], edges)[: len(batch)]
            if out is None:
                out = h.new_empty(len(x), *h.shape[1:])
            out[batch] = h
        x = x if out is None else out
    return x


def rows_of(s: Tensor, batch: Tensor, senders: Tensor, count: int) -> Tensor:
    """The rows of Sᵀ (N, N) of a batch of successive nodes, the first of a piece's: (count, count), its other
    rows empty; `senders` (E',) in numbers of the piece."""
    starts = s.crow_indices()
    first, last = int(starts[batch[0]]), int(starts[batch[-1] + 1])
    crow = torch.full((count + 1,), last - first)
    crow[: len(batch) + 1] = starts[batch[0] : batch[-1] + 2] - first
    values = s.values()[first:last]
    return torch.sparse_csr_tensor(crow, senders, values, (count, count), check_invariants=False)
