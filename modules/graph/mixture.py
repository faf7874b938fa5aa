r"""MoNet: the weight of a neighbour is a mixture of Gaussians of where it lies, seen from the node.

    one layer       x'_n = β + Ψ x_n + 1/d_n Σ_{m ∈ ne(n)} Σ_k w_k(u_mn) Ω_k x_m
    weights         w_k(u) = exp[−½ Σ_i (u_i − μ_ki)² / (σ_ki² + δ)]                δ = 10⁻¹⁵

u_mn are pseudo-coordinates of the edge m → n: on a plane or a mesh where m lies from n, on a graph
(1/√d_m, 1/√d_n). Where all u are equal the layer is `mean` of `GraphConvolution` with "separate"; on a grid,
u the place relative to the node and σ small, it is a convolution whose kernel has one matrix Ω_k for each
place μ_k. The published networks map u by a learned affine layer and a tanh first; here μ and σ have to do.

Shapes: x (N, D), `edge_index` (2, E), u (E, I), K kernels, output (N, D').

References: Monti et al. 2017, arXiv:1611.08402; [UDL] §13 notes. PyTorch Geometric's GMMConv is the layer.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import degree

from modules.base import require
from modules.graph.convolution import dropout, product
from modules.graph.encoding import require_nodes
from modules.graph.nodes import NodeClassifier

DELTA = 1e-15  # as in PyTorch Geometric: a kernel of width 0 divides by it


def degree_coordinates(edge_index: Tensor, num_nodes: int, dtype: torch.dtype | None = None) -> Tensor:
    """u_mn = (1/√d_m, 1/√d_n) of each edge m → n, d the number of edges that end at a node: (E, 2).

    A sender at which no edge ends has 1 for its first coordinate, as one with a single edge.
    """
    source, target = edge_index
    root = degree(target, num_nodes, dtype or torch.get_default_dtype()).clamp(min=1).rsqrt()  # (N,)
    return torch.stack([root[source], root[target]], 1)


def relative_positions(positions: Tensor, edge_index: Tensor) -> Tensor:
    """u_mn = p_m − p_n of each edge m → n, of positions (N, I): (E, I)."""
    source, target = edge_index
    return positions[source] - positions[target]


class MixtureConvolution(nn.Module):
    """One layer before its activation.

    Args:
        in_features: D. out_features: D'. dimensions: I. kernels: K.

    Raises:
        ValueError: a size is below 1.
    """

    def __init__(self, in_features: int, out_features: int, dimensions: int = 2, kernels: int = 3) -> None:
        super().__init__()
        require(1, in_features=in_features, out_features=out_features, dimensions=dimensions, kernels=kernels)
        self.weight = nn.Parameter(torch.empty(kernels, out_features, in_features))  # Ω_k (K, D', D)
        self.own = nn.Parameter(torch.empty(out_features, in_features))  # Ψ (D', D)
        self.bias = nn.Parameter(torch.empty(out_features))  # β (D',)
        self.mean = nn.Parameter(torch.empty(kernels, dimensions))  # μ (K, I)
        self.deviation = nn.Parameter(torch.empty(kernels, dimensions))  # σ (K, I)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weight in self.weight:
            nn.init.xavier_uniform_(weight)
        nn.init.xavier_uniform_(self.own)
        nn.init.zeros_(self.bias)
        nn.init.uniform_(self.mean)  # where coordinates by degrees are
        nn.init.constant_(self.deviation, 0.5)

    def kernels(self, u: Tensor) -> Tensor:
        """w_k(u) of coordinates (E, I): (E, K)."""
        distance = (u[:, None] - self.mean).square() / (self.deviation.square() + DELTA)
        return torch.exp(-0.5 * distance.sum(2))

    def forward(self, x: Tensor, edge_index: Tensor, u: Tensor) -> Tensor:
        """x (N, D), dense or sparse CSR, edge_index (2, E), u (E, I) -> (N, D').

        Raises:
            ValueError: an edge names a node outside 0..N-1, or has no coordinates.
        """
        require_nodes(edge_index, x.shape[0])
        if len(u) != edge_index.shape[1]:
            raise ValueError(f"u has {len(u)} rows for {edge_index.shape[1]} edges.")
        source, target = edge_index
        K, out, _ = self.weight.shape
        sent = product(x, self.weight.flatten(0, 1).T).unflatten(1, (K, out))  # (N, K, D'), Ω_k x_m
        messages = (self.kernels(u)[:, :, None].to(sent.dtype) * sent[source]).sum(1)  # (E, D')
        heard = messages.new_zeros(x.shape[0], out).index_add(0, target, messages)
        d = degree(target, x.shape[0], heard.dtype).clamp(min=1)
        return heard / d[:, None] + product(x, self.own.T) + self.bias

    def extra_repr(self) -> str:
        K, out, inner = self.weight.shape
        return f"{inner}, {out}, dimensions={self.mean.shape[1]}, kernels={K}"


class MoNet(NodeClassifier):
    """Mixture layers on coordinates by degrees, for the nodes of one graph.

        H_0 = X,   H_{k+1} = ReLU(layer_k(H_k, u)),   logits = layer_{K-1}(H_{K-1}, u)

    Args:
        num_features: D. num_classes: C.
        hidden: widths between the layers.
        kernels: Gaussians of each layer.
        dropout: share of the inputs of every layer that is dropped in training.

    Raises:
        ValueError: an argument is out of range.

    >>> model = MoNet(num_features=3, num_classes=2)
    >>> model(torch.eye(3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        hidden: Sequence[int] = (16,),
        kernels: int = 3,
        dropout: float = 0.5,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, num_classes=num_classes, hidden=[1, *hidden], kernels=kernels)
        require(0, below=1, dropout=dropout)
        super().__init__(num_classes, **training)
        widths = [num_features, *hidden, num_classes]
        self.layers = nn.ModuleList(
            MixtureConvolution(d, d_out, kernels=kernels) for d, d_out in pairwise(widths)
        )
        self.dropout = dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits (N, C) of x (N, D) on the graph edge_index (2, E)."""
        u = degree_coordinates(edge_index, x.shape[0], self.layers[0].weight.dtype)  # type: ignore[arg-type]
        h = x
        for k, layer in enumerate(self.layers):
            h = layer(dropout(h if k == 0 else F.relu(h), self.dropout, self.training), edge_index, u)
        return h
