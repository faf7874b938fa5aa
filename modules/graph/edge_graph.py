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


def node_graph(edges: Tensor, count: int, star: bool = False) -> Tensor:
    """A graph whose edge graph has these edges (E', 2) among `count` nodes: (count, 2), edge e first to last.

    A node of the graph is a clique of edges that meet there; a node of the edge graph lies in two cliques,
    its ends. Once one node's neighbours are parted into two cliques, all others follow.

    Args:
        star: of a part that is a triangle make three edges that meet in one node; else a triangle.

    Raises:
        ValueError: it is no edge graph of any graph.
    """
    near = [set[int]() for _ in range(count)]
    for e, f in edges.tolist():
        near[e].add(f)
        near[f].add(e)
    ends, nodes, done = torch.zeros(count, 2, dtype=torch.long), 0, set[int]()
    for first in range(count):
        if first in done:
            continue
        found = [root for split in splits(near, first) if (root := grown(near, first, split)) is not None]
        if not found:
            raise ValueError("This graph is no edge graph: some node would be an edge with three ends.")
        # by Whitney all answers have one form, but those to a triangle: three nodes, or a star's four
        root = max(found, key=len) if star else min(found, key=len)
        members = sorted({first}.union(*root))
        cliques = sorted(root, key=lambda clique: sorted(clique))
        for e in members:
            ends[e] = nodes + torch.tensor([k for k, clique in enumerate(cliques) if e in clique])
        nodes += len(cliques)
        done |= set(members)
    return ends


def splits(near: list[set[int]], e: int) -> list[set[int]]:
    """Ways in which the neighbours of e may be those at one of its ends, the others those at the other end.

    An edge at one end shares an end with at most one edge at the other: with two or more at both ends those
    that share none, joined with one another, form at most two connected parts.
    """
    found = [set[int](), *({f} for f in sorted(near[e]))]
    parts, left = list[tuple[set[int], set[int]]](), set(near[e])
    while left:
        fresh = [min(left)]
        part, sides = set[int](), ({fresh[0]}, set[int]())
        while fresh:
            f = fresh.pop()
            part.add(f)
            others = near[e] - near[f] - {f} - part
            sides[f in sides[0]].update(others)
            fresh += others
        parts.append(sides)
        left -= part
    if len(parts) == 1:
        found.append(parts[0][0])
    if len(parts) == 2:
        found += [parts[0][0] | side for side in parts[1]]
    return found


def grown(near: list[set[int]], e: int, split: set[int]) -> list[frozenset[int]] | None:
    """Cliques, one a node of the graph, of the connected part with e, whose neighbours are so split; None if
    it is no edge graph so. An end where no other edge meets is a clique of one, as often as it occurs."""
    cliques = [frozenset(split | {e}), frozenset((near[e] - split) | {e})]
    if not all(is_clique(near, clique) for clique in cliques):
        return None
    held, fresh = {e: list(cliques)}, [e]  # held: the two ends of each edge
    while fresh:
        e = fresh.pop()
        for f in sorted(near[e] - set(held)):
            (known,) = (clique for clique in held[e] if f in clique)
            other = frozenset((near[f] - known) | {f})
            if not is_clique(near, other):
                return None
            held[f] = [known, other]
            fresh.append(f)
            cliques.append(other)
    unique = {clique for clique in cliques if len(clique) > 1}
    if any(clique not in held[f] for clique in unique for f in clique):
        return None
    lonely = [frozenset({f}) for f, both in held.items() for clique in both if len(clique) == 1]
    return [*unique, *lonely]


def is_clique(near: list[set[int]], nodes: frozenset[int]) -> bool:
    """Whether every two of them are joined."""
    return all(nodes - {e} <= near[e] for e in nodes)


def operator(receiver: Kind, sender: Kind, edges: Tensor, num_nodes: int) -> Tensor:
    """Matrix by which states of senders, as columns, are multiplied from the right: (senders, receivers)."""
    b = incidence(edges, num_nodes)
    if receiver == sender == "node":
        gram = b @ b.T
        return gram - gram.diagonal().diag()
    if receiver == sender == "edge":
        return b.T @ b - 2 * torch.eye(len(edges), dtype=torch.long)
    return b.T if receiver == "node" else b
