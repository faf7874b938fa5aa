"""All strategies side by side, and people beside them.

    surprisal   mean of −log P(token) under the model as it is, before any filter
    distinct    share of different sequences of 8 tokens, over all texts of a strategy; loops bring it to 0
    known       share of the words, apart by spaces, that occur in the training text

`R` texts of a strategy, `T` new tokens, `V` vocabulary.

Reference: Holtzman et al. 2019, arXiv:1904.09751.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.tokenizer import Tokenizer
from lab.lenses.strategies import GRAM, continued
from modules.base import NextToken
from modules.language.truncation import SamplingParams

HUMAN = "people"


TEXTS = 3  # of each strategy


STRATEGIES: dict[str, SamplingParams] = {
    "greedy": SamplingParams(0.0), "temperature 0.5": SamplingParams(0.5),
    "ancestral": SamplingParams(), "temperature 1.5": SamplingParams(1.5),
    "top-k 3": SamplingParams(top_k=3), "top-k 10": SamplingParams(top_k=10),
    "nucleus 0.5": SamplingParams(top_p=0.5), "nucleus 0.9": SamplingParams(top_p=0.9),
    "nucleus 0.95": SamplingParams(top_p=0.95),
}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """R texts of one strategy.

    Attributes:
        tokens: (R, T). nats: their mean surprisal. distinct: share of different 8-grams.
        known: share of words found in training; None where there is no training text to look into.
    """

    tokens: Tensor
    nats: float
    distinct: float
    known: float | None


def known(texts: Sequence[str], vocabulary: Set[str]) -> float:
    """Share of the words of texts, apart by spaces, that lie in a vocabulary; the first and the last of
    each text, which may be cut, are left out."""
    found = [word for text in texts for word in text.split()[1:-1]]
    return sum(word in vocabulary for word in found) / max(1, len(found))


def distinct(tokens: Tensor, n: int = GRAM) -> float:
    """Share of different sequences of n tokens in texts (R, T)."""
    grams = tokens.unfold(1, n, 1).reshape(-1, n)
    return len(grams.unique(dim=0)) / len(grams)


def compare(
    model: NextToken,
    coder: Tokenizer,
    prompt: Tensor,
    length: int,
    texts: int = TEXTS,
    human: Tensor | None = None,
    vocabulary: Set[str] | None = None,
    seed: int = 0,
) -> dict[str, Measured]:
    """Every one of STRATEGIES behind `prompt` (T₀,), and text of people behind its own beginning.

    Args:
        human: at least texts · (T₀ + length) tokens that the model has not been trained on.
        vocabulary: the words of the training text.
    """
    names, how = list(STRATEGIES), list[SamplingParams | Tensor](STRATEGIES.values())
    prefix = prompt.expand(len(how), texts, -1)
    if human is not None:
        given = human[: texts * (len(prompt) + length)].reshape(texts, -1)
        names, how = [*names, HUMAN], [*how, given[:, len(prompt) :]]
        prefix = torch.cat([prefix, given[None, :, : len(prompt)]])
    tokens, nats = continued(model, prefix, length, how, seed)
    found = {}
    for name, rows, cost in zip(names, tokens, nats, strict=True):
        share = known([coder.decode(row) for row in rows], vocabulary) if vocabulary else None
        found[name] = Measured(rows, float(cost.mean()), distinct(rows), share)
    return found
