"""One n-gram model per vocabulary: what a number per token tells, and what it does not.

    bits per byte = nats per token / ln 2 / bytes per token

The same text has fewer tokens under a larger vocabulary, so that each is harder to guess: perplexity
per token rises, while bits per byte tell which model knows the text better.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from datamodules import pydocs
from datamodules.tokenizer import BPETokenizer, ByteTokenizer, Tokenizer
from modules.language.information import LN2
from modules.language.ngram import NGram

SIZES = (256, 356, 500, 756, 1000, 1256, 2000, 2256)
TRAIN, TEST = 200_000, 20_000  # characters of the embedded corpus


@dataclass(frozen=True)
class Counted:
    """n-gram models of the orders 1 … n over one vocabulary.

    Attributes:
        vocabulary: how many tokens there are. tokens: of the training text.
        bytes_per_token: of the training text; `test_bytes_per_token` of the test text.
        nll: nats per token of the test text, by order from 1.
    """

    vocabulary: int
    tokens: int
    bytes_per_token: float
    test_bytes_per_token: float
    nll: list[float]

    def perplexity(self, order: int) -> float:
        """Per token."""
        return math.exp(self.nll[order - 1])

    def bits_per_byte(self, order: int) -> float:
        return self.nll[order - 1] / LN2 / self.test_bytes_per_token


def count(tokenizer: Tokenizer, training: str, test: str, order: int) -> Counted:
    """Count interpolated Kneser-Ney models of a training text and score a test text."""
    ids, unseen = (torch.tensor([tokenizer.encode(text)]) for text in (training, test))
    model = NGram(len(tokenizer), order)
    model.fit(ids)
    lower = [*(model.lower_order(n) for n in range(1, order)), model]
    nll = [-float(m.log_prob(unseen)) / unseen.shape[1] for m in lower]
    sizes = [len(text.encode()) / len(result[0]) for text, result in ((training, ids), (test, unseen))]
    return Counted(len(tokenizer), ids.shape[1], sizes[0], sizes[1], nll)


def comparing(
    training: str,
    test: str,
    sizes: Sequence[int] = SIZES,
    order: int = 4,
    largest: Callable[[], BPETokenizer] | None = None,
    counted: Callable[[int], Counted] | None = None,
) -> Iterator[tuple[float, list[Counted]]]:
    """The same text over bytes (256) and byte pairs, all vocabularies beginnings of the largest: the share
    done, and what is counted so far.

    Args:
        largest, counted: where the largest vocabulary and what is counted with the first so many of its
            tokens are kept; else both are made here.
    """
    results: list[Counted] = []
    yield 0.0, results
    coder = BPETokenizer.train(training, max(sizes)) if largest is None else largest()
    sizes = sorted({min(size, len(coder)) for size in sizes})
    for size in sizes:
        one = count(first(coder, size), training, test, order) if counted is None else counted(size)
        results = [*results, one]
        yield len(results) / len(sizes), results


def first(largest: BPETokenizer, size: int) -> Tokenizer:
    """The vocabulary of its first tokens, of bytes alone where these are 256."""
    return ByteTokenizer() if size == 256 else largest.first(size)


def embedded() -> tuple[str, str]:
    """A training and a test text from the Python documentation, one behind the other."""
    text = pydocs.text()
    return text[:TRAIN], text[TRAIN : TRAIN + TEST]


def shipped(card: Mapping[str, Any]) -> dict[str, Any] | None:
    """Vocabulary, order, perplexity and bits per byte of a card's test text; None if it has not all."""
    try:
        nll, width = card["metrics"]["test/nll"], card["data"]["bytes_per_token"]["test"]
        arguments = card["config"]["model"]["init_args"]
        size, order = arguments["vocab_size"], arguments["order"]
    except KeyError:
        return None
    return {
        "vocabulary": size, "order": order, "bytes per token": width, "perplexity": math.exp(nll),
        "bits per byte": nll / LN2 / width,
    }  # fmt: skip
