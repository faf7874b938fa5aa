"""What leaving rare words out of the vocabulary does to perplexity: the same model, counted anew."""

import math
from collections import Counter
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import pydocs
from datamodules.tokenizer import WordTokenizer, words
from modules.language.ngram import NGram


@dataclass(frozen=True)
class Rare:
    """A word model whose vocabulary leaves rare words out.

    Attributes:
        min_count: occurrences that a word of the vocabulary has at least. vocabulary: words in it.
        unknown: share of the test text's words that are <unk>. perplexity: of the test text.
        known_perplexity: e to the mean surprisal at the words that every one of the models knows.
    """

    min_count: int
    vocabulary: int
    unknown: float
    perplexity: float
    known_perplexity: float


def inflation(
    training: list[str], test: list[str], min_counts: tuple[int, ...] = (1, 2, 3, 5, 10), order: int = 4
) -> list[Rare]:
    """Count the same Kneser-Ney model of sentences with smaller and smaller vocabularies.

    Counts that no word of the training text reaches are left out.
    """
    most = max(Counter(word for line in training for word in words(line)).values(), default=0)
    min_counts = tuple(n for n in min_counts if n <= most)
    smallest = set(WordTokenizer.train(training, max(min_counts)).tokens[len(WordTokenizer.SPECIAL) :])
    kept = [[word in smallest for word in words(line)] for line in test]
    rows = []
    for least in min_counts:
        coder = WordTokenizer.train(training, least)
        model = NGram(len(coder), order, bos=coder.BOS, eos=coder.EOS)
        model.count(framed([coder.encode(line) for line in training]))
        encoded = [coder.encode(line) for line in test]
        tokens, targets = framed(encoded)
        nats = -model.token_log_probs(tokens, targets)  # (N, T)
        common = torch.zeros_like(targets, dtype=torch.bool)
        for row, known in zip(common, kept, strict=True):
            row[: len(known)] = torch.tensor(known, dtype=torch.bool)
        unknown = sum(line.count(coder.UNKNOWN) for line in encoded) / sum(map(len, encoded))
        perplexity, of_common = (math.exp(nats[chosen].mean()) for chosen in (targets >= 0, common))
        rows.append(Rare(least, len(coder) - len(coder.SPECIAL), unknown, perplexity, of_common))
    return rows


def framed(encoded: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Sentences between begin and end as tokens and targets (N, T); −100 behind the end."""
    width = max(map(len, encoded)) + 1
    tokens = torch.full((len(encoded), width), WordTokenizer.BOS)
    targets = torch.full((len(encoded), width), -100)
    for i, ids in enumerate(encoded):
        tokens[i, 1 : len(ids) + 1] = torch.tensor(ids, dtype=torch.int64)
        targets[i, : len(ids) + 1] = torch.tensor([*ids, WordTokenizer.EOS])
    return tokens, targets


def split(text: str) -> tuple[list[str], list[str]]:
    """Own lines: every fourth for the test, the others for training (all, if there are fewer than four)."""
    lines = [line for line in text.splitlines() if line.strip()]
    return [line for i, line in enumerate(lines) if i % 4 or len(lines) < 4], lines[::4]


def lines_of_pydocs(characters: int = 300_000) -> tuple[list[str], list[str]]:
    """Lines of the Python documentation: nine of ten for training, every tenth for the test."""
    lines = [line for line in pydocs.text()[:characters].splitlines() if line.strip()]
    return [line for i, line in enumerate(lines) if i % 10], lines[::10]
