"""Graph convolutional network: every node sums what its neighbours send, and one map serves all nodes.

    node by node     h'_n = a[ β + Σ_{m ∈ ne(n) ∪ {n}} S_mn Ω h_m ]          h: (D,), Ω: (D', D), β: (D',)
    all at once      H'   = a[ β 1ᵀ + Ω H S ]                                H: (D, N), S: (N, N)

The text writes nodes as columns (H is D×N) and multiplies the graph from the right; the code keeps
PyTorch Geometric's rows, x = Hᵀ (N, D), so a layer computes a(Sᵀ x Ωᵀ + β). A_mn = 1 is the edge
m → n and `edge_index[:, e] = (m, n)`: a node hears its predecessors. All layers of this file are this
one formula; they differ in the propagation matrix S (D: degrees of A, D̃ = D + I):

    propagation    S                     what node n hears besides β             PyTorch Geometric
    sum            A + I                 Ω(h_n + Σ_m h_m)                        GINConv(Linear)
    mean           A D⁻¹ + I             Ω(h_n + Σ_m h_m / d_n)                  GINConv(Linear, aggr="mean")
    symmetric      D^-½ A D^-½ + I       Ω(h_n + Σ_m h_m / √(d_m d_n))           c(x) + c.lin(x) [1]
    gcn            D̃^-½ (A + I) D̃^-½     Ω Σ_{m ∈ ne(n) ∪ {n}} h_m / √(d̃_m d̃_n)  GCNConv
    average        (A + I) D̃⁻¹           Ω Σ_{m ∈ ne(n) ∪ {n}} h_m / d̃_n         Linear after SimpleConv [2]

    [1] c = GCNConv(add_self_loops=False)   [2] SimpleConv(aggr="mean", combine_root="self_loop")

`symmetric` is what the text calls Kipf normalisation; the network that Kipf & Welling trained, and GCNConv,
is `gcn`: the former has eigenvalue 2, so that a deep stack doubles its input in every layer.
A node without neighbours hears only itself: where d_n = 0 the text's D⁻¹ is undefined, its sum is empty.

References: [UDL] §13.4.2-13.4.3 (sum), §13.8.3 (mean), §13.8.4 (symmetric), §13.6-13.7 (one graph, loss on
the labelled nodes); Kipf & Welling 2017, arXiv:1609.02907.
"""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops, degree, remove_self_loops, to_torch_csr_tensor
from torchmetrics.classification import MulticlassAccuracy

from modules.base import BatchShard, Mean, Module, Split, require
from modules.cache import Cache

# torch says once per process that CSR is in beta, and that it trusts the indices it is given.
warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")

Propagation = Literal["sum", "mean", "symmetric", "gcn", "average"]


def edge_weights(
    edge_index: Tensor, num_nodes: int, propagation: Propagation, dtype: torch.dtype | None = None
) -> tuple[Tensor, Tensor]:
    """The propagation matrix S as a list of edges, each node's edge to itself at the end.

    Args:
        edge_index: (2, E), messages run from row 0 to row 1. Self-loops are dropped: A has a zero
            diagonal, and the layer adds the I by itself.
        num_nodes: N; nodes that no edge names are isolated.
        propagation: which S, see the table above.

    Returns:
        edge_index (2, E + N) and the weights S_mn (E + N,).

    Raises:
        ValueError: for another propagation, or an edge that names a node outside 0..N-1.
    """
    if propagation not in get_args(Propagation):
        raise ValueError(f"propagation is {propagation!r}: choose one of {', '.join(get_args(Propagation))}.")
    outside = edge_index[(edge_index < 0) | (edge_index >= num_nodes)]
    if len(outside):
        raise ValueError(f"An edge names node {int(outside[0])}: nodes run from 0 to {num_nodes - 1}.")
    edge_index, _ = remove_self_loops(edge_index)
    (source, target), dtype = edge_index, dtype or torch.get_default_dtype()
    d = degree(target, num_nodes, dtype)  # (N,), how many messages a node hears
    if propagation in ("gcn", "average"):
        d = d + 1  # the self-loop counts, so d ≥ 1 everywhere
    if propagation == "sum":
        weight = torch.ones_like(source, dtype=dtype)
    elif propagation in ("mean", "average"):
        weight = 1 / d[target]
    else:
        # In a directed graph a sender that hears nobody has d = 0: its messages vanish, as in GCNConv.
        root = d.rsqrt().masked_fill(d == 0, 0)
        weight = root[source] * root[target]
    own = 1 / d if propagation in ("gcn", "average") else torch.ones_like(d)
    edge_index, _ = add_self_loops(edge_index, num_nodes=num_nodes)
    return edge_index, torch.cat([weight, own])


