"""Walks along the edges of a graph, data of its nodes and edges, and the same graph under other numbers.

Shapes: N nodes, E edges, F frames; nodes and edges are columns, as in the text.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lab.seeding import seeded
from modules.graph import encoding
from modules.graph.convolution import GraphConvolution, Propagation
from modules.graph.edge_graph import undirected
from pages.graph.matrices.room import BROKEN, LENGTHS

D, D_E, WIDTH = 5, 4, 3  # numbers of a node and of an edge (figure 13.3), and of an output


def last_node(a: Tensor) -> int:
    return len(a) - 1


def matrix(a: Tensor, directed: bool) -> Tensor:
    """A (N, N) of edges as they were typed; an undirected one leads both ways."""
    return a if directed else a | a.T


# --- Walks ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Walked:
    """
    Attributes:
        a: (N, N). powers: (7, N, N), A^L for L = 0, …, 6.
        first: (7, N, N), the first length up to L at which a walk leads from m to n; −1 if there is none.
    """

    a: Tensor
    powers: Tensor
    first: Tensor


def walked(a: Tensor, directed: bool) -> Walked:
    a = matrix(a, directed)
    powers = torch.stack([encoding.walks(a, L) for L in LENGTHS])
    first = torch.full_like(powers, -1)
    for L, power in enumerate(powers):
        before = first[L - 1] if L else torch.full_like(power, -1)
        first[L] = torch.where((before < 0) & (power > 0), L, before)
    return Walked(a, powers, first)


# --- Data of nodes and edges --------------------------------------------------------------------------


@dataclass(frozen=True)
class Lists:
    """
    Attributes:
        a: (N, N). edges: (E, 2), each undirected edge once. x: (D, N). e: (D_E, E).
    """

    a: Tensor
    edges: Tensor
    x: Tensor
    e: Tensor


def listed(a: Tensor, directed: bool, seed: int) -> Lists:
    """The graph with data drawn for its nodes and edges."""
    a = matrix(a, directed)
    edges = a.nonzero() if directed else undirected(a.nonzero().T)
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(D, len(a), generator=generator)
    return Lists(a, edges, x, torch.randn(D_E, len(edges), generator=generator))


# --- Other numbers ------------------------------------------------------------------------------------


class PerNode(nn.Module):
    """A layer that is none of a graph: Ω_n H (A + I) e_n, where each number n has weights of its own."""

    def __init__(self, in_features: int, out_features: int, num_nodes: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        weight = torch.randn(num_nodes, out_features, in_features, generator=generator) / in_features**0.5
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        s = encoding.adjacency(edge_index, len(x)) + torch.eye(len(x), dtype=torch.long)
        return torch.einsum("nkd,nd->nk", self.weight, s.T.to(x.dtype) @ x)  # (N, D) -> (N, K)


@dataclass(frozen=True)
class Renumbered:
    """A layer on a graph whose nodes exchange numbers, a pair in each frame.

    Attributes:
        places: (F, N), the number of each node in each frame.
        swaps: of length F − 1, the two numbers exchanged after each frame.
        a: (F, N, N). x: (F, D, N). h: (F, WIDTH, N), outputs F[XP, PᵀAP].
        gaps: (F, WIDTH, N), F[XP, PᵀAP] − F[X, A]P. pooled: (F,), the mean of ω h_n over the nodes.
    """

    places: Tensor
    swaps: list[tuple[int, int]]
    a: Tensor
    x: Tensor
    h: Tensor
    gaps: Tensor
    pooled: Tensor


def exchanged(n: int, seed: int) -> tuple[Tensor, list[tuple[int, int]]]:
    """Places (F, N) from 0, …, N − 1 to a permutation of this seed, and the numbers exchanged on the way."""
    wanted = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    places, frames, swaps = list(range(n)), [list(range(n))], list[tuple[int, int]]()
    for m in range(n):
        if places[m] != wanted[m]:
            other = places.index(wanted[m])
            swaps.append((places[m], places[other]))
            places[m], places[other] = places[other], places[m]
            frames.append(list(places))
    return torch.tensor(frames), swaps


def layer_of(layer: str, n: int, seed: int) -> nn.Module:
    """A layer with random weights, by its name."""
    if layer == BROKEN:
        return PerNode(D, WIDTH, n, seed).double()
    propagation: Propagation = layer  # type: ignore[assignment]
    return seeded(lambda: GraphConvolution(D, WIDTH, propagation), seed).double()


@torch.no_grad()
def renumbered(a: Tensor, directed: bool, layer: str, permutation: int, seed: int) -> Renumbered:
    """F on the graph, and on the graph with other numbers; F is the layer with a ReLU, without bias."""
    a, N = matrix(a, directed), len(a)
    model = layer_of(layer, N, seed)
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(D, N, generator=generator, dtype=torch.float64)
    omega = torch.randn(WIDTH, generator=generator, dtype=torch.float64)
    places, swaps = exchanged(N, permutation)
    matrices, features, outputs, gaps = [], [], [], []
    for numbers in places:
        p = encoding.permutation(numbers)
        matrices.append(p.T @ a @ p)
        features.append(x @ p.double())
        outputs.append(torch.relu(model(features[-1].T, matrices[-1].nonzero().T)).T)  # (WIDTH, N)
        gaps.append(outputs[-1] - outputs[0] @ p.double())
    h, gap = torch.stack(outputs), torch.stack(gaps)
    gap = gap.where(gap.abs() > 1e-12 * h.abs().max().clamp(min=1.0), 0)  # rounding
    return Renumbered(
        places, swaps, torch.stack(matrices), torch.stack(features), h, gap, (omega @ h).mean(1)
    )
