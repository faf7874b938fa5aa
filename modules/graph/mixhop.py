"""MixHop: what nodes hear from several distances at once, side by side; and neighbourhoods of higher order.

    one layer       x'_n = β + [Ω_0 x_n, …, Ω_P Σ_m (Sᴾ)_mn x_m]          S = D̃^-½ (A + I) D̃^-½
    all at once     H' = β 1ᵀ + [Ω_0 H; Ω_1 H S; …; Ω_P H Sᴾ]              a block of rows for each power

A layer of powers 0 … P hears P hops away, and can tell what is near from what is far: differences of powers
are in its reach, for which a stack of plain layers has no weights. The powers are of the renormalised matrix
with self-loops, so that Sᴾ holds walks of up to P steps.

Zhou and Li take one matrix of zeros and ones in the place of A instead, Min[A^L + I, 1], which joins nodes by
walks of exactly L steps: its text says "maximum walk length", for which it would be [(A + I)^L > 0]. On
bipartite graphs it loses all direct neighbours where L is even (see `encoding.within`).

Shapes: x (N, D), `edge_index` (2, E), P powers, output (N, P D').

References: Abu-El-Haija et al. 2019, arXiv:1905.00067; Zhou & Li 2017; [UDL] §13 notes. PyTorch Geometric's
MixHopConv is the layer.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import require
from modules.graph.convolution import GraphConvolution, edge_weights, masked_weights, product
from modules.graph.encoding import walks
from modules.graph.gcn import GCN


def higher_order(a: Tensor, length: int) -> Tensor:
    """Min[A^L + I, 1] of A (N, N) int64: 1 where a walk of exactly L steps leads from m to n, or m = n."""
    return (walks(a, length) + torch.eye(len(a), dtype=torch.long)).clamp(max=1)


class MixHopConvolution(nn.Module):
    """One layer before its activation.

    Args:
        in_features: D. out_features: D', of each power.
        powers: of S, each once; 0 is the node itself.

    Raises:
        ValueError: a size is below 1, or the powers are none, negative, or come twice.
    """

    def __init__(self, in_features: int, out_features: int, powers: Sequence[int] = (0, 1, 2)) -> None:
        super().__init__()
        require(1, in_features=in_features, out_features=out_features)
        require(0, powers=powers)
        if len(set(powers)) < len(powers):
            raise ValueError(f"powers are {list(powers)}: each may come once.")
        self.powers = tuple(powers)
        # Ω_p (D', D) of each power, one below the other
        self.weight = nn.Parameter(torch.empty(len(self.powers) * out_features, in_features))
        self.bias = nn.Parameter(torch.empty(len(self.powers) * out_features))  # β
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weight in self.weight.chunk(len(self.powers)):
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.bias)

    @property
    def hears_itself(self) -> bool:
        """Whether S has self-loops: always."""
        return True

    def forward(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> Tensor:
        """
        Args:
            x: (N, D), dense or sparse CSR.
            edge_index: (2, E); or Sᵀ (N, N) as `propagation_matrix` gives it of "gcn".
            edge_mask: (E,), a factor of the message of each edge, at each of its hops.

        Returns:
            (N, P D'), the powers in the order of `powers`.

        Raises:
            ValueError: an edge mask for a graph that is given as a matrix.
        """
        hop = self.hops(x.shape[0], edge_index, edge_mask)
        # maps first, then hops: a column goes as many hops as its power says
        parts = list(product(x, self.weight.T).chunk(len(self.powers), 1))  # (N, D') each
        for step in range(1, max(self.powers) + 1):
            going = [i for i, power in enumerate(self.powers) if power >= step]
            moved = hop(torch.cat([parts[i] for i in going], 1)).chunk(len(going), 1)
            for i, part in zip(going, moved, strict=True):
                parts[i] = part
        return torch.cat(parts, 1) + self.bias

    def hops(self, num_nodes: int, edge_index: Tensor, edge_mask: Tensor | None) -> Any:
        """The map h -> Sᵀ h of (N, D')."""
        if edge_index.layout == torch.sparse_csr:
            if edge_mask is not None:
                raise ValueError("An edge_mask needs the graph edge by edge, not as a matrix.")
            return lambda h: product(edge_index, h)
        (source, target), weight = edge_weights(edge_index, num_nodes, "gcn", self.weight.dtype)
        weight = masked_weights(weight, edge_index, edge_mask)
        return lambda h: torch.zeros_like(h).index_add(0, target, weight[:, None].to(h.dtype) * h[source])

    def extra_repr(self) -> str:
        width = len(self.bias) // len(self.powers)
        return f"{self.weight.shape[1]}, {len(self.powers)} × {width}, powers={self.powers}"


class MixHop(GCN):
    """GCN whose hidden layers hear from several distances; the last layer is a convolution.

    Args:
        num_features, num_classes: D, C.
        hidden: width D' of each power of each hidden layer.
        powers: of the hidden layers.
        dropout, weight_decay: as of `GCN`.

    Raises:
        ValueError: an argument is out of range.

    >>> MixHop(num_features=3, num_classes=2, hidden=[4]).layers[0]
    MixHopConvolution(3, 3 × 4, powers=(0, 1, 2))
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        hidden: Sequence[int] = (16,),
        powers: Sequence[int] = (0, 1, 2),
        dropout: float = 0.5,
        weight_decay: float = 5e-4,
        **training: Any,
    ) -> None:
        super().__init__(
            num_features, num_classes, hidden, dropout=dropout, weight_decay=weight_decay, **training
        )
        layers, width = list[nn.Module](), num_features
        for d in hidden:
            layers.append(MixHopConvolution(width, d, powers))
            width = len(powers) * d
        self.layers = nn.ModuleList([*layers, GraphConvolution(width, num_classes, "gcn")])
