r"""Number of different things that a generator makes: look for two that are the same among n of its draws.

    P(two are the same) = 1 − Π (1 − i/N)          N equally likely things; unequal ones count as 1/Σp²
    N ≈ n (n − 1) / 2 / pairs                      from all pairs that are the same among n draws

Two pictures are the same where their distance in pixels is at most a share, the threshold, of the median
distance: at 0 only copies are. P is measured by dealing the DRAWS pictures in DEALS orders and
noting when the first two that are the same have come.

[UDL] §15's notes take more than half among 400 draws for a support near 400,000: at that N it is 18 %, and
half of it needs N ≤ 115,260. The estimate grows as n².

Shapes: pictures (DRAWS, H, W); T thresholds; pairs (P, 2) from the nearest on, their distances (P,).

References: Arora & Zhang 2017, arXiv:1706.08224; [UDL] §15 notes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lab import weights
from lab.experiments import ZOO
from lab.lenses import generated, stock
from modules.adversarial.metrics import nearest_pairs
from pages.adversarial.birthday.room import KNOWN, REAL, THRESHOLDS

DRAWS, DEALS = 400, 200
SHOWN = 6  # pairs
OPTIONS = ["below 50", "50 to 150", "above 150, or never among these"]


@dataclass(frozen=True)
class Found:
    """Pairs that are the same at one threshold.

    Attributes:
        pairs: that are the same. measured: (DRAWS,) P among the first 1, 2, … draws.
        support: the estimate of N, ∞ without a pair.
        sheet: (2 · SHOWN, H, W), the pairs just within the threshold; nothing where there are fewer.
        distances: of those pairs, in shares of the median.
    """

    pairs: int
    measured: Tensor
    support: float
    sheet: Tensor
    distances: list[float]


def training_digits() -> Tensor:
    """(N, 8, 8), 0 to 1."""
    return stock.digits("train")[0][:, 0]


def drawn(source: str | Path, size: int = 0, seed: int = 0) -> Tensor:
    """DRAWS pictures of a trained generator by its folder or name, of REAL without repeats, or of KNOWN with
    repeats among `size` digits."""
    if source in (REAL, KNOWN):
        *_, (_, pictures) = drawing(source, None, size, seed)
    else:
        *_, (_, pictures) = drawing(weights.load(source), weights.read_card(ZOO / source), size, seed)
    return pictures


def drawing(
    model: Any, card: Mapping[str, Any] | None, size: int, seed: int, portion: int | None = None
) -> Iterator[tuple[float, Tensor]]:
    """The same bit by bit where it takes long: the share done, and the pictures as far as they are."""
    if card is None:
        generator = torch.Generator().manual_seed(seed)
        digits = training_digits()
        digits = digits[torch.randperm(len(digits), generator=generator)]
        rows = torch.arange(DRAWS)
        if model == KNOWN:
            rows = torch.randint(min(size, len(digits)), (DRAWS,), generator=generator)
        yield 1.0, digits[rows]
        return
    for share, x in generated.drawn(model, DRAWS, seed, portion):
        yield share, generated.ink(card, x)


def probability(support: float) -> Tensor:
    """P that two of n draws are the same, for n = 1 … DRAWS: (DRAWS,)."""
    before = torch.arange(DRAWS, dtype=torch.float64) / support  # i/N
    return 1 - (1 - before).clamp(min=0).log().cumsum(0).exp()


def dealt(pairs: Tensor, seed: int = 0) -> Tensor:
    """P that two of the first n are among `pairs` (P, 2), n = 1 … DRAWS, over DEALS orders: (DRAWS,)."""
    if not len(pairs):
        return torch.zeros(DRAWS, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    first = []
    for _ in range(DEALS):
        place = torch.randperm(DRAWS, generator=generator)
        first.append(place[pairs].amax(1).min())  # when the later one of the earliest pair has come
    return torch.stack(first).bincount(minlength=DRAWS).cumsum(0).double() / DEALS


def story(pictures: Tensor) -> list[Found]:
    """Pairs that are the same at each of THRESHOLDS."""
    pairs, distances = nearest_pairs(pictures.flatten(1), DRAWS * (DRAWS - 1) // 2)
    shares = distances / distances.median()
    results = []
    for threshold in THRESHOLDS:
        count = int((shares <= threshold + 1e-6).sum())
        last = slice(max(0, count - SHOWN), count)
        sheet = torch.full((2 * SHOWN, *pictures.shape[1:]), torch.nan)
        chosen = pictures[pairs[last].flatten()]  # first and second of a pair in turn
        sheet[: len(chosen)] = chosen
        support = len(pairs) / count if count else float("inf")
        results.append(Found(count, dealt(pairs[:count]), support, sheet, shares[last].tolist()))
    return results


def telling(
    model: Any, model_card: Mapping[str, Any] | None, size: int, seed: int
) -> Iterator[tuple[float, list[Found]]]:
    """The share of the pictures that is drawn, and at last their `story`."""
    for share, pictures in drawing(model, model_card, size, seed):
        yield share, story(pictures) if share == 1 else []


def of_digits() -> list[Found]:
    """The story of training digits."""
    return story(drawn(REAL))


def half(measured: Tensor) -> int | None:
    """The fewest draws with two that are the same at least half of the time; None if it takes more."""
    enough = (measured >= 0.5).nonzero()
    return int(enough[0]) + 1 if len(enough) else None


def captions(result: list[Found]) -> list[str]:
    """A sentence for every threshold."""
    texts = []
    for threshold, one in zip(THRESHOLDS, result, strict=True):
        many = half(one.measured)
        texts.append(
            f"{one.pairs:,} pairs among {DRAWS} samples are within {threshold:g} of the median distance; "
            + (f"two of {many} are, with probability one half." if many else "P stays below one half.")
        )
    return texts


def equations(result: list[Found]) -> list[str]:
    """The estimate of the support, LaTeX."""
    every = DRAWS * (DRAWS - 1) // 2
    return [
        rf"N\approx\frac{{{every}}}{{{one.pairs}}}={one.support:.1f}"
        if one.pairs
        else rf"0\text{{ of }}{every}\text{{ pairs are duplicates}}"
        for one in result
    ]


def answer(one: Found) -> str:
    """The right one of OPTIONS."""
    many = half(one.measured)
    return OPTIONS[2] if many is None or many > 150 else OPTIONS[0] if many < 50 else OPTIONS[1]
