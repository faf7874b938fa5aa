"""Reach of a node: in theory by hops, as measured by gradients."""

import torch
from torch import Tensor

from modules.graph.gcn import GCN


def hops(edge_index: Tensor, num_nodes: int, node: int) -> Tensor:
    """Theory: layers until a message from m reaches `node`, (N,) int64; −1 where none ever does."""
    distance = torch.full((num_nodes,), -1)
    distance[node] = 0
    for k in range(1, num_nodes):
        source = edge_index[0, distance[edge_index[1]] == k - 1]
        new = source[distance[source] < 0]
        if not len(new):
            break
        distance[new] = k
    return distance


def field_sizes(distance: Tensor, most: int) -> list[int]:
    """Number of nodes within 0, 1, ..., `most` hops."""
    return [int(((distance >= 0) & (distance <= k)).sum()) for k in range(most + 1)]


def rings(distance: Tensor, reach: int) -> Tensor:
    """The class of a node for drawing: its hops, reach + 1 for all that is farther or never heard."""
    return torch.where((distance < 0) | (distance > reach), reach + 1, distance)


def ring_names(reach: int) -> list[str]:
    """Names of the classes of `rings`."""
    return ["the node", *(f"{k} hop{'s' if k > 1 else ''}" for k in range(1, reach + 1)), "not heard"]


def influence(model: GCN, x: Tensor, edge_index: Tensor, node: int, layer: int) -> Tensor:
    """Measured: Σ_{c,d} |∂ h_{n,c} / ∂ x_{m,d}| of `node` after `layer` layers, for every m: (N,)."""
    x = (x.to_dense() if x.layout != torch.strided else x).detach().clone().requires_grad_()
    with torch.enable_grad():
        state = model.embeddings(x, edge_index)[layer][node]  # (D',)
        total = torch.zeros(x.shape[0], dtype=x.dtype)
        for unit in state:
            (gradient,) = torch.autograd.grad(unit, x, retain_graph=True, allow_unused=True)
            total += gradient.abs().sum(1)
    return total


def ring_hover(distance: Tensor, nodes: Tensor) -> list[str]:
    """Distance of each node, in words."""
    result = zip(nodes.tolist(), distance[nodes].tolist(), strict=True)
    return [f"node {m}: {f'{hops} hops' if hops >= 0 else 'never heard'}" for m, hops in result]


def gradient_hover(measured: Tensor, nodes: Tensor) -> list[str]:
    """Gradient from each node, in words."""
    return [f"node {m}: {g:.3g}" for m, g in zip(nodes.tolist(), measured[nodes].tolist(), strict=True)]
