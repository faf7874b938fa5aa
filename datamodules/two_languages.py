"""Two "languages" with one alphabet: a text, and the same text backwards with its letters exchanged.

    second language: c_1 c_2 … c_n  ->  π(c_n) … π(c_2) π(c_1)

π permutes a to z, and A to Z alike; other characters stay. Both languages have the same entropy, and where a
text has all letters the same characters, so that no single one tells them apart: that takes the frequencies
of letters, or what follows what. Each split is turned on its own, so that no text of the test has been seen
in the other language.

Windows of the first language come before those of the second; a training epoch draws from both alike.

Shapes: a batch is tokens (B, T) and targets (B, T), int64, as of `text`.

References: [GM] 2.0.1 (one network for many languages, its "curse of multilinguality").
"""

import string
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from datamodules.base import within
from datamodules.text import Blocks, Text, Windows
from datamodules.tokenizer import ASCII, CharTokenizer, Tokenizer

LANGUAGES = 2


def exchange(seed: int = 0) -> dict[int, str]:
    """π as a table for `str.translate`; no letter stays what it was."""
    order = np.random.default_rng(seed).permutation(26)
    image = np.roll(order, 1)  # one cycle of 26 letters: none is its own image
    table = dict(zip(order.tolist(), image.tolist(), strict=True))
    return {
        ord(alphabet[i]): alphabet[j]
        for alphabet in (string.ascii_lowercase, string.ascii_uppercase)
        for i, j in table.items()
    }


def second_language(text: str, seed: int = 0) -> str:
    """The text backwards, its letters exchanged.

    Example:
        >>> len(second_language("for x in y:")), second_language("12 + 3")
        (11, '3 + 21')
    """
    return text[::-1].translate(exchange(seed))


class Both:
    """Windows of several texts, one text after the other."""

    tail = None  # windows that would be shorter are left out

    def __init__(self, parts: Sequence[Windows]) -> None:
        self.parts, self.context = parts, parts[0].context
        self.ends = torch.tensor([len(part) for part in parts]).cumsum(0)

    def __len__(self) -> int:
        return int(self.ends[-1])

    def languages(self, positions: Tensor) -> Tensor:
        """Which text each window is of: (B,) -> (B,)."""
        return torch.searchsorted(self.ends, positions, right=True)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        language = self.languages(positions)
        shape = (len(positions), self.context)
        tokens, targets = (torch.empty(shape, dtype=torch.int64) for _ in range(2))
        for i, part in enumerate(self.parts):
            mine = language == i
            first = int(self.ends[i]) - len(part)
            tokens[mine], targets[mine] = part[positions[mine] - first]
        return tokens, targets


class TwoLanguages(Text):
    """Characters of a corpus in two languages.

    Args:
        corpus: "pydocs" (embedded), "shakespeare", "multi30k", or the path of a UTF-8 text file.
        context: characters in a window.
        batch_size: windows per optimizer step over all processes together.
        seed: of the windows drawn in each epoch.
        windows_per_epoch: training windows in one epoch, of both languages together.
        cipher: seed of π.

    Raises:
        ValueError: an argument is out of range, or the corpus is unknown, unreadable or too short.
        MissingData: the corpus is not on disk and cannot be fetched.
    """

    def __init__(
        self,
        corpus: str = "pydocs",
        context: int = 64,
        batch_size: int = 32,
        seed: int = 0,
        windows_per_epoch: int = 3200,
        cipher: int = 0,
    ) -> None:
        super().__init__(corpus, "char", context, batch_size, seed, windows_per_epoch)
        within(0, 2**32 - 1, cipher=cipher)
        self.cipher = cipher

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The characters of both languages: a text may lack letters that the other has for its own."""
        if self.corpus == "pydocs":
            return CharTokenizer(ASCII)  # has all letters, and is the same under every version of Python
        return CharTokenizer(sorted({*self.text, *second_language(self.text, self.cipher)}))

    def _both(self, split: Literal["train", "val", "test"], kind: type[Windows]) -> Both:
        plain = self.split_text(split)
        ids = self._ids(split)
        turned = torch.tensor(self.tokenizer.encode(second_language(plain, self.cipher)), dtype=torch.int32)
        return Both([kind(ids, self.context), kind(turned, self.context)])

    def setup(self, stage: str | None = None) -> None:
        """Encode the splits that `stage` reads, in both languages."""
        if stage in (None, "fit", "validate") and not hasattr(self, "train_set"):
            self.train_set, self.val_set = self._both("train", Windows), self._both("val", Blocks)
        if stage in (None, "test", "predict") and not hasattr(self, "test_set"):
            self.test_set = self._both("test", Blocks)

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"name": "TwoLanguages", "languages": LANGUAGES, "cipher": self.cipher}
