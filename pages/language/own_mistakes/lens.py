"""Growth of the cost of own mistakes with the length of the text.

Reference: Ranzato et al. 2015, arXiv:1511.06732 (exposure bias).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.strategies import continuing, last, scoring
from modules.base import NextToken
from modules.language.truncation import SamplingParams


@dataclass(frozen=True)
class Drift:
    """Surprisal of a judge at the t-th token, when the t before were true and when they were the model's.

    Attributes:
        true, own: (T,), means over R texts, nats. gap: (R, T), own − true of each text.
    """

    true: Tensor
    own: Tensor
    gap: Tensor

    @property
    def error(self) -> Tensor:
        """Standard error of own − true at each position, (T,)."""
        return self.gap.std(0) / len(self.gap) ** 0.5

    def growth(self) -> tuple[float, float]:
        """own − true, the last third of the positions less the first third, and its standard error: the
        tokens of one text hang together, so that each text counts as one draw."""
        third = self.gap.shape[1] // 3
        grown = self.gap[:, -third:].mean(1) - self.gap[:, :third].mean(1)  # (R,)
        return float(grown.mean()), float(grown.std() / len(grown) ** 0.5)

    @property
    def is_significant(self) -> bool:
        """The growth can be told from none: it lies two standard errors away from 0, or more."""
        growth, error = self.growth()
        return abs(growth) >= 2 * error


def drift(
    writer: NextToken, judge: NextToken, text: Tensor, start: int, length: int, texts: int, seed: int = 0
) -> Drift:
    """Let `writer` go on behind `texts` places of a true text (N,) and ask `judge` about every token.

    Args:
        start: true tokens before each place. length: T.

    Raises:
        ValueError: the text is too short.
    """
    _, result = last(drifting(writer, judge, text, start, length, texts, seed))
    assert result is not None
    return result


def drifting(
    writer: NextToken, judge: NextToken, text: Tensor, start: int, length: int, texts: int, seed: int = 0
) -> Iterator[tuple[float, Drift | None]]:
    """`drift` as it goes: the share done, and what is judged so far; None while the writer writes."""
    if len(text) < texts + start + length:
        raise ValueError(f"The text has {len(text)} tokens: {texts} places of {start + length} do not fit.")
    places = torch.linspace(0, len(text) - start - length, texts).long()
    windows = text[places[:, None] + torch.arange(start + length)]  # (R, T₀ + T)
    prefix, true = windows[None, :, :start], windows[:, start:]
    work, own = 3 * length, true
    for t, (tokens, _) in enumerate(continuing(writer, prefix, length, [SamplingParams()], seed), start=1):
        own = tokens[0]
        yield t / work, None
    both = torch.cat([windows, torch.cat([windows[:, :start], own], 1)])  # (2R, T₀ + T)
    for paid in scoring(judge, both, start):
        nats = paid.unflatten(0, (2, texts))
        share = (length + 2 * paid.shape[1]) / work
        yield share, Drift(nats[0].mean(0), nats[1].mean(0), nats[1] - nats[0])
