"""All strategies side by side, and people beside them.

    surprisal   mean of −log P(token) under the model as it is, before any filter
    distinct    share of different sequences of 8 tokens, over all texts of a strategy; loops bring it to 0
    known       share of the words, apart by spaces, that occur in the training text

`R` texts of a strategy, `T` new tokens, `V` vocabulary.

Reference: Holtzman et al. 2019, arXiv:1904.09751.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.tokenizer import Tokenizer
from lab.lenses.strategies import GRAM, continuing, last
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
    return len(set(map(tuple, grams.tolist()))) / len(grams)


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
    _, (tokens, nats) = last(writing(model, prompt, length, texts, human, seed))
    return measure(coder, tokens, nats, vocabulary)


def writing(
    model: NextToken, prompt: Tensor, length: int, texts: int, human: Tensor | None, seed: int
) -> Iterator[tuple[float, tuple[Tensor, Tensor]]]:
    """`compare` as it goes: the share done, and tokens (S, R, t) with their surprisal (S, R, t) so far."""
    how = list[SamplingParams | Tensor](STRATEGIES.values())
    prefix = prompt.expand(len(how), texts, -1)
    if human is not None:
        given = human[: texts * (len(prompt) + length)].reshape(texts, -1)
        how = [*how, given[:, len(prompt) :]]
        prefix = torch.cat([prefix, given[None, :, : len(prompt)]])
    for t, found in enumerate(continuing(model, prefix, length, how, seed), start=1):
        yield t / length, found


def measure(
    coder: Tokenizer, tokens: Tensor, nats: Tensor, vocabulary: Set[str] | None
) -> dict[str, Measured]:
    """The measures of texts (S, R, t): by strategy, and of people where they are one more."""
    found = {}
    for name, rows, cost in zip([*STRATEGIES, HUMAN], tokens, nats, strict=False):
        share = known([coder.decode(row) for row in rows], vocabulary) if vocabulary else None
        found[name] = Measured(rows, float(cost.mean()), distinct(rows), share)
    return found


def frames(length: int, most: int = 20) -> list[int]:
    """After how many tokens the texts are looked at: at most so many times, from the first 8-grams on."""
    return sorted({round(float(t)) for t in torch.linspace(min(2 * GRAM, length), length, most)})


def story(
    coder: Tokenizer, tokens: Tensor, nats: Tensor, vocabulary: Set[str] | None
) -> list[dict[str, Measured]]:
    """What is measured after each of `frames` tokens."""
    return [measure(coder, tokens[..., :t], nats[..., :t], vocabulary) for t in frames(tokens.shape[-1])]


def told(found: Mapping[str, Measured]) -> str:
    """Who repeats more than people and surprises the model less, and who the other way round."""
    if HUMAN not in found:
        low = min(found, key=lambda how: found[how].distinct)
        return f"Of all strategies {low} repeats itself most."
    people = found[HUMAN]
    less = [how for how, one in found.items() if one.nats < people.nats and how != HUMAN]
    more = [how for how, one in found.items() if one.distinct < people.distinct]
    return (
        f"Less surprising than people ({people.nats:.2f} nats): {listed(less)}. "
        f"More repetitive than people ({people.distinct:.2f} of the 8-grams differ): {listed(more)}."
    )


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return ", ".join(names) if names else "none"
