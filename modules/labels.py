"""Loss and measures of models that label: one label for an example, or one for each of its tokens."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from modules.base import Mean, Module, Split

UNSCORED = -100  # a label that is not asked for: of padding, say


class Labels(Module):
    """Base of the models that label: a subclass gives logits in `predict`.

    Measures `nll` (nats per label) and `acc` (share of right labels), both of labels that are scored.

    Args:
        training: optimizer and scheduler, see `Module`.
    """

    def __init__(self, **training: Any) -> None:
        super().__init__(_measures={"nll": Mean(), "acc": Mean()}, **training)

    def predict(self, x: Tensor) -> Tensor:
        """Logits (B, K) or (B, T, K) of inputs x (B, ...)."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        return self.predict(x)

    def loss_terms(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        return (batch[1] != UNSCORED).sum()

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, y = batch  # (B, ...), (B,) or (B, T)
        scored = y != UNSCORED
        logits, y = self.predict(x)[scored], y[scored]  # (N, K), (N,)
        nll = F.cross_entropy(logits, y, reduction="none")
        self.log_metric(split, "nll", nll.detach())
        self.log_metric(split, "acc", (logits.argmax(-1) == y).to(nll.dtype))
        return nll.sum() / max(len(nll), 1)
