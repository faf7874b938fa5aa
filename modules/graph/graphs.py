"""Classifiers of graphs: what nodes have found out is pooled into one vector per graph.

    Pr(y_i = 1) = σ(β + ω · pool_{n ∈ graph i} h_n)            two classes; of C > 2 a softmax over C numbers

Sorted nodes and soft clusters are further ways to pool, see `modules.graph.pooling`.

A batch is a disjoint union, over which nodes propagate at once; pooling keeps to each graph. A mean is blind
to copies: a graph and two of it have one mean, and one maximum, whatever the layers. A sum tells them apart.

Shapes: x (N, D), `edge_index` (2, E), `graph` (N,), the graph of each node; logits (G, C).

References: [UDL] §13.3.1, §13.4.1, §13.5; Xu et al. 2019, arXiv:1810.00826.
"""

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import scatter
from torchmetrics.classification import MulticlassAccuracy

from modules.base import BatchShard, Mean, Module, Split, require, require_one_of

Pooling = Literal["mean", "sum", "max"]
Readout = Literal["mean", "sum", "max", "sort", "diff"]


def pooled(h: Tensor, graph: Tensor, count: int, pooling: str = "mean") -> Tensor:
    """One vector per graph, (G, D), of states h (N, D); a graph without nodes has zeros."""
    return scatter(h, graph, 0, count, pooling)


class GraphClassifier(Module):
    """Base of the networks that classify graphs; a subclass gives `embeddings`, and sets `self.head`.

    Measures `nll` (nats per graph) and `acc`.

    Args:
        num_classes: C.
        pooling: of the states of a graph's nodes.
    """

    head: nn.Linear
    pools_otherwise = False  # whether a class knows more than the mean, the sum and the largest

    def __init__(self, num_classes: int, pooling: Readout = "mean", **training: Any) -> None:
        require(2, num_classes=num_classes)
        require_one_of(Readout if self.pools_otherwise else Pooling, pooling=pooling)
        accuracy = MulticlassAccuracy(num_classes, average="micro", validate_args=False)
        super().__init__(_measures={"nll": Mean(), "acc": accuracy}, **training)
        self.num_classes, self.pooling = num_classes, pooling

    def embeddings(self, x: Tensor, edge_index: Tensor, edge_mask: Tensor | None = None) -> list[Tensor]:
        """H_0 = X (N, D), ..., H_K (N, D'); edge_mask (E,) as of `GraphConvolution`."""
        raise NotImplementedError

    def make_head(self, width: int) -> nn.Linear:
        """The last layer; of two classes it gives one number, the text's."""
        return nn.Linear(width, 1 if self.num_classes == 2 else self.num_classes)

    def vectors(
        self, x: Tensor, edge_index: Tensor, graph: Tensor, count: int, edge_mask: Tensor | None = None
    ) -> Tensor:
        """What the head gets of each graph, (G, D'): the last states, pooled."""
        return pooled(self.embeddings(x, edge_index, edge_mask)[-1], graph, count, self.pooling)

    def logits_of(self, vectors: Tensor) -> Tensor:
        """Logits (G, C) of what the head gets, (G, D')."""
        logits = self.head(vectors)
        return F.pad(logits, (1, 0)) if self.num_classes == 2 else logits  # σ(z) is softmax(0, z)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        graph: Tensor | None = None,
        count: int | None = None,
        edge_mask: Tensor | None = None,
    ) -> Tensor:
        """Logits (G, C).

        Args:
            x: (N, D). edge_index: (2, E).
            graph: (N,) the graph of each node; None: all are one graph.
            count: G, number of graphs; None: as many as `graph` names.
            edge_mask: (E,), a factor of the message of each edge.
        """
        if graph is None:
            graph = torch.zeros(len(x), dtype=torch.long, device=x.device)
            count = 1
        if count is None:
            count = int(graph.max()) + 1
        return self.logits_of(self.vectors(x, edge_index, graph, count, edge_mask))

    def predict(self, x: Data) -> Tensor:
        """Logits (G, C) of a union of graphs with `x`, `edge_index`, `batch` and `ptr`."""
        return self(x.x, x.edge_index, x.batch, len(x.ptr) - 1)

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """The likeliest class of each graph."""
        if isinstance(batch, BatchShard):
            return super().predict_step(batch, batch_idx)
        return self.predict(batch).argmax(-1)

    def judged(self, batch: Data) -> tuple[Tensor, Tensor | float]:
        """Logits (G, C) of a union, and what the training loss adds to their cross-entropy."""
        return self.predict(batch), 0.0

    def step(self, batch: Data, split: Split) -> Tensor:
        """Cross-entropy, in nats per graph, and what `judged` adds."""
        logits, more = self.judged(batch)  # (G, C)
        nll = F.cross_entropy(logits, batch.y, reduction="none")  # (G,)
        self.log_metric(split, "nll", nll)
        self.log_metric(split, "acc", logits, batch.y)
        return nll.mean() + more
