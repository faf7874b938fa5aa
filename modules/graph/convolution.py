"""Graph convolution: every node joins what its neighbours send with its own state; one map serves all nodes.

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

The first three, `max`, the largest of each feature among the neighbours, and `lstm`, the last state of an
LSTM that reads the neighbours one by one, join the node itself in one of four ways; g_n is what it hears of
its neighbours alone:

    combine        x'_n = β +            PyTorch Geometric, of a sum
    sum            Ω (g_n + h_n)         GINConv(Linear)
    diagonal       Ω (g_n + (1 + ε) h_n) GINConv(Linear, train_eps=True); ε is learned, one number
    separate       Ω g_n + Ψ h_n         GraphConv
    none           Ω g_n                 GCNConv(normalize=False): for nets that add or append h_n themselves

An LSTM is no function of a set: it reads in the order of the edges, and another order gives another answer.
GraphSAGE draws an order for each node and step, so that it learns not to mind; whoever wants that shuffles
`edge_index`. PyTorch Geometric's reads zeros behind a node's neighbours until the largest degree of the batch
is reached, so that its answer for a graph depends on the others; here it ends with the last neighbour. Where
all degrees are equal, `separate` is its SAGEConv(aggr="lstm").

`gcn` and `average` count the node among its neighbours, and have no second place for it. The text credits
`diagonal` to Cluster-GCN, whose own form adds a constant to (D + I)⁻¹(A + I).

References: [UDL] §13.4.2-13.4.3 (sum), §13.8.1-13.8.5 (the others; .4 is symmetric); Kipf & Welling 2017,
arXiv:1609.02907; Hamilton et al. 2017, arXiv:1706.02216 (separate, max, lstm); Xu et al. 2019,
arXiv:1810.00826.
"""

import warnings
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops, degree, remove_self_loops, scatter, to_torch_csr_tensor

from modules.base import require_one_of
from modules.graph.encoding import require_nodes

# torch says once per process that CSR is in beta, and that it trusts the indices it is given.
warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")

Propagation = Literal["sum", "mean", "symmetric", "gcn", "average", "max", "lstm"]
Combine = Literal["sum", "diagonal", "separate", "none"]
WITHIN = ("gcn", "average")  # that count the node among its neighbours
NO_MATRIX = ("max", "lstm")  # that are not linear in what the neighbours send


