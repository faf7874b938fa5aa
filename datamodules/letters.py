"""Letters: a text of 27 symbols, the small letters and the space, cut into sequences.

Everything that is no letter becomes one space, so that what is left is how words are spelled: a hidden Markov
model of two states finds vowels and consonants in it (Cave, Neuwirth 1980).

Shapes: a batch is x (B, T) int64, 0 the space and 1 … 26 the letters.
"""

import re
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from datamodules import fetch, pydocs
from datamodules.base import SPLITS, DataModule, TensorSplit, within
from datamodules.tokenizer import CharTokenizer

ALPHABET = " abcdefghijklmnopqrstuvwxyz"


def spelled(text: str) -> str:
    """The text in 27 symbols: "It's 5 p.m." becomes "it s p m "."""
    return re.sub("[^a-z]+", " ", text.lower())


def numbers(text: str) -> Tensor:
    """A text of 27 symbols as (T,) int64."""
    return torch.tensor([ALPHABET.index(letter) for letter in spelled(text)], dtype=torch.int64)


def known(corpus: str) -> None:
    """Raises:
    ValueError: there is no such corpus.
    """
    if corpus not in ("pydocs", "shakespeare"):
        raise ValueError(f"corpus is {corpus!r}: it must be pydocs or shakespeare.")


def prepare(corpus: str) -> None:
    """Fetch what `text_of` reads, where it is not embedded."""
    if corpus == "shakespeare":
        fetch.fetch("tinyshakespeare")


def text_of(corpus: str) -> str:
    """A whole corpus.

    Raises:
        MissingData: tiny Shakespeare is not on disk and cannot be fetched.
    """
    if corpus == "pydocs":
        return pydocs.text()
    source = fetch.SOURCES["tinyshakespeare"]
    return fetch.content(source, source.files[0]).decode()


class Letters(DataModule):
    """The beginning of a corpus, in sequences of `length`; validation and test come after training.

    Args:
        corpus: "pydocs" (embedded) or "shakespeare".
        length: T.
        num_train, num_val, num_test: sequences in each split.
        batch_size, seed: see `DataModule`.

    Raises:
        ValueError: an argument is out of range, or the corpus is too short.
        MissingData: tiny Shakespeare is not on disk and cannot be fetched.
    """

    def __init__(
        self, corpus: str = "pydocs", length: int = 200, num_train: int = 100, num_val: int = 50,
        num_test: int = 100, batch_size: int = 100, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        known(corpus)
        within(2, 10_000, length=length)
        within(1, 10_000, num_train=num_train, num_val=num_val, num_test=num_test)
        self.corpus, self.length = corpus, length
        self.counts = {"train": num_train, "val": num_val, "test": num_test}
        self.embedded = corpus == "pydocs"

    def prepare_data(self) -> None:
        prepare(self.corpus)

    @cached_property
    def text(self) -> str:
        """As much of the corpus as the splits need."""
        text = text_of(self.corpus)
        needed = sum(self.counts.values()) * self.length
        result = spelled(text[: 3 * needed])  # of runs of other characters one is left
        if len(result) < needed:
            result = spelled(text)
        if len(result) < needed:
            raise ValueError(
                f"{self.corpus} has {len(result):,} letters, {needed:,} are asked for: take fewer."
            )
        return result[:needed]

    def _split(self, split: str) -> TensorSplit:
        first = sum(self.counts[s] for s in SPLITS[: SPLITS.index(split)]) * self.length
        count = self.counts[split]
        return TensorSplit(
            numbers(self.text[first : first + count * self.length]).reshape(count, self.length)
        )

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (self.length,), "vocab_size": len(ALPHABET)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": type(self).__name__,
            "corpus": self.corpus,
            "kind": "27 letters",
            "length": self.length,
            "splits": self.counts,
            "tokenizer": CharTokenizer(ALPHABET).to_dict(),
        }
