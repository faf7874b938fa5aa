"""Associative recall: pairs of a key and a value, then a key that is asked for.

    (k_1, v_1) … (k_n, v_n) (k_i, ?)  ->  v_i,     the keys of a sequence are different, values are drawn

A pair is one token that a model may embed as e_k + e_v; at the question stands the value `blank`. Guessing
is right once in as many times as there are values. What has to be kept grows with n: about
n (log₂ keys + log₂ values) bits, whatever is asked for in the end.

Shapes: tokens (B, n + 1, 2) int64, key and value of each; labels (B,) int64.

References: Ba et al. 2016, arXiv:1610.06258; Arora et al. 2023, arXiv:2312.04927 (linear attention).
"""

from typing import Any

import torch
from torch import Tensor

from datamodules.base import Drawn, within


class AssociativeRecall(Drawn):
    """Pairs, and a question.

    Args:
        pairs: n. keys: different keys, at least n. values: different values.
        batch_size, seed, num_train, num_val, num_test: see `datamodules.algorithmic.Copying`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, pairs: int = 8, keys: int = 64, values: int = 16, batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        within(1, 10_000, keys=keys)
        within(2, 10_000, values=values)
        within(1, keys, pairs=pairs)
        # the order of all keys is drawn for each sequence
        super().__init__(batch_size, seed, 2 * (pairs + 1) + keys, num_train, num_val, num_test)
        self.pairs, self.keys, self.values = pairs, keys, values

    @property
    def blank(self) -> int:
        """Value of the question."""
        return self.values

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        keys = torch.rand(count, self.keys, generator=generator).argsort(1)[:, : self.pairs]
        values = torch.randint(self.values, (count, self.pairs), generator=generator)
        asked = torch.randint(self.pairs, (count, 1), generator=generator)
        question = torch.stack([keys.gather(1, asked), torch.full_like(asked, self.blank)], dim=-1)
        tokens = torch.cat([torch.stack([keys, values], dim=-1), question], dim=1)  # (B, n + 1, 2)
        return tokens, values.gather(1, asked)[:, 0]

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": self.keys, "num_classes": self.values}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "AssociativeRecall",
            "pairs": self.pairs,
            "keys": self.keys,
            "values": self.values,
            "splits": self.counts,
            "seed": self.seed,
        }
