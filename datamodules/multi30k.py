"""Sentences of Multi30k, in English: captions of photographs (Elliott et al. 2016, arXiv:1605.00459).

Their translations into German and French are read here too; `translation` makes pairs of them.

29,000 sentences for training, 1,014 for validation, 1,000 for test (2016, Flickr), official splits. Words
are in lower case, punctuation marks are words; rarer ones than `min_count` in training are <unk>.

Shapes: a batch is tokens and targets (B, T) int64, T the longest sentence of the batch plus one:

    tokens   <bos> w_1 … w_m  <bos> <bos> …         targets   w_1 … w_m <eos>  -100 -100 …

or, for models that see a fixed number of words, contexts (B, T) and the words after them (B,):

    context  <bos> <bos> … w_{i−1}                  target    w_i, and <eos> behind the last
"""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from datamodules import fetch
from datamodules.base import MOST, DataModule, Split, TensorSplit, within
from datamodules.tokenizer import WordTokenizer

FILES = {"train": 0, "val": 1, "test": 2}


def fetch_language(language: str) -> None:
    """Make sure that the sentences of a language ("de", "en" or "fr") are on disk.

    Raises:
        MissingData: a file is not on disk and cannot be fetched.
    """
    fetch.fetch(_source(language))


def _source(language: str) -> str:
    return "multi30k" if language == "en" else f"multi30k-{language}"


def sentences(split: str, language: str = "en") -> list[str]:
    """The sentences of a split ("train", "val" or "test") as written, in "de", "en" or "fr".

    Line i of each language says the same.

    Raises:
        MissingData: the file is not on disk and cannot be fetched.
    """
    source = fetch.SOURCES[_source(language)]
    return fetch.content(source, source.files[FILES[split]]).decode().splitlines()


def padded(rows: list[list[int]], value: int) -> tuple[Tensor, Tensor]:
    """Rows as one tensor (N, T), filled up with `value`, and their lengths (N,)."""
    lengths = torch.tensor([len(row) for row in rows])
    table = torch.full((len(rows), int(lengths.max())), value)
    table[torch.arange(table.shape[1]) < lengths[:, None]] = torch.tensor([i for row in rows for i in row])
    return table, lengths


class Sentences:
    """Tokens and targets (N, T), padded; a batch is cut to its longest sentence."""

    def __init__(self, encoded: list[list[int]]) -> None:
        bos, eos = WordTokenizer.BOS, WordTokenizer.EOS
        self.tokens, self.lengths = padded([[bos, *sentence] for sentence in encoded], bos)
        self.targets, _ = padded([[*sentence, eos] for sentence in encoded], -100)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        longest = int(self.lengths[positions].max())
        return self.tokens[positions, :longest], self.targets[positions, :longest]


def contexts(encoded: list[list[int]], length: int) -> tuple[Tensor, Tensor]:
    """Tokens of sentences, each with the `length` before it: (N, T) and (N,); ends are predicted too."""
    rows, targets = [], []
    for sentence in encoded:
        line = [WordTokenizer.BOS] * length + [*sentence, WordTokenizer.EOS]
        rows += [line[i - length : i] for i in range(length, len(line))]
        targets += line[length:]
    return torch.tensor(rows), torch.tensor(targets)


class Multi30k(DataModule):
    """Sentences as words.

    Args:
        min_count: words seen more rarely in training are <unk>.
        batch_size: sentences, or contexts, per optimizer step over all processes together.
        seed: of the order of each epoch.
        context: T, words before each target; None gives whole sentences.

    Raises:
        ValueError: min_count or context is less than 1.
        MissingData: the files are not on disk and cannot be fetched.
    """

    def __init__(
        self, min_count: int = 2, batch_size: int = 64, seed: int = 0, context: int | None = None
    ) -> None:
        super().__init__(batch_size, seed)
        within(1, MOST, min_count=min_count)
        within(1, 1000, context=context)
        self.min_count, self.context = min_count, context

    def prepare_data(self) -> None:
        fetch.fetch("multi30k")

    @cached_property
    def tokenizer(self) -> WordTokenizer:
        """The words of the training split."""
        return WordTokenizer.train(sentences("train"), self.min_count)

    def _split(self, split: str) -> Split:
        encoded = [self.tokenizer.encode(sentence) for sentence in sentences(split)]
        return Sentences(encoded) if self.context is None else TensorSplit(*contexts(encoded, self.context))

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Multi30k",
            "corpus": "multi30k",
            "language": "en",
            "min_count": self.min_count,
            "splits": {"train": 29_000, "val": 1014, "test": 1000},
            "seed": self.seed,
            "context": self.context,
            "tokenizer": self.tokenizer.to_dict(),
        }
