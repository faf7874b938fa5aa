"""Graph attention network for the nodes of one graph.

    H_0 = X,   H_{k+1} = ELU(heads of layer k side by side),   logits = mean over the heads of the last layer

Shapes: x (N, D), `edge_index` (2, E), logits (N, C).

References: Veličković et al. 2018, arXiv:1710.10903; Brody et al. 2022, arXiv:2105.14491; [UDL] §13.8.6.
"""

from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.graph.attention import SLOPE, GraphAttention, Join, Score
from modules.graph.convolution import dropout
from modules.graph.nodes import NodeClassifier


class GAT(NodeClassifier):
    """Graph attention network.

    Args:
        num_features: D. num_classes: C.
        hidden: D' of each head, layer by layer; K = len(hidden) + 1 layers.
        heads: of each layer.
        score, slope: of every layer, see `GraphAttention`.
        dropout: share of the inputs of every layer that is dropped in training.
        weight_dropout: share of the attention weights, likewise.

    Raises:
        ValueError: an argument is out of range, or heads do not fit the layers.

    >>> GAT(num_features=1433, num_classes=7).num_parameters
    92373
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        hidden: Sequence[int] = (8,),
        heads: Sequence[int] = (8, 1),
        score: Score = "additive",
        slope: float = SLOPE,
        dropout: float = 0.6,
        weight_dropout: float = 0.6,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, hidden=[1, *hidden], heads=heads)
        require(0, below=1, dropout=dropout, weight_dropout=weight_dropout)
        if len(heads) != len(hidden) + 1:
            raise ValueError(f"heads is {list(heads)}: give one for each of {len(hidden) + 1} layers.")
        super().__init__(num_classes, **training)
        self.layers, width = nn.ModuleList(), num_features
        for number, (count, size) in enumerate(zip(heads, [*hidden, num_classes], strict=True)):
            join: Join = "mean" if number == len(hidden) else "concat"
            layer = GraphAttention(width, size, count, score, join, slope, weight_dropout)
            self.layers.append(layer)
            width = count * size
        self.dropout = dropout

    def embeddings(self, x: Tensor, edge_index: Tensor) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, C); the last are the logits."""
        hs = [x]
        for layer in self.layers[:-1]:
            hs.append(F.elu(layer(dropout(hs[-1], self.dropout, self.training), edge_index)))
        return [*hs, self.layers[-1](dropout(hs[-1], self.dropout, self.training), edge_index)]

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits (N, C) of x (N, D) on the graph edge_index (2, E)."""
        return self.embeddings(x, edge_index)[-1]
