"""Text as pairs of a short context and the token after it, one pair a position.

    context = (t_{i−n+1}, …, t_{i−1})        target = t_i

Where a model sees a fixed number of tokens, this predicts every token of a split from its full
context, also at the evaluation (windows of `Text` would start anew and see less at their beginning).

Shapes: a batch is contexts (B, T) and targets (B,), int64, T = `context`.
"""

from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader

from datamodules.text import Text, Windows


class Pairs(Windows):
    """Positions (B,) are starts of contexts: contexts (B, T) and the next tokens (B,)."""

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        tokens, targets = super().__getitem__(positions)
        return tokens, targets[:, -1]


class Contexts(Text):
    """`Text` with `context` tokens before each target; arguments as there.

    Training draws `windows_per_epoch` of the positions anew each epoch; validation and test predict
    every token of their split but the first `context`.
    """

    def setup(self, stage: str | None = None) -> None:
        if stage in (None, "fit", "validate") and not hasattr(self, "train_set"):
            self.train_set = Pairs(self._ids("train"), self.context)
            self.val_set = Pairs(self._ids("val"), self.context)
        if stage in (None, "test", "predict") and not hasattr(self, "test_set"):
            self.test_set = Pairs(self._ids("test"), self.context)

    def _once(self, blocks: Any) -> DataLoader:
        return self.batches(blocks, shuffle=False)

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"name": "Contexts"}
