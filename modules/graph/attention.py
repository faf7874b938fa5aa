"""Graph attention: how much a node hears of each neighbour depends on what both say.

    H' = β 1ᵀ + Ω H                                   for each head
    s_mn = score of sender m at receiver n            of edges m → n and of n itself
    α_mn = exp s_mn / Σ_{m' ∈ ne(n) ∪ {n}} exp s_m'n   a column of weights sums to 1
    H_next = a[H' α]                                  heads side by side, or averaged in the last layer

    additive   s = a[φ_sᵀ h'_m + φ_rᵀ h'_n]           GAT: one ranking of senders for all receivers (static)
    dynamic    s = φᵀ a[h'_m + Ψ h_n]                 GATv2: the ranking depends on the receiver
    dot        s = (W_q h_n)ᵀ (W_k h_m) / √D'         on a complete graph the self-attention of transformers

The text's φ has the sender first, and its β stands inside H', where PyTorch Geometric adds it at the end: as
the weights sum to 1 the sum is the same, but every score is shifted before its activation. The text leaves
that activation open. With a ReLU, scores below 0 are all alike and their gradient is 0; the slope of .2 is
GAT's.

Shapes: x (N, D), `edge_index` (2, E), `M` = E + N edges, each node's own at the end, H heads of D' numbers.

References: Veličković et al. 2018, arXiv:1710.10903; Brody et al. 2022, arXiv:2105.14491 (dynamic);
[UDL] §13.8.6, figure 13.12, problem 13.10.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import add_self_loops, remove_self_loops, scatter, softmax

from modules.base import require, require_one_of
from modules.graph.convolution import product
from modules.graph.encoding import require_nodes

Score = Literal["additive", "dynamic", "dot"]
Join = Literal["concat", "mean"]
SLOPE = 0.2  # of GAT


def rows(x: Tensor, numbers: Tensor) -> Tensor:
    """x[numbers] of (N, ...) -> (M, ...), whose gradient is a sum by rows, not by single entries."""
    return x.index_select(0, numbers)


class GraphAttention(nn.Module):
    """One layer before its activation.

    Args:
        in_features, out_features: D and D', numbers of a head.
        heads: H.
        score: see above.
        join: heads side by side, (N, H·D'), or their mean, (N, D').
        slope: of the activation inside additive and dynamic scores below 0; 0 is a ReLU. "dot" has none.
        dropout: share of the weights that are dropped in training.

    Attributes:
        weights: (M, H) of the last pass if `recording` is True, after dropout; `edges` (2, M) beside them.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, in_features: int, out_features: int, heads: int = 1, score: Score = "additive",
        join: Join = "concat", slope: float = SLOPE, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        require(1, in_features=in_features, out_features=out_features, heads=heads)
        require(0, below=1, dropout=dropout, slope=slope)
        require_one_of(Score, score=score)
        require_one_of(Join, join=join)
        if score == "dot" and slope != SLOPE:
            raise ValueError(f"slope is {slope}: scores of 'dot' have no activation.")
        self.heads, self.score, self.join, self.slope, self.dropout = heads, score, join, slope, dropout
        width = heads * out_features
        self.weight = nn.Parameter(torch.empty(width, in_features))  # Ω of all heads (H·D', D)
        self.bias = nn.Parameter(torch.zeros(width))  # β
        if score == "additive":
            self.sender = nn.Parameter(torch.empty(heads, out_features))  # φ_s
            self.receiver = nn.Parameter(torch.empty(heads, out_features))  # φ_r
        elif score == "dynamic":
            self.own = nn.Parameter(torch.empty(width, in_features))  # Ψ
            self.sender = nn.Parameter(torch.empty(heads, out_features))  # φ
        else:
            self.query = nn.Parameter(torch.empty(width, in_features))  # W_q
            self.key = nn.Parameter(torch.empty(width, in_features))  # W_k
        self.recording, self.weights, self.edges = False, None, None
        self.reset_parameters()

    weights: Tensor | None
    edges: Tensor | None

    def reset_parameters(self) -> None:
        """As GAT: Glorot, no bias."""
        for name, parameter in self.named_parameters():
            nn.init.zeros_(parameter) if name == "bias" else nn.init.xavier_uniform_(parameter)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """x (N, D), dense or sparse CSR, and edges (2, E) -> (N, H·D'), or (N, D') of a mean."""
        N, H = x.shape[0], self.heads
        require_nodes(edge_index, N)
        edges, _ = add_self_loops(remove_self_loops(edge_index)[0], num_nodes=N)
        source, target = edges
        values = (product(x, self.weight.T) + self.bias).view(N, H, -1)  # H'
        alpha = softmax(self.scores(x, values, source, target), target, num_nodes=N)  # (M, H)
        alpha = F.dropout(alpha, self.dropout, self.training)
        if self.recording:
            self.weights, self.edges = alpha.detach(), edges
        heard = scatter(alpha[..., None] * rows(values, source), target, 0, N, "sum")  # (N, H, D')
        return heard.flatten(1) if self.join == "concat" else heard.mean(1)

    def scores(self, x: Tensor, values: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """s of each edge and head: (M, H)."""
        N, H = x.shape[0], self.heads
        if self.score == "additive":
            sent, received = (values * self.sender).sum(-1), (values * self.receiver).sum(-1)  # (N, H)
            return F.leaky_relu(rows(sent, source) + rows(received, target), self.slope)
        if self.score == "dynamic":
            own = product(x, self.own.T).view(N, H, -1)
            heard = rows(values, source) + rows(own, target)
            return (F.leaky_relu(heard, self.slope) * self.sender).sum(-1)
        query, key = (product(x, w.T).view(N, H, -1) for w in (self.query, self.key))
        return (rows(query, target) * rows(key, source)).sum(-1) / query.shape[-1] ** 0.5

    def extra_repr(self) -> str:
        width, features = self.weight.shape
        return (
            f"{features}, {width // self.heads}, heads={self.heads}, score={self.score!r}, join={self.join!r}"
        )
