"""Graph convolutions, then pooling: the text's classifier of molecules.

    H_0 = X,   H_{k+1} = ReLU(layer_k(H_k)),   logit = β_K + ω_K · mean_n h_n^K

Shapes: x (N, D), `edge_index` (2, E), logits (G, C).

Reference: [UDL] §13.4-13.5.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.graph.convolution import Combine, GraphConvolution, Propagation
from modules.graph.graphs import GraphClassifier, Pooling


class PooledGCN(GraphClassifier):
    """Graph convolutional network for graphs.

    Args:
        num_features: D. num_classes: C.
        hidden: widths of the layers, all with a ReLU.
        propagation, combine: of every layer, see `GraphConvolution`.
        pooling: of the last states.
        dropout: share of what the head gets that is dropped in training.

    Raises:
        ValueError: an argument is out of range.

    >>> PooledGCN(num_features=118, num_classes=2, hidden=[200, 200, 200]).num_parameters
    104401
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        hidden: Sequence[int] = (64, 64, 64),
        propagation: Propagation = "sum",
        combine: Combine = "sum",
        pooling: Pooling = "mean",
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, hidden=hidden)
        require(0, below=1, dropout=dropout)
        super().__init__(num_classes, pooling, **training)
        widths = [num_features, *hidden]
        self.layers = nn.ModuleList(
            GraphConvolution(d, d_out, propagation, combine) for d, d_out in pairwise(widths)
        )
        self.head, self.dropout = self.make_head(widths[-1]), dropout

    def embeddings(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, D'); edge_mask (E,) as of `GraphConvolution`."""
        hs = [x]
        for layer in self.layers:
            hs.append(F.relu(layer(hs[-1], edge_index, edge_mask)))
        return hs

    def vectors(
        self, x: Tensor, edge_index: Tensor, graph: Tensor, count: int, edge_mask: Tensor | None = None
    ) -> Tensor:
        return F.dropout(super().vectors(x, edge_index, graph, count, edge_mask), self.dropout, self.training)
