"""Classifiers of the nodes of one graph: all nodes propagate, the loss is over the labelled ones.

Learning is transductive: unlabelled nodes, those of the test too, send messages while the weights are
learned. The weights are nevertheless a rule, and serve nodes that come later, where the text asks for new
training.

Shapes: x (N, D), `edge_index` (2, E), logits (N, C).

References: [UDL] §13.6-13.7.
"""

from typing import Any

import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data
from torchmetrics.classification import MulticlassAccuracy

from modules.base import BatchShard, Mean, Module, Split, require


class NodeClassifier(Module):
    """Base of the networks that give logits of all nodes; a subclass gives `forward`.

    Measures `nll` (nats per labelled node) and `acc`.

    Args:
        num_classes: C.
    """

    def __init__(self, num_classes: int, **training: Any) -> None:
        require(1, num_classes=num_classes)
        accuracy = MulticlassAccuracy(num_classes, average="micro", validate_args=False)
        super().__init__(_measures={"nll": Mean(), "acc": accuracy}, **training)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits (N, C) of x (N, D) on the graph edge_index (2, E)."""
        raise NotImplementedError

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
