"""A graph in numbers: the adjacency matrix, walks along it, and nodes that take other numbers.

    A_mn = 1 iff there is an edge m → n           undirected: both ways, A symmetric, the diagonal 0
    (A^L)_mn = number of walks of length L from m to n; a walk may come back, so diag A² are the degrees
    (A + I)^L > 0                                 nodes at distance ≤ L
    X' = X P,   A' = Pᵀ A P                       P_mn = 1: node m becomes node n

The text writes nodes as columns: A e_n marks the nodes that have an edge **to** n, which for a symmetric A
are its neighbours. To go along the edges of a directed graph from n, take Aᵀ e_n. Its "maximum walk length L"
in Min[A^L + I, 1] counts walks of length **exactly** L, and loses neighbours where L is even; the third line
is what is meant.

Shapes: `edge_index` (2, E) of PyTorch Geometric, messages from row 0 to row 1; A (N, N) int64.

References: [UDL] §13.2, problems 13.2-13.5, notes (Zhou & Li 2017 on higher orders).
"""

import torch
from torch import Tensor
from torch_geometric.utils import remove_self_loops

MOST_WALKS = 2**62  # what int64 holds with a doubling to spare


def adjacency(edge_index: Tensor, num_nodes: int) -> Tensor:
    """A (N, N) int64, A_mn = 1 iff m → n; edges that come twice count once, self-loops not at all.

    Raises:
        ValueError: an edge names a node outside 0 … N − 1.
    """
    require_nodes(edge_index, num_nodes)
    source, target = remove_self_loops(edge_index)[0]
    a = torch.zeros(num_nodes, num_nodes, dtype=torch.long)
    a[source, target] = 1
    return a


def require_nodes(edge_index: Tensor, num_nodes: int) -> None:
    """Raises ValueError where an edge names a node outside 0 … N − 1."""
    outside = edge_index[(edge_index < 0) | (edge_index >= num_nodes)]
    if len(outside):
        raise ValueError(f"An edge names node {int(outside[0])}: nodes run from 0 to {num_nodes - 1}.")


def walks(a: Tensor, length: int) -> Tensor:
    """Numbers of walks of exactly that length between all pairs: A^L (N, N) int64.

    Raises:
        ValueError: the length is negative, or a number does not fit int64.
    """
    if length < 0:
        raise ValueError(f"length is {length}: a walk has 0 edges or more.")
    power = torch.eye(len(a), dtype=torch.long)
    # a sum of N products that stays below MOST_WALKS in floating point is exact in int64
    for _ in range(length):
        if float((power.double() @ a.double()).max()) > MOST_WALKS:
            raise ValueError(f"There are more than {MOST_WALKS:,} walks: take a shorter length.")
        power = power @ a
    return power


def within(a: Tensor, length: int) -> Tensor:
    """True where a walk of at most that length leads from m to n: (A + I)^L > 0, (N, N) bool."""
    near = a.bool() | torch.eye(len(a), dtype=torch.bool)
    found = torch.eye(len(a), dtype=torch.bool)
    for _ in range(length):
        found = (found.float() @ near.float()) > 0
    return found


def distances(a: Tensor) -> Tensor:
    """Fewest edges from m to n, (N, N) int64; −1 where no walk leads there."""
    found = torch.full_like(a, -1)
    reached = torch.eye(len(a), dtype=torch.bool)
    found[reached] = 0
    for length in range(1, len(a)):
        new = (reached.float() @ a.float() > 0) & (found < 0)
        if not new.any():
            break
        found[new] = length
        reached = new
    return found


def permutation(places: Tensor) -> Tensor:
    """P (N, N) int64 from the new number of each node, (N,): P[m, places[m]] = 1.

    Raises:
        ValueError: two nodes take one number, or a number is missing.
    """
    if not torch.equal(places.sort().values, torch.arange(len(places))):
        raise ValueError(f"The new numbers are {places.tolist()}: each of 0 … {len(places) - 1} comes once.")
    return torch.nn.functional.one_hot(places, len(places))


def renumbered(edge_index: Tensor, places: Tensor) -> Tensor:
    """The same graph where node m is called `places[m]`: (2, E)."""
    return places[edge_index]
