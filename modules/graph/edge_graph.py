"""The edge graph (line graph): edges become nodes, joined where they share an end.

    B (N, E): B_ne = 1 iff node n is an end of edge e
    A = B Bᵀ − D            A_edge = Bᵀ B − 2 I            Σ_n d_n (d_n − 1) / 2 edges of the edge graph

    node ← node  H A      node ← edge  H_E Bᵀ      edge ← node  H B      edge ← edge  H_E A_edge

With them a layer updates nodes and edges from both kinds. The way back exists for connected graphs but one:
the triangle and the star of three rays have the same edge graph, a triangle (Whitney 1932), where the text
speaks of a way back in general. Isolated nodes are lost.

Shapes: undirected edges (E, 2), each once, smaller end first; states as columns, H (D, N), H_E (D_E, E).

References: [UDL] §13.9, problems 13.11-13.13; Whitney 1932.
"""

from typing import Literal

import networkx as nx
import torch
from torch import Tensor

Kind = Literal["node", "edge"]


def undirected(edge_index: Tensor) -> Tensor:
    """Each undirected edge once, (E, 2), smaller end first, in order; self-loops are dropped."""
    pairs = edge_index.T.sort(1).values
    return pairs[pairs[:, 0] < pairs[:, 1]].unique(dim=0)


def incidence(edges: Tensor, num_nodes: int) -> Tensor:
    """B (N, E) int64 of undirected edges (E, 2)."""
    b = torch.zeros(num_nodes, len(edges), dtype=torch.long)
    b.scatter_(0, edges.T, 1)
    return b


def edge_graph(edges: Tensor) -> Tensor:
    """Edges of the edge graph, (E', 2): pairs of numbers of `edges` (E, 2) that share an end."""
    b = incidence(edges, int(edges.max()) + 1 if len(edges) else 0)
    joined = (b.T @ b - 2 * torch.eye(len(edges), dtype=torch.long)).triu(1)
    return joined.nonzero()


def node_graph(edges: Tensor, count: int) -> Tensor:
    """A graph whose edge graph has these edges (E', 2) among `count` nodes: (count, 2), edge e first to last.

    Raises:
        ValueError: it is no edge graph of any graph.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges.tolist())
    try:
        back = nx.inverse_line_graph(graph)
    except nx.NetworkXError as error:
        raise ValueError(
            "This graph is no edge graph: some node would be an edge with three ends."
        ) from error
    # networkx names a node of the root graph by the set of edges that meet there
    ends: list[list[int]] = [[] for _ in range(count)]
    for number, name in enumerate(sorted(back.nodes, key=str)):
        for edge in name:
            ends[edge].append(number)
    return torch.tensor([sorted(pair) for pair in ends])


def operator(receiver: Kind, sender: Kind, edges: Tensor, num_nodes: int) -> Tensor:
    """Matrix by which states of senders, as columns, are multiplied from the right: (senders, receivers)."""
    b = incidence(edges, num_nodes)
    if receiver == sender == "node":
        gram = b @ b.T
        return gram - gram.diagonal().diag()
    if receiver == sender == "edge":
        return b.T @ b - 2 * torch.eye(len(edges), dtype=torch.long)
    return b.T if receiver == "node" else b
