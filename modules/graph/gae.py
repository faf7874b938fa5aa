"""Graph auto-encoder: which pairs of nodes are joined, from a graph some of whose edges are hidden.

    Z = GCN(X, A)                        (N, D_z), A without the hidden edges
    Pr(y_mn = 1) = sig[z_mᵀ z_n]         symmetric; the logits of all pairs have rank D_z at most
    loss = mean over edges and as many pairs that are none of −log Pr(y_mn), nats per pair

A product of embeddings calls a node most like itself, with probability ½ or more, and can say of two nodes
that they are alike or opposite, never that one is the sender: links here have no direction.

Shapes: x (N, D), `edge_index` (2, E), `pairs` (2, P), `linked` (P,).

References: Kipf & Welling 2016, arXiv:1611.07308 (without the prior, GAE); [UDL] §13.3.1.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torchmetrics.classification import BinaryAUROC, BinaryAveragePrecision

from modules.base import BatchShard, Mean, Module, Split, require
from modules.graph.convolution import NO_MATRIX, GraphConvolution, Propagation, dropout, propagation_matrix


class GAE(Module):
    """Graph auto-encoder.

    Measures `nll` (nats per pair, of as many edges as non-edges), `auc` (area under the curve of true against
    false positives) and `ap` (average precision).

    Args:
        num_features: D.
        hidden: widths between the layers of the encoder.
        dim: D_z.
        propagation: of every layer, see `modules.graph.convolution`.
        dropout: share of the inputs of every layer that is dropped in training.

    Raises:
        ValueError: an argument is out of range.

    >>> GAE(num_features=1433).num_parameters
    46416
    """

    MEANS: ClassVar[tuple[str, ...]] = ()  # what a subclass measures as well

    def __init__(
        self,
        num_features: int,
        hidden: Sequence[int] = (32,),
        dim: int = 16,
        propagation: Propagation = "gcn",
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, hidden=[1, *hidden], dim=dim)
        require(0, below=1, dropout=dropout)
        measures = {"nll": Mean(), "auc": BinaryAUROC(), "ap": BinaryAveragePrecision()}
        super().__init__(_measures=measures | {name: Mean() for name in self.MEANS}, **training)
        widths = [num_features, *hidden, dim]
        self.layers = nn.ModuleList(
            GraphConvolution(d_in, d_out, propagation) for d_in, d_out in pairwise(widths)
        )
        self.propagation, self.dropout = propagation, dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Embeddings Z (N, D_z) of x (N, D) on the graph edge_index (2, E)."""
        return self.layers[-1](*self.last_input(x, edge_index))

    def last_input(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """What the last layer gets: states (N, H), and the matrix or the edges along which they propagate."""
        s = edge_index
        if self.propagation not in NO_MATRIX:  # one sparse matrix for all layers
            s = propagation_matrix(edge_index, x.shape[0], self.propagation, x.dtype)
        for layer in self.layers[:-1]:
            x = F.relu(layer(dropout(x, self.dropout, self.training), s))
        return dropout(x, self.dropout, self.training), s

    @staticmethod
    def logits(z: Tensor, pairs: Tensor) -> Tensor:
        """z_mᵀ z_n (P,) of pairs (2, P) of nodes with embeddings z (N, D_z)."""
        return (z[pairs[0]] * z[pairs[1]]).sum(-1)

    def predict(self, x: Data) -> Tensor:
        """Logits (P,) of the `pairs` of a graph."""
        return self.logits(self(x.x, x.edge_index), x.pairs)

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Probability of each pair of the test split, its edges first."""
        if isinstance(batch, BatchShard):
            return super().predict_step(batch, batch_idx)
        return self.predict(batch).sigmoid()

    def step(self, batch: Data, split: Split) -> Tensor:
        """Binary cross-entropy of the pairs of the split, in nats per pair."""
        logits = self.predict(batch)
        nll = F.binary_cross_entropy_with_logits(logits, batch.linked.to(logits), reduction="none")  # (P,)
        self.log_metric(split, "nll", nll.detach())
        for name in ("auc", "ap"):
            self.log_metric(split, name, logits.detach(), batch.linked.long())
        return nll.mean()
