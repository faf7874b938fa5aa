"""Parts of a graph that keep most of its edges inside, for batches.

    cut = number of edges between parts          parts of nearly equal size, as few edges cut as can be found

By bisection, again and again, each by swaps after Kernighan and Lin: the pair of nodes whose exchange saves
most, each node once, the best prefix of the swaps kept, until no pass saves an edge. Finding the least cut is
NP-hard; this finds a good one.

Shapes: `edge_index` (2, E), both ways; parts (N,) int64.

References: Kernighan & Lin 1970; Karypis & Kumar 1998 (METIS); Chiang et al. 2019, arXiv:1905.07953
(batches); [UDL] §13.7.1.
"""

from collections.abc import Sequence

import networkx as nx
import torch
from networkx.algorithms.community import kernighan_lin_bisection
from torch import Tensor
from torch_geometric.utils import remove_self_loops, subgraph


def cut(edge_index: Tensor, parts: Tensor) -> int:
    """Undirected edges between parts."""
    source, target = parts[edge_index]
    return int((source != target).sum()) // 2


def partition(edge_index: Tensor, num_nodes: int, count: int, seed: int = 0) -> Tensor:
    """Parts 0 … count − 1 of the nodes, (N,), whose sizes differ by one at most.

    Raises:
        ValueError: `count` is no power of two, or there are fewer nodes than parts.
    """
    if count < 1 or count & (count - 1):
        raise ValueError(f"count is {count}: halving and halving gives 1, 2, 4, 8 … parts.")
    if count > num_nodes:
        raise ValueError(f"count is {count}: there are {num_nodes} nodes, and no part is empty.")
    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(remove_self_loops(edge_index)[0].T.tolist())
    parts = [list(range(num_nodes))]
    while len(parts) < count:
        parts = [
            sorted(half)
            for nodes in parts
            # two nodes have nothing to exchange
            for half in (
                kernighan_lin_bisection(graph.subgraph(nodes), seed=seed) if nodes[2:] else zip(nodes)
            )
        ]
    found = torch.empty(num_nodes, dtype=torch.long)
    for number, nodes in enumerate(parts):
        found[nodes] = number
    return found


def batch(edge_index: Tensor, parts: Tensor, chosen: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Nodes of the chosen parts, (M,), and all edges among them in their own numbers: (2, E')."""
    nodes = torch.isin(parts, torch.tensor(chosen)).nonzero()[:, 0]
    edges, _ = subgraph(nodes, edge_index, relabel_nodes=True, num_nodes=len(parts))
    return nodes, edges
