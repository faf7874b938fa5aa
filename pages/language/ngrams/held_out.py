"""Counts of every order against a trained GPT, on one held-out text and in one unit: nats per character."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from datamodules.text import Text
from modules.language.ngram import NGram

MOST = 8  # the highest order that is counted
COUNTS, GPT = "ngram-shakespeare", "gpt-shakespeare"


def comparable(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Check whether two cards are of the same characters in the same splits."""
    same = all(one["data"][key] == other["data"][key] for key in ("sha256", "splits"))
    return same and all(card["data"]["tokenizer"]["kind"] == "char" for card in (one, other))


def splits() -> tuple[Tensor, Tensor, int]:
    """Characters of the training and of the test split of tiny Shakespeare, and how many kinds there are.

    Raises:
        MissingData: it is not on disk and cannot be fetched.
    """
    data = Text("shakespeare", "char", context=None)
    data.prepare_data()
    train, test = (torch.tensor(data.tokenizer.encode(data.split_text(s))) for s in ("train", "test"))
    return train, test, len(data.tokenizer)


def by_order(train: Tensor, test: Tensor, size: int, most: int = MOST) -> Iterator[tuple[float, list[float]]]:
    """Count n-grams of up to `most` characters of train (N,), read by Kneser-Ney at each order; yields the
    share done, and the nats per character of test (M,) for n = 1, 2, … so far. Its first is given."""
    model = NGram(size, most)
    yield 0.02, []
    model.fit(train[None])
    results: list[float] = []
    for order in range(1, most + 1):
        yield order / (most + 1), results
        lower = model.lower_order(order, smoothing="kneser-ney")
        results = [*results, -float(lower.token_log_probs(test[None, :-1], test[None, 1:]).mean())]
    yield 1.0, results