def propagation_matrix(
    edge_index: Tensor, num_nodes: int, propagation: Propagation, dtype: torch.dtype | None = None
) -> Tensor:
    """Sᵀ (N, N) as a sparse CSR matrix: row n holds the weights with which node n hears the others."""
    edges, weight = edge_weights(edge_index, num_nodes, propagation, dtype)
    return to_torch_csr_tensor(edges.flip(0), weight, size=(num_nodes, num_nodes))


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Dropout that keeps a sparse matrix sparse: a zero stays zero, so only the stored values are drawn.

    Cora's words are 49,216 numbers out of 3.9 million: dropping from the full matrix would cost more than
    the network.
    """
    if x.layout != torch.sparse_csr:
        return F.dropout(x, p, training)
    if not training or p == 0:
        return x
    values = F.dropout(x.values(), p)
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape, check_invariants=False)


def product(a: Tensor, b: Tensor) -> Tensor:
    """a @ b. Where a is sparse, in its own precision: not every processor multiplies it in less."""
    if a.layout == torch.strided:
        return a @ b
    with torch.autocast(a.device.type, enabled=False):
        return a @ b.to(a.dtype)


class GraphConvolution(MessagePassing):
    """One layer before its activation: x' = Sᵀ x Ωᵀ + β.

    Ω comes first: messages are then as wide as the output (16), not as the input (1433).

    Args:
        in_features: D.
        out_features: D'.
        propagation: S of the table above.
    """

    def __init__(self, in_features: int, out_features: int, propagation: Propagation = "gcn") -> None:
        super().__init__(aggr="sum")
        self.propagation = propagation
        self.weight = nn.Parameter(torch.empty(out_features, in_features))  # Ω (D', D)
        self.bias = nn.Parameter(torch.empty(out_features))  # β (D',)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight)  # as Kipf & Welling: Glorot & Bengio 2010, no bias
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """
        Args:
            x: (N, D), dense or sparse CSR.
            edge_index: (2, E), the graph edge by edge; or Sᵀ (N, N) as `propagation_matrix` gives it,
                which is the same layer by one sparse product.

        Returns:
            (N, D')
        """
        h = product(x, self.weight.T)  # (N, D) → (N, D'), Ω h_m
        edges, weight = edge_index, None
        if edge_index.layout != torch.sparse_csr:
            edges, weight = edge_weights(edge_index, x.shape[0], self.propagation, h.dtype)
        # propagate_type: (x: Tensor, edge_weight: OptTensor)
        out = self.propagate(edges, x=h, edge_weight=weight)
        return out + self.bias

    def message(self, x_j: Tensor, edge_weight: Tensor) -> Tensor:  # type: ignore[override]
        """S_mn Ω h_m of each edge m → n: (E + N, D')."""
        return edge_weight[:, None] * x_j

    def message_and_aggregate(self, edge_index: Any, x: Tensor) -> Tensor:  # type: ignore[override]
        """Σ_m S_mn Ω h_m of all nodes at once: (N, N) @ (N, D')."""
        return product(edge_index, x)

    def extra_repr(self) -> str:
        return f"{self.weight.shape[1]}, {self.weight.shape[0]}, propagation={self.propagation!r}"


class GCN(Module):
    """Graph convolutional network for node classification on one graph (transductive).

        H_0 = X,   H_{k+1} = ReLU(layer_k(H_k)),   logits = layer_{K-1}(H_{K-1})

    All nodes propagate; the loss is the cross-entropy over the nodes of the split's mask.

    Args:
        num_features: D, input features of a node.
        num_classes: C.
        hidden: widths between the layers; K = len(hidden) + 1 layers.
        propagation: S of the table above.
        dropout: share of the inputs of every layer that is dropped in training.
        weight_decay: L2 penalty (λ/2)‖·‖² on the first layer alone, as published: the first layer holds
            nearly all parameters and overfits, the last one has to reach confident logits.

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
        dropout: float = 0.5,
        weight_decay: float = 5e-4,
        **training: Any,
    ) -> None:
        require(1, num_features=num_features, num_classes=num_classes, hidden=[1, *hidden])
        require(0, below=1, dropout=dropout)
        require(0, weight_decay=weight_decay)
        if propagation not in get_args(Propagation):
            raise ValueError(
                f"propagation is {propagation!r}: choose one of {', '.join(get_args(Propagation))}."
            )
        accuracy = MulticlassAccuracy(num_classes, average="micro", validate_args=False)
        super().__init__(_measures={"nll": Mean(), "acc": accuracy}, **training)
        widths = [num_features, *hidden, num_classes]
        self.layers = nn.ModuleList(GraphConvolution(d, d_out, propagation) for d, d_out in pairwise(widths))
        self.propagation, self.dropout, self.weight_decay = propagation, dropout, weight_decay
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
            s = propagation_matrix(edges, num_nodes, self.propagation, dtype)
        self._graph["last"] = edges, s
        return s

    def embeddings(self, x: Tensor, edge_index: Tensor) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, C); the last are the logits."""
        s = self.matrix(edge_index, x.shape[0], x.dtype)
        hs = [x]
        for k, layer in enumerate(self.layers):
            h = layer(dropout(hs[-1], self.dropout, self.training), s)
            hs.append(h if k == len(self.layers) - 1 else F.relu(h))
        return hs

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits (N, C) of x (N, D) on the graph edge_index (2, E)."""
        return self.embeddings(x, edge_index)[-1]

    def predict(self, x: Data) -> Tensor:
        """Logits (N, C) of every node of a graph with `x` and `edge_index`."""
        return self(x.x, x.edge_index)

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """The likeliest class of each node of the test split."""
        if isinstance(batch, BatchShard):
            return super().predict_step(batch, batch_idx)
        return self.predict(batch)[batch.test_mask].argmax(-1)

    def step(self, batch: Data, split: Split) -> Tensor:
        """Cross-entropy over the labelled nodes of the split, in nats per node."""
        mask = batch[f"{split}_mask"]  # (N,)
        logits, y = self.predict(batch)[mask], batch.y[mask]  # (M, C), (M,)
        nll = F.cross_entropy(logits, y, reduction="none")  # (M,)
        self.log_metric(split, "nll", nll)
        self.log_metric(split, "acc", logits, y)
        return nll.mean()

    def parameter_groups(self) -> list[dict[str, Any]]:
        return [
            {"params": list(self.layers[0].parameters()), "weight_decay": self.weight_decay},
            {"params": list(self.layers[1:].parameters()), "weight_decay": 0.0},
        ]
