"""Lines of a text, letter by letter: each in small letters and spaces, and a mark that ends it.

What is no letter becomes one space (`datamodules.letters.spelled`). Lines of fewer than `min_length` letters
are left out; of longer ones than T letters the first T are read, without an end. Lines stay in the order of
the corpus: training is what comes first, then validation, then test.

Shapes: a batch is x (B, T) int64, 0 the space, 1 … 26 the letters, 27 the end and all that comes behind it.
"""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from datamodules import letters
from datamodules.base import MOST, SPLITS, DataModule, TensorSplit, within
from datamodules.tokenizer import CharTokenizer

ALPHABET = letters.ALPHABET + "\n"
END = len(ALPHABET) - 1


def tokens(lines: list[str], length: int) -> Tensor:
    """Lines of 27 symbols as (N, length) int64: cut there, or ended and filled with ends."""
    x = torch.full((len(lines), length), END)
    for row, line in zip(x, lines, strict=True):
        result = letters.numbers(line[:length])
        row[: len(result)] = result
    return x


class Lines(DataModule):
    """Args:
        corpus: "pydocs" (embedded) or "shakespeare".
        length: T, the most letters that are read of a line.
        min_length: letters that a line has at least.
        num_val, num_test: lines in these splits, the last of the corpus; training is the rest.
        batch_size, seed: see `DataModule`.

    Raises:
        ValueError: an argument is out of range, or the corpus has too few lines.
        MissingData: tiny Shakespeare is not on disk and cannot be fetched.
    """

    def __init__(
        self, corpus: str = "pydocs", length: int = 40, min_length: int = 10, num_val: int = 1000,
        num_test: int = 2000, batch_size: int = 64, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        letters.known(corpus)
        within(1, 10_000, length=length, min_length=min_length)
        within(1, MOST // length, num_val=num_val, num_test=num_test)
        self.corpus, self.length, self.min_length = corpus, length, min_length
        self.num_val, self.num_test = num_val, num_test
        self.embedded = corpus == "pydocs"

    def prepare_data(self) -> None:
        letters.prepare(self.corpus)

    @cached_property
    def lines(self) -> list[str]:
        """Lines that are long enough, in 27 symbols."""
        results = [letters.spelled(line).strip() for line in letters.text_of(self.corpus).splitlines()]
        results = [line for line in results if len(line) >= self.min_length]
        if len(results) <= self.num_val + self.num_test:
            raise ValueError(f"{self.corpus} has {len(results):,} such lines: hold fewer of them out.")
        return results

    @property
    def counts(self) -> dict[str, int]:
        held = {"val": self.num_val, "test": self.num_test}
        return {"train": len(self.lines) - sum(held.values())} | held

    def _split(self, split: str) -> TensorSplit:
        first = sum(self.counts[s] for s in SPLITS[: SPLITS.index(split)])
        return TensorSplit(tokens(self.lines[first : first + self.counts[split]], self.length))

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (self.length,), "vocab_size": len(ALPHABET)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": type(self).__name__,
            "corpus": self.corpus,
            "kind": f"lines of {self.length} letters",
            "length": self.length,
            "splits": self.counts,
            "tokenizer": CharTokenizer(ALPHABET).to_dict(),
        }
