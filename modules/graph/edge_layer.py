"""A layer on graphs whose edges have data: a node joins its own state, its neighbours' and its edges' data.

    node by node     h'_n = a[ β + Ψ h_n + Ω Σ_{m ∈ ne(n)} h_m + Γ Σ_{e ∈ nee(n)} e_e ]
    all at once      H'   = a[ β 1ᵀ + Ψ H + Ω H A + Γ E Bᵀ ]

nee(n) are the edges that end at n. Nodes have D numbers, edges D_E; the two need not be equal. With Γ = 0 it
is the layer `separate` of `GraphConvolution`. It sums what edges say whichever neighbour is at the other end:
a pair (neighbour's state, edge's data) is seen only after a layer with a nonlinearity between.

Shapes: nodes and edges are rows, x (N, D), `edge_index` (2, E) with an undirected edge both ways, edge_attr
(E, D_E) in the order of its columns. It equals PyTorch Geometric's
`GeneralConv(D, D', D_E, aggr="add", skip_linear=True, bias=False)` with β added.

Reference: [UDL] §13.9, problem 13.14.
"""

import torch
from torch import Tensor, nn

from modules.base import require
from modules.graph.encoding import require_nodes


class NodeEdgeConvolution(nn.Module):
    """One layer before its activation.

    Args:
        in_features: D. edge_features: D_E. out_features: D'.

    Raises:
        ValueError: a size is below 1.
    """

    def __init__(self, in_features: int, edge_features: int, out_features: int) -> None:
        super().__init__()
        require(1, in_features=in_features, edge_features=edge_features, out_features=out_features)
        self.own = nn.Parameter(torch.empty(out_features, in_features))  # Ψ (D', D)
        self.weight = nn.Parameter(torch.empty(out_features, in_features))  # Ω (D', D)
        self.edge = nn.Parameter(torch.empty(out_features, edge_features))  # Γ (D', D_E)
        self.bias = nn.Parameter(torch.empty(out_features))  # β (D',)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for matrix in (self.own, self.weight, self.edge):
            nn.init.xavier_uniform_(matrix)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """x (N, D), edge_index (2, E), edge_attr (E, D_E) -> (N, D').

        Raises:
            ValueError: an edge names a node outside 0..N-1, or has no row of data.
        """
        require_nodes(edge_index, len(x))
        if len(edge_attr) != edge_index.shape[1]:
            raise ValueError(f"edge_attr has {len(edge_attr)} rows for {edge_index.shape[1]} edges.")
        source, target = edge_index
        sent = (x @ self.weight.T)[source] + edge_attr @ self.edge.T  # (E, D'), Ω h_m + Γ e
        return (x @ self.own.T + self.bias).index_add(0, target, sent)

    def extra_repr(self) -> str:
        return f"{self.own.shape[1]}, {self.edge.shape[1]}, {len(self.bias)}"
