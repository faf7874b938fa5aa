"""Graph isomorphism network: a sum behind which a multilayer perceptron tells multisets apart.

    h_n^{k+1} = MLP_k[ (1 + ε_k) h_n^k + Σ_{m ∈ ne(n)} h_m^k ],    logits = β + ω · [Σ_n h_n^0; …; Σ_n h_n^K]

The MLP has one hidden layer. Its first map is linear, so that it comes before the sum: it is the layer
`diagonal` of `GraphConvolution`. All layers are read out, so that no round of the test of Weisfeiler and
Leman is lost. Both sums matter: a mean or a maximum, over neighbours or over nodes, merges what differs by
counts.

The text says that the network is as powerful as the test: that needs the sum, an MLP that does not merge, and
a readout that does not. Sums of raw numbers merge {1, 3} and {2, 2}.

Shapes: x (N, D), `edge_index` (2, E), logits (G, C).

References: Xu et al. 2019, arXiv:1810.00826; [UDL] §13 notes.
"""

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.graph.convolution import GraphConvolution, propagation_matrix
from modules.graph.graphs import GraphClassifier, Pooling, pooled

Aggregation = Literal["sum", "mean", "max"]


class GINLayer(nn.Module):
    """One round, without the ReLU behind it.

    Args:
        d: D. d_out: D', also of the hidden layer. aggregation: over the neighbours.
        norm: batch norm over nodes before the ReLU.
    """

    def __init__(self, d: int, d_out: int, aggregation: Aggregation = "sum", norm: bool = True) -> None:
        super().__init__()
        self.hear = GraphConvolution(d, d_out, aggregation, "diagonal")
        self.norm = nn.BatchNorm1d(d_out) if norm else nn.Identity()
        self.out = nn.Linear(d_out, d_out)

    def forward(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> Tensor:
        """x (N, D) -> (N, D'); edge_index (2, E), or what `GraphConvolution` takes in its place."""
        return self.out(F.relu(self.norm(self.hear(x, edge_index, edge_mask))))


class GIN(GraphClassifier):
    """Graph isomorphism network.

    Args:
        num_features: D. num_classes: C.
        width: D' of every layer. layers: K.
        aggregation: over neighbours. pooling: over nodes, of every layer.
        norm: batch norm, in each MLP and behind it.
        dropout: share of what the head gets that is dropped in training.

    Raises:
        ValueError: an argument is out of range.

    >>> GIN(num_features=7, num_classes=2).num_parameters
    6089
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        width: int = 32,
        layers: int = 3,
        aggregation: Aggregation = "sum",
        pooling: Pooling = "sum",
        norm: bool = True,
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, width=width, layers=layers)
        require(0, below=1, dropout=dropout)
        require_one_of(Aggregation, aggregation=aggregation)
        super().__init__(num_classes, pooling, **training)
        self.layers = nn.ModuleList(
            GINLayer(width if k else num_features, width, aggregation, norm) for k in range(layers)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) if norm else nn.Identity() for _ in range(layers))
        self.head = self.make_head(num_features + layers * width)
        self.aggregation, self.dropout = aggregation, dropout

    def embeddings(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> list[Tensor]:
        """H_0 = X (N, D), H_1, ..., H_K (N, D'); edge_mask (E,) as of `GraphConvolution`."""
        s = edge_index
        if self.aggregation != "max" and edge_mask is None:
            s = propagation_matrix(edge_index, len(x), self.aggregation, x.dtype)
        hs = [x]
        for layer, norm in zip(self.layers, self.norms, strict=True):
            hs.append(F.relu(norm(layer(hs[-1], s, edge_mask))))
        return hs

    def vectors(
        self, x: Tensor, edge_index: Tensor, graph: Tensor, count: int, edge_mask: Tensor | None = None
    ) -> Tensor:
        """States of all layers, pooled each and side by side: (G, D + K D')."""
        parts = [pooled(h, graph, count, self.pooling) for h in self.embeddings(x, edge_index, edge_mask)]
        return F.dropout(torch.cat(parts, 1), self.dropout, self.training)
