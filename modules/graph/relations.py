r"""R-GCN: edges of several kinds, each with a matrix of its own.

    one layer       x'_n = β + Ψ x_n + Σ_r 1/|ne_r(n)| Σ_{m ∈ ne_r(n)} Ω_r x_m
    few bases       Ω_r = Σ_b c_rb V_b              B (D' D + R) numbers instead of R D' D
    graphs          logit = β + ω · pool_n h_n      h_n of a stack of such layers, each with a ReLU

ne_r(n) are the senders of edges of kind r that end at n; a kind that a node does not hear adds nothing.
With one kind it is `mean` of `GraphConvolution` with "separate". With B ≥ R bases any R matrices can be
had: c = I. `NodeEdgeConvolution` adds what an edge says to what its sender says; here the kind of the edge
decides what is made of the sender, so that one layer tells a double-bonded oxygen from a single-bonded one.

Shapes: x (N, D), `edge_index` (2, E), edge_type (E,) of 0 … R − 1, logits (G, C).

References: Schlichtkrull et al. 2018, arXiv:1703.06103; [UDL] §13 notes. PyTorch Geometric's RGCNConv is the
layer.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from modules.base import require
from modules.graph.encoding import require_nodes
from modules.graph.graphs import GraphClassifier, Pooling, pooled


class RelationalConvolution(nn.Module):
    """One layer before its activation.

    Args:
        in_features: D. out_features: D'.
        relations: R.
        bases: B of which the matrices are combined; 0: each is free.

    Raises:
        ValueError: a size is out of range.

    >>> sum(p.numel() for p in RelationalConvolution(3, 2, 30).parameters())
    188
    >>> sum(p.numel() for p in RelationalConvolution(3, 2, 30, bases=2).parameters())
    80
    """

    def __init__(self, in_features: int, out_features: int, relations: int, bases: int = 0) -> None:
        super().__init__()
        require(1, in_features=in_features, out_features=out_features, relations=relations)
        require(0, bases=bases)
        self.bases, self.relations = bases, relations
        # V (B, D', D) with c (R, B), or Ω (R, D', D)
        self.weight = nn.Parameter(torch.empty(bases or relations, out_features, in_features))
        if bases:
            self.shares = nn.Parameter(torch.empty(relations, bases))
        self.own = nn.Parameter(torch.empty(out_features, in_features))  # Ψ (D', D)
        self.bias = nn.Parameter(torch.empty(out_features))  # β (D',)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weight in (*self.weight, self.own):
            nn.init.xavier_uniform_(weight)
        if self.bases:
            nn.init.xavier_uniform_(self.shares)
        nn.init.zeros_(self.bias)

    @property
    def matrices(self) -> Tensor:
        """Ω_r of each relation, (R, D', D)."""
        return torch.einsum("rb,bij->rij", self.shares, self.weight) if self.bases else self.weight

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        """x (N, D), edge_index (2, E), edge_type (E,) -> (N, D').

        Raises:
            ValueError: an edge names a node outside 0..N-1, or has no kind of 0..R-1.
        """
        N, R = len(x), self.relations
        require_nodes(edge_index, N)
        if len(edge_type) != edge_index.shape[1]:
            raise ValueError(f"edge_type has {len(edge_type)} entries for {edge_index.shape[1]} edges.")
        if ((edge_type < 0) | (edge_type >= R)).any():
            raise ValueError(f"A kind of an edge is outside 0 … {R - 1}.")
        source, target = edge_index
        place = target * R + edge_type  # (E,), receiver and kind
        count = place.bincount(minlength=N * R).clamp(min=1)
        sums = x.new_zeros(N * R, x.shape[1]).index_add(0, place, x[source])
        means = (sums / count[:, None]).view(N, R, -1)  # (N, R, D)
        return torch.einsum("nrj,rij->ni", means, self.matrices) + x @ self.own.T + self.bias

    def extra_repr(self) -> str:
        more = f", bases={self.bases}" if self.bases else ""
        return f"{self.own.shape[1]}, {len(self.bias)}, relations={self.relations}{more}"


class RelationalGCN(GraphClassifier):
    """Relational convolutions, then pooling: a classifier of graphs whose edges are of several kinds.

    Args:
        num_features: D. num_classes: C. relations: R.
        hidden: widths of the layers, all with a ReLU.
        bases: of each layer, see `RelationalConvolution`.
        pooling: of the last states.
        dropout: share of what the head gets that is dropped in training.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        relations: int = 2,
        hidden: Sequence[int] = (16, 16),
        bases: int = 0,
        pooling: Pooling = "sum",
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, hidden=hidden)
        require(0, below=1, dropout=dropout)
        super().__init__(num_classes, pooling, **training)
        widths = [num_features, *hidden]
        self.layers = nn.ModuleList(
            RelationalConvolution(d, d_out, relations, bases) for d, d_out in pairwise(widths)
        )
        self.head, self.dropout = self.make_head(widths[-1]), dropout

    def states(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, D')."""
        hs = [x]
        for layer in self.layers:
            hs.append(F.relu(layer(hs[-1], edge_index, edge_type)))
        return hs

    def predict(self, x: Data) -> Tensor:
        """Logits (G, C) of a union of graphs with `x`, `edge_index`, `edge_type`, `batch` and `ptr`.

        Raises:
            ValueError: its edges have no kinds.
        """
        if "edge_type" not in x:
            raise ValueError("Relational convolutions need the kind of each edge: choose data that have it.")
        last = self.states(x.x, x.edge_index, x.edge_type)[-1]
        vectors = pooled(last, x.batch, len(x.ptr) - 1, self.pooling)
        return self.logits_of(F.dropout(vectors, self.dropout, self.training))