def edge_weights(
    edge_index: Tensor, num_nodes: int, propagation: Propagation, dtype: torch.dtype | None = None,
    own: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The propagation matrix S as a list of edges, each node's edge to itself at the end.

    Args:
        edge_index: (2, E), messages run from row 0 to row 1. Self-loops are dropped: A has a zero
            diagonal, and the layer adds the I by itself.
        num_nodes: N; nodes that no edge names are isolated.
        propagation: which S, see the table above; those of `NO_MATRIX` are none.
        own: with the edges of nodes to themselves; else S without its I.

    Returns:
        edge_index (2, E + N) and the weights S_mn (E + N,), or (2, E) and (E,).

    Raises:
        ValueError: for another propagation, or an edge that names a node outside 0..N-1.
    """
    matrices = [name for name in get_args(Propagation) if name not in NO_MATRIX]
    if propagation not in matrices:
        raise ValueError(f"propagation is {propagation!r}: choose one of {', '.join(matrices)}.")
    require_nodes(edge_index, num_nodes)
    edge_index, _ = remove_self_loops(edge_index)
    (source, target), dtype = edge_index, dtype or torch.get_default_dtype()
    d = degree(target, num_nodes, dtype)  # (N,), how many messages a node hears
    if propagation in WITHIN:
        d = d + 1  # the self-loop counts, so d ≥ 1 everywhere
    if propagation == "sum":
        weight = torch.ones_like(source, dtype=dtype)
    elif propagation in ("mean", "average"):
        weight = 1 / d[target]
    else:
        # In a directed graph a sender that hears nobody has d = 0: its messages vanish, as in GCNConv.
        root = d.rsqrt().masked_fill(d == 0, 0)
        weight = root[source] * root[target]
    if not own:
        return edge_index, weight
    itself = 1 / d if propagation in WITHIN else torch.ones_like(d)
    edge_index, _ = add_self_loops(edge_index, num_nodes=num_nodes)
    return edge_index, torch.cat([weight, itself])


def masked_weights(weight: Tensor, edge_index: Tensor, edge_mask: Tensor | None) -> Tensor:
    """Weights as `edge_weights` gives them, each edge's with its factor (E,); nodes' own have none."""
    if edge_mask is None:
        return weight
    kept = edge_mask[edge_index[0] != edge_index[1]]
    return weight * F.pad(kept, (0, len(weight) - len(kept)), value=1.0)


def propagation_matrix(
    edge_index: Tensor, num_nodes: int, propagation: Propagation, dtype: torch.dtype | None = None,
    own: bool = True,
) -> Tensor:  # fmt: skip
    """Sᵀ (N, N) as a sparse CSR matrix: row n holds the weights with which node n hears the others."""
    edges, weight = edge_weights(edge_index, num_nodes, propagation, dtype, own)
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
    """One layer before its activation.

    Ω comes first wherever the neighbours are summed: messages are then as wide as the output (16), not as the
    input (1433). The largest and an LSTM are not linear: there Ω comes last.

    Args:
        in_features: D.
        out_features: D'.
        propagation, combine: of the tables above.

    Raises:
        ValueError: they are unknown, or exclude one another.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        propagation: Propagation = "gcn",
        combine: Combine = "sum",
    ) -> None:
        super().__init__(aggr="sum")
        require_one_of(Propagation, propagation=propagation)
        require_one_of(Combine, combine=combine)
        if propagation in WITHIN and combine != "sum":
            raise ValueError(
                f"combine is {combine!r}: {propagation!r} counts the node among its neighbours already."
            )
        self.propagation, self.combine = propagation, combine
        self.weight = nn.Parameter(torch.empty(out_features, in_features))  # Ω (D', D)
        self.bias = nn.Parameter(torch.empty(out_features))  # β (D',)
        if combine == "separate":
            self.own = nn.Parameter(torch.empty(out_features, in_features))  # Ψ (D', D)
        if combine == "diagonal":
            self.epsilon = nn.Parameter(torch.zeros(()))
        if propagation == "lstm":
            self.reader = nn.LSTM(in_features, in_features, batch_first=True)  # its state is as wide as h_m
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight)  # as Kipf & Welling: Glorot & Bengio 2010, no bias
        nn.init.zeros_(self.bias)
        if self.combine == "separate":
            nn.init.xavier_uniform_(self.own)
        if self.combine == "diagonal":
            nn.init.zeros_(self.epsilon)
        if self.propagation == "lstm":
            self.reader.reset_parameters()

    @property
    def hears_itself(self) -> bool:
        """Whether a node's own state is one of its messages."""
        return self.combine in ("sum", "diagonal") and self.propagation not in NO_MATRIX

    def forward(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> Tensor:
        """
        Args:
            x: (N, D), dense or sparse CSR.
            edge_index: (2, E), the graph edge by edge; or, where S is a matrix, Sᵀ (N, N) as
                `propagation_matrix` gives it, with `own` as the layer's `hears_itself`: the same layer by one
                sparse product.
            edge_mask: (E,), a factor of the message of each edge; needs the graph edge by edge. What a node
                hears of itself has none.

        Returns:
            (N, D')

        Raises:
            ValueError: an edge mask for a graph that is given as a matrix.
        """
        if self.propagation in NO_MATRIX:
            return self.of_heard(x.to_dense() if x.layout == torch.sparse_csr else x, edge_index, edge_mask)
        h = product(x, self.weight.T)  # (N, D) → (N, D'), Ω h_m
        edges, weight = edge_index, None
        if edge_index.layout != torch.sparse_csr:
            edges, weight = edge_weights(edge_index, x.shape[0], self.propagation, h.dtype, self.hears_itself)
            weight = masked_weights(weight, edge_index, edge_mask)
        elif edge_mask is not None:
            raise ValueError("An edge_mask needs the graph edge by edge, not as a matrix.")
        # propagate_type: (x: Tensor, edge_weight: OptTensor)
        out = self.propagate(edges, x=h, edge_weight=weight)
        if self.combine == "diagonal":
            out = out + self.epsilon * h
        if self.combine == "separate":
            out = out + product(x, self.own.T)
        return out + self.bias

    def of_heard(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> Tensor:
        """The layer where g_n comes first: the largest of each feature, or what an LSTM has read; 0 without
        neighbours."""
        require_nodes(edge_index, len(x))
        (source, target), factor = remove_self_loops(edge_index, edge_mask)
        sent = x[source] if factor is None else factor[:, None] * x[source]  # (E, D)
        if self.propagation == "max":
            heard = scatter(sent, target, 0, len(x), "max")  # (N, D)
        else:
            heard = self.of_read(sent, target, len(x))
        if self.combine in ("sum", "diagonal"):
            heard = heard + (1 + self.epsilon if self.combine == "diagonal" else 1) * x
        out = heard @ self.weight.T
        if self.combine == "separate":
            out = out + x @ self.own.T
        return out + self.bias

    def of_read(self, sent: Tensor, target: Tensor, num_nodes: int) -> Tensor:
        """Last state of the LSTM that reads the messages (E, D) to each node, in their order: (N, D)."""
        counts = target.bincount(minlength=num_nodes)  # (N,)
        order = target.argsort(stable=True)
        row = target[order]
        place = torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
        heard = sent.new_zeros(num_nodes, sent.shape[1])
        if not len(row):
            return heard
        lines = sent.new_zeros(num_nodes, int(counts.max()), sent.shape[1])
        lines = lines.index_put((row, place), sent[order])  # (N, most, D), a node's senders in a line
        hears = counts > 0
        packed = pack_padded_sequence(lines[hears], counts[hears].cpu(), True, enforce_sorted=False)
        last = self.reader(packed)[1][0][0]  # (those who hear, D)
        return heard.to(last.dtype).index_put((hears.nonzero()[:, 0],), last)

    def message(self, x_j: Tensor, edge_weight: Tensor) -> Tensor:  # type: ignore[override]
        """S_mn Ω h_m of each edge m → n: (E + N, D')."""
        return edge_weight[:, None] * x_j

    def message_and_aggregate(self, edge_index: Any, x: Tensor) -> Tensor:  # type: ignore[override]
        """Σ_m S_mn Ω h_m of all nodes at once: (N, N) @ (N, D')."""
        return product(edge_index, x)

    def extra_repr(self) -> str:
        more = f", combine={self.combine!r}" if self.combine != "sum" else ""
        return f"{self.weight.shape[1]}, {self.weight.shape[0]}, propagation={self.propagation!r}{more}"
