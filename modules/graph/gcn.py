"""Graph convolutional network for the nodes of one graph.

    H_0 = X,   H_{k+1} = ReLU(layer_k(H_k)),   logits = layer_{K-1}(H_{K-1})

The layers are those of `modules.graph.convolution`. All nodes propagate, the loss is over the labelled ones:
learning is transductive, yet the weights are a rule that serves new nodes, too.

Shapes: x (N, D), `edge_index` (2, E), logits (N, C).

References: [UDL] §13.6-13.7, §13.8.2 (residual connections); Kipf & Welling 2017, arXiv:1609.02907.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.cache import Cache
from modules.graph.convolution import (
    NO_MATRIX,
    Combine,
    GraphConvolution,
    Propagation,
    dropout,
    propagation_matrix,
)
from modules.graph.nodes import NodeClassifier

Residual = Literal["none", "sum", "concat"]


class GCN(NodeClassifier):
    """Graph convolutional network for node classification on one graph (transductive).

        H_0 = X,   H_{k+1} = ReLU(layer_k(H_k)),   logits = layer_{K-1}(H_{K-1})

    All nodes propagate; the loss is the cross-entropy over the nodes of the split's mask.

    Args:
        num_features: D, input features of a node.
        num_classes: C.
        hidden: widths between the layers; K = len(hidden) + 1 layers.
        propagation, combine: of every layer, see `GraphConvolution`.
        residual: what a hidden layer does with its input: "none"; "sum" adds it to the output where widths
            are equal; "concat" appends it, so that widths grow.
        dropout: share of the inputs of every layer that is dropped in training.
        weight_decay: L2 penalty (λ/2)‖·‖² on the first layer alone, as published: the first layer holds
            nearly all parameters and overfits, the last one has to reach confident logits.

    Raises:
        ValueError: an argument is out of range.

    >>> model = GCN(num_features=3, num_classes=2)
    >>> model(torch.eye(3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        hidden: Sequence[int] = (16,),
        propagation: Propagation = "gcn",
        combine: Combine = "sum",
        residual: Residual = "none",
        dropout: float = 0.5,
        weight_decay: float = 5e-4,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, num_classes=num_classes, hidden=[1, *hidden])
        require(0, below=1, dropout=dropout)
        require(0, weight_decay=weight_decay)
        require_one_of(Residual, residual=residual)
        super().__init__(num_classes, **training)
        self.layers, width = nn.ModuleList(), num_features
        for d_out in hidden:
            self.layers.append(GraphConvolution(width, d_out, propagation, combine))
            width = width + d_out if residual == "concat" else d_out
        self.layers.append(GraphConvolution(width, num_classes, propagation, combine))
        self.propagation, self.residual = propagation, residual
        self.dropout, self.weight_decay = dropout, weight_decay
        self._graph = Cache()  # "last": the last edge_index and its Sᵀ

    def matrix(self, edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> Tensor:
        """Sᵀ (N, N), computed once for as long as the graph stays the same."""
        if "last" in self._graph:
            edges, s = self._graph["last"]
            same = s.shape[0] == num_nodes and s.dtype == dtype and edges.device == edge_index.device
            if same and torch.equal(edges, edge_index):
                return s
        with torch.inference_mode(False):  # see `Cache`
            # of a copy of the edges, so that the caller may edit them in place and get the new graph
            edges = edge_index.clone()
            own = self.layers[0].hears_itself is True
            s = propagation_matrix(edges, num_nodes, self.propagation, dtype, own)
        self._graph["last"] = edges, s
        return s

    def embeddings(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, C), the logits; edge_mask (E,) as of `GraphConvolution`."""
        s = edge_index
        if self.propagation not in NO_MATRIX and edge_mask is None:
            s = self.matrix(edge_index, x.shape[0], x.dtype)
        hs = [x]
        for layer in self.layers[:-1]:
            h = F.relu(layer(dropout(hs[-1], self.dropout, self.training), s, edge_mask))
            hs.append(self.joined(hs[-1], h))
        return [*hs, self.layers[-1](dropout(hs[-1], self.dropout, self.training), s, edge_mask)]

    def joined(self, before: Tensor, h: Tensor) -> Tensor:
        """Output of a hidden layer with its input, (N, D) and (N, D')."""
        if self.residual == "sum" and before.shape == h.shape:
            return before + h
        if self.residual == "concat":
            return torch.cat([h, before.to_dense() if before.layout == torch.sparse_csr else before], 1)
        return h

    def forward(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> Tensor:
        """Logits (N, C) of x (N, D) on the graph edge_index (2, E), edge_mask (E,) on its messages."""
        return self.embeddings(x, edge_index, edge_mask)[-1]

    def parameter_groups(self) -> list[dict[str, Any]]:
        return [
            {"params": list(self.layers[0].parameters()), "weight_decay": self.weight_decay},
            {"params": list(self.layers[1:].parameters()), "weight_decay": 0.0},
        ]
