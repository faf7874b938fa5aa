"""Effect of leaving rare words out of the vocabulary on perplexity: the same model, counted anew."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import pydocs
from datamodules.tokenizer import WordTokenizer
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
    # The most frequent words have the lowest numbers: a smaller vocabulary is the beginning of a larger one.
    coder = WordTokenizer.train(training)
    written, asked = (framed([coder.encode(line) for line in lines]) for lines in (training, test))
    times = torch.bincount(written[0].flatten(), minlength=len(coder))[len(coder.SPECIAL) :]
    sizes = {n: len(coder.SPECIAL) + int((times >= n).sum()) for n in min_counts if (times >= n).any()}
    words = asked[1] >= coder.UNKNOWN  # not the ends, nor what is behind them
    common = (asked[1] > coder.UNKNOWN) & (asked[1] < min(sizes.values()))
    rows = []
    for least, size in sizes.items():
        model = NGram(size, order, bos=coder.BOS, eos=coder.EOS)
        model.count(limited(written, size))
        tokens, targets = limited(asked, size)
        nats = -model.token_log_probs(tokens, targets)  # (N, T)
        unknown = float((targets[words] == coder.UNKNOWN).double().mean())
        perplexity, of_common = (math.exp(nats[chosen].mean()) for chosen in (targets >= 0, common))
        rows.append(Rare(least, size - len(coder.SPECIAL), unknown, perplexity, of_common))
    return rows


def limited(batch: tuple[Tensor, Tensor], size: int) -> tuple[Tensor, Tensor]:
    """Tokens and targets as a vocabulary of the first `size` tokens spells them."""
    tokens, targets = (ids.where(ids < size, WordTokenizer.UNKNOWN) for ids in batch)
    return tokens, targets


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
