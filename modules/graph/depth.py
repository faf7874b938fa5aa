r"""Depth of graph networks: what smooths and squashes, how both are measured, and what holds against them.

    over-smoothing    ‖H − P H‖ / ‖H‖          P: on the dominant eigenspace of S; falls as |λ₂/λ₁|ᵏ
                      tr(Hᵀ L H) / ‖H‖²        Dirichlet energy, L = D − A: how much neighbours differ
    over-squashing    I_nm = Σ_ij |∂h_ni / ∂x_mj|           influence of node m on node n; of a linear stack
                      of K layers (S^K)_nm times a constant: the probability of a walk
    DropEdge          edges are left out with probability p, both directions together, S is that of the rest
    PairNorm          h_n ← s (h_n − h̄) / √(1/N Σ_m ‖h_m − h̄‖²)      before the activation
    residual          H_{k+1} = ReLU(…),   H_k + ReLU(…),   [ReLU(…), H_k]      of `GCN`
    jumping knowledge the last layer reads all of H_1 … H_{K−1}: side by side, or the largest of each feature

For S = gcn the eigenspace is spanned by √(d + 1), not by 1: there the energy tends to a constant, and the
distance to 0. The mean of DropEdge's S is not (1 − p) S, since what is left is normalised again; at test time
all edges send.

Shapes: H (N, D), S and A (N, N), row n of S holds the weights with which node n hears the others.

References: [UDL] §13 notes; Li et al. 2018, arXiv:1801.07606; Oono & Suzuki 2020, arXiv:1905.10947;
Xu et al. 2018, arXiv:1806.03536 (influence, jumping knowledge); Alon & Yahav 2021, arXiv:2006.05205;
Rong et al. 2020, arXiv:1907.10903 (DropEdge); Zhao & Akoglu 2020, arXiv:1909.12223 (PairNorm).
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require, require_one_of
from modules.graph.convolution import NO_MATRIX, GraphConvolution, dropout
from modules.graph.gcn import GCN
from modules.graph.spectral import laplacian

Jump = Literal["none", "max", "concat"]


# --- What depth does ----------------------------------------------------------------------------------


def dominant(s: Tensor) -> tuple[Tensor, float]:
    """Orthonormal basis (N, R) of the dominant eigenspace of s (N, N), and |λ₂/λ₁| of what is left."""
    values, vectors = torch.linalg.eig(s)
    size = values.abs()
    top = size >= size.max() * (1 - 1e-9)  # several where the graph has several components
    spanning = torch.cat([vectors[:, top].real, vectors[:, top].imag], dim=1)
    basis, strength, _ = torch.linalg.svd(spanning, full_matrices=False)
    rest = size[~top]
    return basis[:, strength > 1e-9], float(rest.max() / size.max()) if len(rest) else 0.0


def distance(h: Tensor, basis: Tensor) -> Tensor:
    """Share of ‖H‖ outside the eigenspace that the columns of `basis` (N, R) span; 0 of H = 0."""
    return (h - basis @ (basis.T @ h)).norm() / h.norm().clamp(min=torch.finfo(h.dtype).tiny)


def dirichlet_energy(h: Tensor, a: Tensor) -> Tensor:
    """tr(Hᵀ L H) / ‖H‖²: squared differences along the edges, each once; 0 of H = 0."""
    l = laplacian(a).to(h)
    return (h * (l @ h)).sum() / h.square().sum().clamp(min=torch.finfo(h.dtype).tiny)


def influence(h: Tensor, x: Tensor) -> Tensor:
    """Σ_ij |∂h_i / ∂x_mj| of each node m, (N,): h (D',) is one node's state, computed from x (N, D)."""
    rows = [torch.autograd.grad(h_i, x, retain_graph=True)[0].abs().sum(1) for h_i in h]  # (N,) each
    return torch.stack(rows).sum(0)


def by_distance(values: Tensor, away: Tensor) -> Tensor:
    """Sums over the nodes at distance 0, 1, …: values (…, N) -> (…, R + 1); `away` (N,), −1 where no walk
    leads."""
    near = away >= 0
    sums = values.new_zeros(*values.shape[:-1], int(away.max()) + 1)
    return sums.index_add(-1, away[near], values[..., near])


# --- What holds against it ----------------------------------------------------------------------------


def drop_edges(edge_index: Tensor, p: float, generator: torch.Generator | None = None) -> Tensor:
    """`edge_index` (2, E) without a share p of the pairs of nodes: both directions stay, or both go."""
    require(0, below=1, p=p)
    if not edge_index.numel() or not p:
        return edge_index
    low, high = edge_index.sort(0).values
    pairs, place = (low * (edge_index.max() + 1) + high).unique(return_inverse=True)
    kept = torch.rand(len(pairs), generator=generator, device=edge_index.device) >= p
    return edge_index[:, kept[place]]


def pair_norm(h: Tensor, scale: float = 1.0) -> Tensor:
    """Rows of h (N, D) around their mean, at root mean square length `scale`."""
    centred = h - h.mean(0)
    return scale * centred * (centred.square().sum(1).mean() + 1e-5).rsqrt()


def jumped(hs: Sequence[Tensor], jump: Jump) -> Tensor:
    """What the next layer reads of the layers before, each (N, D): the last of them, all, or the largest."""
    if jump == "concat":
        return torch.cat(list(hs), 1)  # K × (N, D) → (N, K D)
    return torch.stack(list(hs)).amax(0) if jump == "max" else hs[-1]


class DeepGCN(GCN):
    """GCN with what is known against over-smoothing, each by its own switch.

    Args:
        num_features, num_classes, hidden: as in `GCN`.
        jump: what the last layer reads: "none", the layer before; "max" or "concat", all hidden layers.
        pair_norm: length s of PairNorm before each hidden activation; 0 leaves it out.
        drop_edge: share p of the edges that a training step leaves out, the same in all layers.
        gcn: further arguments of `GCN`.

    Raises:
        ValueError: an argument is out of range, or jump has no layers of one width to read.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        hidden: Sequence[int] = (16, 16, 16),
        jump: Jump = "none",
        pair_norm: float = 0.0,
        drop_edge: float = 0.0,
        **gcn: Any,
    ) -> None:
        require_one_of(Jump, jump=jump)
        require(0, pair_norm=pair_norm)
        require(0, below=1, drop_edge=drop_edge)
        super().__init__(num_features, num_classes, hidden, **gcn)
        if jump != "none" and not hidden:
            raise ValueError(f"jump is {jump!r}, but there is no hidden layer: give hidden a width.")
        if jump == "max" and (len(set(hidden)) > 1 or self.residual == "concat"):
            raise ValueError("jump='max' compares layers feature by feature: give all one width.")
        self.jump, self.pair_norm, self.drop_edge = jump, pair_norm, drop_edge
        if jump == "concat":
            layers = [layer for layer in self.layers[1:] if isinstance(layer, GraphConvolution)]
            width, last = sum(layer.weight.shape[1] for layer in layers), layers[-1]  # of H_1 … H_{K−1}
            self.layers[-1] = GraphConvolution(width, num_classes, last.propagation, last.combine)

    def embeddings(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, C), the logits; edge_mask (E,) as of `GraphConvolution`.

        Raises:
            ValueError: an edge mask in training, where edges are dropped.
        """
        if self.training:
            if edge_mask is not None and self.drop_edge:
                raise ValueError("An edge_mask has no meaning where edges are dropped: call eval() first.")
            edge_index = drop_edges(edge_index, self.drop_edge)
        s = edge_index
        if self.propagation not in NO_MATRIX and edge_mask is None:
            s = self.matrix(edge_index, x.shape[0], x.dtype)
        hs = [x]
        for layer in self.layers[:-1]:
            h = layer(dropout(hs[-1], self.dropout, self.training), s, edge_mask)
            h = pair_norm(h, self.pair_norm) if self.pair_norm else h
            hs.append(self.joined(hs[-1], F.relu(h)))
        read = jumped(hs[1:], self.jump) if len(hs) > 1 else x
        return [*hs, self.layers[-1](dropout(read, self.dropout, self.training), s, edge_mask)]
