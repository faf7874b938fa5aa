"""Gain from a wider beam: likelier, shorter, or only more of the same.

References: Vijayakumar et al. 2016, arXiv:1610.02424; [UDL] §12.7.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from lab.lenses.strategies import Remembering
from modules.base import NextToken
from modules.language.beam import Hypothesis, beam_search, diverse_beam_search


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
    model = Remembering(model)
    return {size: [beam_search(model, p, length, size, eos)[:size] for p in prompts] for size in sizes}


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
    model = Remembering(model)
    rows: list[Width] = []
    before: list[float] | None = None
    n, most, spread = len(prompts), max(sizes), list[list[list[Hypothesis]]]()
    work, done = n * (most + sum(sizes)), 0
    for prompt in prompts:
        # a group heeds only those before it, so the first B groups are a search of B groups
        spread.append(diverse_beam_search(model, prompt, length, most, 1, strength, eos))
        done += most
        yield done / work, []
    for size in sizes:
        groups = [[group[0] for group in result[:size]] for result in spread]
        plain, normal = [] if known is None else known[size], []
        for i, prompt in enumerate(prompts):
            if known is None:
                plain.append(beam_search(model, prompt, length, size, eos)[:size])
            # texts that cannot end are all equally long: their lengths divide nothing apart
            normal.append(
                plain[i][0] if eos is None else beam_search(model, prompt, length, size, eos, alpha)[0]
            )
            done += size
            yield done / work, list(rows)
        best = [result[0].log_prob for result in plain]
        better = sum(b >= a - 1e-9 for a, b in zip(before or best, best, strict=True))
        short, long = (sum(map(len_of, result)) / n for result in ([p[0] for p in plain], normal))
        same, apart = (sum(map(pairs, result)) / n for result in (plain, groups))
        rows.append(Width(size, sum(best) / n, better, short, long, same, apart, plain, groups))
        before = best
    yield 1.0, rows
