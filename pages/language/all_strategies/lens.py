"""All strategies side by side, and people beside them.

    surprisal   mean of −log P(token) under the model as it is, before any filter
    distinct    share of different sequences of 8 tokens, over all texts of a strategy; loops bring it to 0
    known       share of the words, apart by spaces, that occur in the training text

`R` texts of a strategy, `T` new tokens, `V` vocabulary.

Reference: Holtzman et al. 2019, arXiv:1904.09751.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from threading import Lock

import torch
from torch import Tensor

from datamodules.tokenizer import Tokenizer
from lab.lenses import strategies
from lab.lenses.strategies import GRAM, continuing, last, scoring
from modules.base import NextToken
from modules.language.truncation import SamplingParams

HUMAN = "people"


TEXTS = 3  # of each strategy
LONGEST = 2000  # tokens that a text may have


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
    results = [word for text in texts for word in text.split()[1:-1]]
    return sum(word in vocabulary for word in results) / max(1, len(results))


def distinct(tokens: Tensor, n: int = GRAM) -> float:
    """Share of different sequences of n tokens in texts (R, T)."""
    grams = tokens.unfold(1, n, 1).reshape(-1, n)
    return len(set(map(tuple, grams.tolist()))) / len(grams)


@dataclass(eq=False)
class Pen:
    """Writes R texts by each of STRATEGIES behind one prompt, and goes on where it stopped when longer ones
    are asked for: what is written stays, since a longer draw begins with the shorter one of the same seed.

    Attributes:
        prompt: (T₀,). texts: R.
    """

    model: NextToken
    prompt: Tensor
    texts: int = TEXTS
    seed: int = 0

    def __post_init__(self) -> None:
        prefix = self.prompt.expand(len(STRATEGIES), self.texts, -1)
        self.stream = continuing(self.model, prefix, LONGEST, list(STRATEGIES.values()), self.seed)
        self.written = prefix[..., :0], torch.zeros(len(STRATEGIES), self.texts, 0)
        self.lock = Lock()  # readers share what is written

    @property
    def done(self) -> int:
        """Number of tokens of each text that are written."""
        return self.written[0].shape[-1]

    def first(self, length: int) -> tuple[Tensor, Tensor]:
        """The first `length` tokens of all texts (S, R, length), and −log P of each under the model."""
        with self.lock:
            while self.done < length:
                self.written = next(self.stream)
            tokens, nats = self.written
        return tokens[..., :length], nats[..., :length]


def quick(pen: Pen, length: int) -> bool:
    """Check whether texts of `length` tokens are written in about a second: by `strategies.quick`, what is
    still to write."""
    return strategies.quick(pen.model, length - pen.done)


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
    _, result = last(writing(Pen(model, prompt, texts, seed), length, human))
    assert result is not None
    return measure(coder, *result, vocabulary)


def writing(
    pen: Pen, length: int, human: Tensor | None = None
) -> Iterator[tuple[float, tuple[Tensor, Tensor] | None]]:
    """`compare` as it goes: the share done, and tokens (S, R, t) with their surprisal (S, R, t) so far; None
    while the text of people is read."""
    given, paid = torch.zeros(0), torch.zeros(0)
    if human is not None:
        given = human[: pen.texts * (len(pen.prompt) + length)].reshape(pen.texts, -1)
        for paid in scoring(pen.model, given, len(pen.prompt)):
            yield 0.1 * paid.shape[1] / length, None
        given = given[:, len(pen.prompt) :]
    for t in range(1, length + 1):
        tokens, nats = pen.first(t)
        if human is not None:
            tokens, nats = torch.cat([tokens, given[None, :, :t]]), torch.cat([nats, paid[None, :, :t]])
        yield 0.1 + 0.9 * t / length, (tokens, nats)


def measure(
    coder: Tokenizer, tokens: Tensor, nats: Tensor, vocabulary: Set[str] | None
) -> dict[str, Measured]:
    """The measures of texts (S, R, t): by strategy, and of people where they are one more."""
    results = {}
    for name, rows, cost in zip([*STRATEGIES, HUMAN], tokens, nats, strict=False):
        share = known([coder.decode(row) for row in rows], vocabulary) if vocabulary else None
        results[name] = Measured(rows, float(cost.mean()), distinct(rows), share)
    return results


def frames(length: int, most: int = 20) -> list[int]:
    """After how many tokens the texts are looked at: at most so many times, from the first 8-grams on."""
    return sorted({round(float(t)) for t in torch.linspace(min(2 * GRAM, length), length, most)})


def story(
    coder: Tokenizer, tokens: Tensor, nats: Tensor, vocabulary: Set[str] | None
) -> list[dict[str, Measured]]:
    """Measures after each of `frames` tokens."""
    return [measure(coder, tokens[..., :t], nats[..., :t], vocabulary) for t in frames(tokens.shape[-1])]


def comparison(result: Mapping[str, Measured]) -> str:
    """Sentences on who repeats more than people and surprises the model less, and who the other way round."""
    if HUMAN not in result:
        low = min(result, key=lambda how: result[how].distinct)
        return f"Of all strategies {low} repeats itself most."
    people = result[HUMAN]
    less = [how for how, one in result.items() if one.nats < people.nats and how != HUMAN]
    more = [how for how, one in result.items() if one.distinct < people.distinct]
    return (
        f"Less surprising than people ({people.nats:.2f} nats): {listed(less)}. "
        f"More repetitive than people ({people.distinct:.2f} of the 8-grams differ): {listed(more)}."
    )


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return ", ".join(names) if names else "none"
