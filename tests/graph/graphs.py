"""Small graphs of the text's figures, and the layers in the text's own form (nodes as columns)."""

import torch
from torch import Tensor

# Undirected edges, numbered from 0 (figure 13.4 numbers its nodes from 1).
G4 = [(0, 1), (0, 3), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4), (4, 5), (4, 7), (5, 6), (5, 7)]
# Figure 13.10.
G10 = [
    (0, 1), (0, 2), (0, 3), (1, 2), (1, 8), (1, 9), (2, 3), (2, 9), (3, 4), (3, 6), (3, 7), (4, 5), (4, 7),
    (5, 7), (6, 7), (6, 9), (6, 10), (7, 10), (7, 13), (8, 9), (9, 11), (9, 12), (9, 16), (10, 12), (11, 14),
    (11, 15), (11, 16), (12, 13), (12, 16), (12, 17), (13, 17), (13, 18), (14, 15), (14, 19), (15, 16),
    (15, 19), (16, 17), (16, 19), (17, 18), (17, 20), (17, 21), (17, 22), (18, 22), (19, 20), (20, 21),
    (21, 22),
]  # fmt: skip
RING = [(i, (i + 1) % 6) for i in range(6)]
TRIANGLES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]


def both_ways(edges: list[tuple[int, int]]) -> Tensor:
    """An undirected graph as `edge_index` (2, 2E)."""
    e = torch.tensor(edges).T
    return torch.cat([e, e.flip(0)], dim=1)


def adjacency(edge_index: Tensor, n: int) -> Tensor:
    """A_mn = 1 iff m → n, zero diagonal: (N, N) float64."""
    a = torch.zeros(n, n, dtype=torch.float64)
    a[edge_index[0], edge_index[1]] = 1
    return a.fill_diagonal_(0)


def text_operator(a: Tensor, propagation: str) -> Tensor:
    """S as the text prints it, the inverse degree of a node that hears nobody being 0."""
    eye, d = torch.eye(len(a), dtype=a.dtype), a.sum(0)
    inverse = lambda v: torch.where(v > 0, 1 / v, 0)  # noqa: E731
    if propagation == "sum":
        return a + eye
    if propagation == "mean":
        return a @ inverse(d).diag() + eye
    if propagation == "symmetric":
        return inverse(d).sqrt().diag() @ a @ inverse(d).sqrt().diag() + eye
    if propagation == "gcn":
        return (d + 1).rsqrt().diag() @ (a + eye) @ (d + 1).rsqrt().diag()
    if propagation == "average":
        return (a + eye) @ (1 / (d + 1)).diag()
    raise ValueError(propagation)


def text_layer(omega: Tensor, beta: Tensor, h: Tensor, s: Tensor) -> Tensor:
    """β1ᵀ + ΩHS: Ω (D', D), β (D',), H (D, N), S (N, N) → (D', N)."""
    return beta[:, None] + omega @ h @ s


def loop_layer(omega: Tensor, beta: Tensor, h: Tensor, a: Tensor, propagation: str) -> Tensor:
    """The same node by node, sum by sum: H (D, N) → (D', N)."""
    columns = []
    for n in range(len(a)):
        heard = [m for m in range(len(a)) if a[m, n]]
        degree = [sum(float(a[k, m]) for k in range(len(a))) for m in range(len(a))]
        total = torch.zeros(len(h), dtype=h.dtype)
        for m in heard:
            if propagation == "sum":
                w = 1.0
            elif propagation == "mean":
                w = 1 / degree[n]
            elif propagation == "average":
                w = 1 / (degree[n] + 1)
            elif propagation == "symmetric":
                w = (degree[m] * degree[n]) ** -0.5 if degree[m] else 0.0
            else:
                w = ((degree[m] + 1) * (degree[n] + 1)) ** -0.5
            total = total + w * h[:, m]
        own = 1 / (degree[n] + 1) if propagation in ("gcn", "average") else 1.0
        columns.append(beta + omega @ (total + own * h[:, n]))
    return torch.stack(columns, dim=1)


# Figure 13.3; 13.5, before and after the nodes take other numbers; 13.11 in its four parts; the problems'.
G3 = [(0, 2), (0, 3), (1, 2), (2, 3), (2, 5), (3, 4), (4, 5)]
G5 = [(0, 2), (0, 3), (1, 2), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5)]
G5_RENUMBERED = [(0, 5), (1, 2), (1, 3), (1, 5), (2, 5), (3, 4), (3, 5), (4, 5)]
G11_PARTS = [
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4)],
    [(5, 6), (5, 8), (6, 7), (6, 8), (7, 9), (8, 9), (8, 10), (8, 11), (9, 11), (10, 11)],
    [(12, 13), (12, 14), (12, 15), (13, 14), (14, 15), (14, 16), (15, 16)],
    [(17, 18), (17, 19), (18, 19), (18, 20), (19, 20), (19, 21), (19, 22), (20, 22), (21, 22)],
]
G11 = sum(G11_PARTS, [(0, 5), (3, 12), (4, 12), (10, 12), (10, 17), (11, 19), (15, 20)])
G13 = [(0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 4), (3, 4), (3, 5)]
G14A = [(0, 1), (0, 2), (0, 3), (0, 5), (0, 6), (1, 2), (1, 3), (1, 4), (3, 4), (5, 6)]
G14B = [(0, 3), (0, 6), (0, 7), (1, 2), (1, 4), (1, 5), (2, 7), (3, 7), (4, 5), (4, 6), (5, 6)]
G15A = [(0, 1), (0, 2), (0, 5), (1, 3), (1, 4), (2, 3), (2, 5), (3, 4)]
G15B = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (2, 5), (3, 5), (4, 5)]
A1 = [(0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (2, 5), (2, 6), (3, 5), (3, 6), (4, 6)]
A2 = [(0, 2), (0, 3), (0, 6), (1, 2), (1, 3), (1, 4), (3, 4), (3, 5), (3, 6), (4, 6), (5, 6)]
# name -> edges, nodes, degrees, triangles, diameter, edges of the edge graph
FIXTURES = {
    "G3": (G3, 6, [2, 1, 4, 3, 2, 2], 1, 3, 12),
    "G4": (G4, 8, [2, 4, 2, 3, 5, 3, 1, 2], 4, 4, 25),
    "G5": (G5, 6, [2, 1, 5, 3, 3, 2], 3, 2, 18),
    "G5 renumbered": (G5_RENUMBERED, 6, [1, 3, 2, 3, 2, 5], 3, 2, 18),
    "G13": (G13, 6, [4, 2, 2, 3, 3, 2], 2, 3, 15),
    "G14a": (G14A, 7, [5, 4, 2, 3, 2, 2, 2], 4, 3, 23),
    "G14b": (G14B, 8, [3, 3, 2, 2, 3, 3, 3, 3], 3, 3, 20),
    "G15a": (G15A, 6, [3, 3, 3, 3, 2, 2], 2, 3, 14),
    "G15b": (G15B, 6, [2, 3, 4, 2, 2, 3], 2, 2, 15),
    "A1": (A1, 7, [2, 4, 3, 3, 2, 3, 3], 1, 2, 20),
    "A2": (A2, 7, [3, 3, 2, 5, 3, 2, 4], 4, 3, 27),
}
DECALIN = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (4, 6), (6, 7), (7, 8), (8, 9), (9, 5)]
BICYCLOPENTYL = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 5)]
