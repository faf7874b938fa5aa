"""Labelled texts of the gazette, for fine-tuning: opinions, names, and answers to questions.

Reviews     does the review recommend?                               one label for a text
Names       person, place, organisation or none?                     one label for each word
Questions   who, what, where or when, asked of one to three sales    first and last token of the answer

The texts share the vocabulary of `gazette`, so that one pre-trained encoder serves all of them. Every split
is its own draw; only `labels` of the training texts are used.

Shapes: a batch is tokens (B, T) and labels: (B,), (B, T) with −100 at special tokens, or (B, 2), all int64.
"""

from functools import cached_property
from random import Random
from typing import Any

import torch
from torch import Tensor

from datamodules import gazette
from datamodules.base import SPLITS, DataModule, TensorSplit, within
from datamodules.masking import UNSCORED
from datamodules.multi30k import padded
from datamodules.tokenizer import EncoderTokenizer


class Labelled(DataModule):
    """Base of the labelled data: a subclass draws rows of tokens and their labels in `draw`.

    Args:
        labels: texts of training.
        batch_size, seed: see `DataModule`; the seed also draws the training texts.
        num_val, num_test: texts, the same for every seed.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self, labels: int = 1_000, batch_size: int = 32, seed: int = 0, num_val: int = 500,
        num_test: int = 1_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        within(1, 10**6, labels=labels, num_val=num_val, num_test=num_test)
        self.counts = {"train": labels, "val": num_val, "test": num_test}

    @cached_property
    def tokenizer(self) -> EncoderTokenizer:
        return gazette.tokenizer()

    def draw(self, dice: Random) -> tuple[tuple[str, ...], Any]:
        """A text, or a question and its passage, and the label."""
        raise NotImplementedError

    def examples(self, split: str) -> list[tuple[tuple[str, ...], Any]]:
        """Texts of a split ("train", "val" or "test") and their labels."""
        dice = Random(1000 + SPLITS.index(split) if split != "train" else 2000 + self.seed)
        return [self.draw(dice) for _ in range(self.counts[split])]

    def labels_of(self, labels: list[Any], tokens: Tensor) -> Tensor:
        """Labels of all texts as a tensor."""
        return torch.tensor(labels)

    def _split(self, split: str) -> TensorSplit:
        texts, labels = zip(*self.examples(split), strict=True)
        rows = [self.tokenizer.encode_parts(*parts) for parts in texts]
        tokens, _ = padded(rows, EncoderTokenizer.PAD)
        return TensorSplit(tokens, self.labels_of(list(labels), tokens))

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": type(self).__name__,
            "splits": self.counts,
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }


class Reviews(Labelled):
    """Reviews with a negation or a contrast; 1 where they recommend. Arguments as of `Labelled`."""

    def draw(self, dice: Random) -> tuple[tuple[str, ...], int]:
        text, _, good = gazette.judged(dice)
        return (text,), int(good)


class Names(Labelled):
    """Sentences of the news; of each word its place in `gazette.TAGS`. Arguments as of `Labelled`."""

    def draw(self, dice: Random) -> tuple[tuple[str, ...], list[int]]:
        line, tags = gazette.named(dice)
        return (" ".join(line),), [gazette.TAGS.index(tag) for tag in tags]

    def labels_of(self, labels: list[list[int]], tokens: Tensor) -> Tensor:
        y = torch.full_like(tokens, UNSCORED)
        for row, tags in enumerate(labels):
            y[row, 1 : 1 + len(tags)] = torch.tensor(tags)  # <cls> first
        return y

    @property
    def sizes(self) -> dict[str, Any]:
        return {**super().sizes, "num_classes": len(gazette.TAGS)}


class Questions(Labelled):
    """Questions to one to three sales, each with one answer in them. Arguments as of `Labelled`."""

    def draw(self, dice: Random) -> tuple[tuple[str, ...], tuple[int, int]]:
        told = gazette.sales(dice, dice.randint(1, 3))
        at = dice.randrange(len(told))
        question, (start, end) = ask(dice, told[at])
        before = 2 + len(gazette.words(question)) + sum(len(sale.words) for sale in told[:at])
        passage = " ".join(word for sale in told for word in sale.words)
        return (question, passage), (before + start, before + end - 1)


def ask(dice: Random, sale: gazette.Sale) -> tuple[str, tuple[int, int]]:
    """A question, and the half-open span of its answer among the words of the sale."""
    base, present, past = sale.verb[:3]
    verb, do = (past, "did") if sale.past else (present, "does")
    be = "was" if sale.past else "is"
    n = len(sale.words)
    name = sale.time[1]
    return dice.choice(
        (
            (f"who {verb} the {sale.thing} ?", (name, name + 1)),
            (f"what {do} {sale.name} {base} ?", sale.what),
            (f"where {be} the {sale.thing} ?", (n - 2, n - 1)),  # … in PLACE .
            (f"when {do} {sale.name} {base} the {sale.thing} ?", sale.time),
        )
    )
