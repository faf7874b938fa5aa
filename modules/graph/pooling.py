r"""Poolings that keep more than a mean: nodes in an order of their own, and soft clusters.

    sort        nodes of a graph by their last feature, falling, ties by the one before …; the first k,
                side by side, zeros where there are fewer: (k D)
    diff        S = softmax(scores)                      (N, K), how much node n belongs to cluster k
                X' = Sᵀ Z,   A' = Sᵀ A S                 (K, D) and (K, K), a small graph
                link       ‖A − S Sᵀ‖_F / N²             joined nodes should share clusters
                entropy    1/N Σ_n −Σ_k S_nk log S_nk    and belong to one each

A sorted list tells more than a sum, yet no numbering of the nodes plays a part; the order by the last feature
jumps where two nodes pass one another. A' has a diagonal: twice the edges inside a cluster, each by how far
both ends belong to it. The two losses are added to the task's while training, since its gradient alone finds
poor clusters.

A batch is a disjoint union: clusters are each graph's own, and the losses are means over graphs. PyTorch
Geometric pads the graphs of a batch to one size and divides by it, so that there a loss depends on the
largest graph of the batch; of a single graph both are equal.

Shapes: h, z (N, D), `edge_index` (2, E), `graph` (N,), the graph of each node; G graphs.

References: Zhang et al. 2018 (SortPool; AAAI, DGCNN); Ying et al. 2018, arXiv:1806.08804 (DiffPool); [UDL]
§13 notes. PyTorch Geometric has SortAggregation and dense_diff_pool.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import remove_self_loops

from modules.base import require
from modules.graph.convolution import GraphConvolution


def sort_pool(h: Tensor, graph: Tensor, count: int, k: int) -> Tensor:
    """The first k nodes of each graph, side by side: (G, k D)."""
    # rank by the last feature, ties by the one before; nodes that share a rank are equal in all
    _, rank = h.detach().flip(1).unique(dim=0, return_inverse=True)
    order = (-rank).argsort(stable=True)
    order = order[graph[order].argsort(stable=True)]  # graph after graph, falling in each
    sizes = graph.bincount(minlength=count)  # (G,)
    place = torch.arange(len(h), device=h.device) - (sizes.cumsum(0) - sizes)[graph[order]]
    kept = place < k
    first = h.new_zeros(count, k, h.shape[1])
    return first.index_put((graph[order][kept], place[kept]), h[order][kept]).flatten(1)


@dataclass(frozen=True)
class Coarse:
    """Graphs of clusters.

    Attributes:
        s: (N, K), how much each node belongs to each. x: (G, K, D), Sᵀ Z. a: (G, K, K), Sᵀ A S.
        link, entropy: (G,), the two losses of each graph; 0 of a graph without nodes.
    """

    s: Tensor
    x: Tensor
    a: Tensor
    link: Tensor
    entropy: Tensor


def diff_pool(
    z: Tensor, scores: Tensor, edge_index: Tensor, graph: Tensor, count: int, edge_mask: Tensor | None = None
) -> Coarse:
    """Pool states z (N, D) by scores (N, K) of the clusters; edge_mask (E,) are entries of A in place of 1.

    Each edge is named once each way; self-loops do not count.
    """
    (source, target), weight = remove_self_loops(edge_index, edge_mask)
    weight = torch.ones_like(scores[:1, 0]).expand(len(source)) if weight is None else weight
    s = scores.softmax(1)  # (N, K)

    def per_graph(values: Tensor, where: Tensor) -> Tensor:
        return values.new_zeros(count, *values.shape[1:]).index_add(0, where, values)

    x = per_graph(s[:, :, None] * z[:, None], graph)  # (G, K, D)
    a = per_graph(weight[:, None, None] * s[source][:, :, None] * s[target][:, None], graph[source])
    overlap = per_graph(s[:, :, None] * s[:, None], graph)  # (G, K, K), Sᵀ S
    # ‖A − S Sᵀ‖² without any N × N matrix: ‖A‖² − 2 Σ_edges A_mn s_m · s_n + ‖SᵀS‖²
    shared = per_graph(weight * (weight - 2 * (s[source] * s[target]).sum(1)), graph[source])
    square = shared + overlap.square().sum((1, 2))
    nodes = graph.bincount(minlength=count)  # (G,)
    size = nodes.clamp(min=1).to(s.dtype)
    link = square.clamp(min=torch.finfo(s.dtype).tiny).sqrt() / size.square() * (nodes > 0)
    entropy = per_graph(-(s * scores.log_softmax(1)).sum(1), graph) / size
    return Coarse(s, x, a, link, entropy)


class DiffPooling(nn.Module):
    """Clusters by a convolution, then one layer on the graph of the clusters, and their mean.

        scores = layer(H_{K−1}, A),   x' of cluster k = ReLU(β + Ω Σ_l A'_kl x_l / Σ_l A'_kl + Ψ x_k)

    Where the weights of a cluster's edges sum to less than 1, they are not divided, as in PyTorch Geometric's
    DenseSAGEConv.

    Args:
        in_features: of the states that the scores read. out_features: D of the states that are pooled.
        clusters: K.

    Raises:
        ValueError: a size is below 1.
    """

    def __init__(self, in_features: int, out_features: int, clusters: int) -> None:
        super().__init__()
        require(1, in_features=in_features, out_features=out_features, clusters=clusters)
        self.scores = GraphConvolution(in_features, clusters, "mean", "separate")
        self.weight = nn.Parameter(torch.empty(out_features, out_features))  # Ω
        self.own = nn.Parameter(torch.empty(out_features, out_features))  # Ψ
        self.bias = nn.Parameter(torch.empty(out_features))  # β
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.scores.reset_parameters()
        for weight in (self.weight, self.own):
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.bias)

    def coarse(
        self, before: Tensor, z: Tensor, edge_index: Tensor, graph: Tensor, count: int,
        edge_mask: Tensor | None = None,
    ) -> Coarse:  # fmt: skip
        """Graphs of clusters of states z (N, D); the scores read `before` (N, D')."""
        scores = self.scores(before, edge_index, edge_mask)
        return diff_pool(z, scores, edge_index, graph, count, edge_mask)

    def forward(self, coarse: Coarse) -> Tensor:
        """One vector per graph, (G, D)."""
        heard = coarse.a @ coarse.x / coarse.a.sum(2, keepdim=True).clamp(min=1)  # (G, K, D)
        return F.relu(heard @ self.weight.T + coarse.x @ self.own.T + self.bias).mean(1)
