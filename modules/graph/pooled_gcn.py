"""Graph convolutions, then pooling: the text's classifier of molecules.

    H_0 = X,   H_{k+1} = ReLU(layer_k(H_k)),   logit = β_K + ω_K · mean_n h_n^K

The mean is the text's; a sum, the largest, sorted nodes or soft clusters may stand in its place, see
`modules.graph.pooling`. Clusters are found from H_{K−1}, and pool H_K.

Shapes: x (N, D), `edge_index` (2, E), logits (G, C).

Reference: [UDL] §13.4-13.5.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from modules.base import require
from modules.graph.convolution import Combine, GraphConvolution, Propagation
from modules.graph.graphs import GraphClassifier, Readout
from modules.graph.pooling import Coarse, DiffPooling, sort_pool


class PooledGCN(GraphClassifier):
    """Graph convolutional network for graphs.

    Args:
        num_features: D. num_classes: C.
        hidden: widths of the layers, all with a ReLU.
        propagation, combine: of every layer, see `GraphConvolution`.
        pooling: of the last states.
        kept: of "sort", the nodes that are kept of each graph; of "diff", the clusters.
        link, entropy: of "diff", weights of its two losses in training.
        dropout: share of what the head gets that is dropped in training.

    Raises:
        ValueError: an argument is out of range.

    >>> PooledGCN(num_features=118, num_classes=2, hidden=[200, 200, 200]).num_parameters
    104401
    """

    pools_otherwise = True

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        hidden: Sequence[int] = (64, 64, 64),
        propagation: Propagation = "sum",
        combine: Combine = "sum",
        pooling: Readout = "mean",
        kept: int = 8,
        link: float = 1.0,
        entropy: float = 0.1,
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, hidden=hidden, kept=kept)
        require(0, below=1, dropout=dropout)
        require(0, link=link, entropy=entropy)
        super().__init__(num_classes, pooling, **training)
        widths = [num_features, *hidden]
        self.layers = nn.ModuleList(
            GraphConvolution(d, d_out, propagation, combine) for d, d_out in pairwise(widths)
        )
        if pooling == "diff":
            self.pool = DiffPooling(widths[-2], widths[-1], kept)
        self.head = self.make_head(widths[-1] * (kept if pooling == "sort" else 1))
        self.dropout, self.kept, self.link, self.entropy = dropout, kept, link, entropy

    def embeddings(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, D'); edge_mask (E,) as of `GraphConvolution`."""
        hs = [x]
        for layer in self.layers:
            hs.append(F.relu(layer(hs[-1], edge_index, edge_mask)))
        return hs

    def clusters(
        self, x: Tensor, edge_index: Tensor, graph: Tensor, count: int, edge_mask: Tensor | None = None
    ) -> Coarse:
        """Soft clusters of each graph, of a network that pools by them."""
        *_, before, last = self.embeddings(x, edge_index, edge_mask)
        return self.pool.coarse(before, last, edge_index, graph, count, edge_mask)

    def vectors(
        self, x: Tensor, edge_index: Tensor, graph: Tensor, count: int, edge_mask: Tensor | None = None
    ) -> Tensor:
        if self.pooling == "diff":
            result = self.pool(self.clusters(x, edge_index, graph, count, edge_mask))
        elif self.pooling == "sort":
            result = sort_pool(self.embeddings(x, edge_index, edge_mask)[-1], graph, count, self.kept)
        else:
            result = super().vectors(x, edge_index, graph, count, edge_mask)
        return F.dropout(result, self.dropout, self.training)

    def judged(self, batch: Data) -> tuple[Tensor, Tensor | float]:
        """Logits (G, C) of a union; of clusters, their two losses, each by its weight."""
        if self.pooling != "diff":
            return super().judged(batch)
        coarse = self.clusters(batch.x, batch.edge_index, batch.batch, len(batch.ptr) - 1)
        logits = self.logits_of(F.dropout(self.pool(coarse), self.dropout, self.training))
        return logits, self.link * coarse.link.mean() + self.entropy * coarse.entropy.mean()
