"""Gain from a wider beam: likelier, shorter, or only more of the same.

References: Vijayakumar et al. 2016, arXiv:1610.02424; [UDL] §12.7.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from modules.base import NextToken
from modules.language.beam import Hypothesis, batched_beam_search
from modules.language.decoding import left_padded


@dataclass(frozen=True)
class Width:
    """Beams of one width, means over the beginnings.

    Attributes:
        log_prob: of the best text that the sum finds. better: how many beginnings end no worse than with
            the next narrower beam. length, normalised: tokens of the best text with α = 0 and with α.
        beam, diverse: share of different pairs of tokens among the B texts of a beam, and among those of
            B diverse groups.
        texts, spread: behind each beginning the B texts of the beam, and those of the groups.
    """

    width: int
    log_prob: float
    better: int
    length: float
    normalised: float
    beam: float
    diverse: float
    texts: list[list[Hypothesis]]
    spread: list[list[Hypothesis]]


def pairs(results: Sequence[Hypothesis]) -> float:
    """Share of different pairs of neighbouring tokens among texts."""
    each = [pair for h in results for pair in zip(h.tokens, h.tokens[1:], strict=False)]
    return len(set(each)) / max(1, len(each))


def len_of(hypothesis: Hypothesis) -> int:
    """Tokens of a text, its end included."""
    return len(hypothesis.tokens)


SIZES = (1, 2, 4, 8)


def beams(
    model: NextToken, prompts: Sequence[Tensor], length: int, sizes: Sequence[int], eos: int | None = None
) -> dict[int, list[list[Hypothesis]]]:
    """Texts of the beam of each width behind each of `prompts` (T₀,), best first."""
    return {size: [r[:size] for r in search(model, prompts, length, size, eos)] for size in sizes}


def search(
    model: NextToken, prompts: Sequence[Tensor], length: int, width: int, eos: int | None, **options: Any
) -> list[list[Hypothesis]]:
    """Texts that a beam finds behind each of `prompts` (T₀,), which are searched together, best first."""
    tokens, padding = left_padded(prompts)
    return batched_beam_search(
        model, tokens, length, width, eos, padding=padding if padding.any() else None, **options
    )


def widening(
    model: NextToken,
    prompts: Sequence[Tensor],
    length: int,
    sizes: Sequence[int] = SIZES,
    eos: int | None = None,
    alpha: float = 1.0,
    strength: float = 1.0,
    known: Mapping[int, list[list[Hypothesis]]] | None = None,
) -> Iterator[tuple[float, list[Width]]]:
    """Beam search behind each of `prompts` (T₀,), at every width: the share done, and the widths that are
    searched.

    Args:
        known: the `beams`, where they are at hand: neither α nor the strength λ changes them.
    """
    rows: list[Width] = []
    before: list[float] | None = None
    n, most = len(prompts), max(sizes)
    done, work = most, most + sum(sizes)
    # a group heeds only those before it, so the first B groups are a search of B groups
    result = search(model, prompts, length, 1, eos, groups=most, strength=strength)
    spread = [[next(h for h in each if h.group == g) for g in range(most)] for each in result]
    yield done / work, []
    for size in sizes:
        groups = [result[:size] for result in spread]
        plain = beams(model, prompts, length, [size], eos)[size] if known is None else known[size]
        # texts that cannot end are all equally long: their lengths divide nothing apart
        normal = plain if eos is None else search(model, prompts, length, size, eos, alpha=alpha)
        done += size
        yield done / work, list(rows)
        best = [result[0].log_prob for result in plain]
        better = sum(b >= a - 1e-9 for a, b in zip(before or best, best, strict=True))
        short, long = (sum(len_of(result[0]) for result in each) / n for each in (plain, normal))
        same, apart = (sum(map(pairs, result)) / n for result in (plain, groups))
        rows.append(Width(size, sum(best) / n, better, short, long, same, apart, plain, groups))
        before = best
    yield 1.0, rows
