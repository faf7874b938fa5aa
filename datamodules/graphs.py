"""Many graphs: a batch is their disjoint union, one graph of which no edge joins two parts.

    x (ΣN, D)              rows of all nodes, graph after graph
    edge_index (2, ΣE)     those of graph i are offset by N_0 + … + N_{i−1}
    batch (ΣN,)            the graph of each node
    ptr (G + 1,)           where each graph begins, and the end
    y (G,)                 classes
    edge_type (ΣE,)        kinds of the edges, of graphs that have them

Reference: [UDL] §13.5.1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data


class Graph(NamedTuple):
    """x (N, D), edge_index (2, E) with each edge both ways, the class, and the kind of each edge (E,)."""

    x: Tensor
    edge_index: Tensor
    y: int
    edge_type: Tensor | None = None


class GraphSplit:
    """A split of graphs; a batch is the union of those at the positions asked for."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self.graphs = graphs

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, positions: Tensor) -> Data:
        return union([self.graphs[i] for i in positions.tolist()])


def union(graphs: Sequence[Graph]) -> Data:
    """Disjoint union of graphs, in their order."""
    sizes = torch.tensor([len(graph.x) for graph in graphs])
    ptr = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])
    edges = [graph.edge_index + start for graph, start in zip(graphs, ptr.tolist(), strict=False)]
    kinds = [graph.edge_type for graph in graphs if graph.edge_type is not None]
    more = {"edge_type": torch.cat(kinds)} if len(kinds) == len(graphs) else {}
    return Data(
        x=torch.cat([graph.x for graph in graphs]),
        edge_index=torch.cat(edges, 1),
        batch=torch.arange(len(graphs)).repeat_interleave(sizes),
        ptr=ptr,
        y=torch.tensor([graph.y for graph in graphs]),
        **more,
    )
