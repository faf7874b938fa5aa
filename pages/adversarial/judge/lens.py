"""Generators of small digits before the same judges, and what each judge does not see: their pictures are
spoiled more and more, by classes that go missing, by junk, by copies.

Shapes: pictures (N, 8, 8) of 0 and 1.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from datamodules.digits import Digits
from lab.experiments import Experiment
from lab.lenses import generated, stock, surfaces
from lab.lenses.verdicts import Known, Verdict, judge_all, look, pool
from modules.convolution.classifier import Classifier

SIDE = 8
SHARES = [round(0.1 * i, 1) for i in range(10)]
SHEET = 40  # pictures shown
LEAST = 50  # pictures that can be judged
Change = Literal["nothing", "classes missing", "junk", "copies"]
CHANGES: tuple[Change, ...] = get_args(Change)


def accuracy(network: Classifier) -> float:
    """Of the network on held-out digits made black and white, on which it was not trained."""
    x, y = stock.digits("test", form="threshold")
    with torch.no_grad():
        return float((network.predict(x).argmax(1) == y).double().mean())


def fits(entry: Experiment) -> bool:
    """Whether an experiment trains a generator of small digits."""
    return surfaces.is_a(entry, Digits, part="data") and generated.makes_digits(entry, SIDE)


def changed(network: Classifier, pictures: Tensor, change: Change, share: float, seed: int) -> Tensor:
    """`pictures` with a share of them spoiled.

    classes missing: without the first 10 · share classes, by the network.
    junk: noise with as much ink. copies: of one picture a class, round and round.
    """
    if change == "nothing" or share == 0:
        return pictures
    labels = look(network, pictures)[0].argmax(1)
    return with_junk(pictures, change, seed)[spoiled(labels, change, share, seed)]


def with_junk(pictures: Tensor, change: Change, seed: int) -> Tensor:
    """The pictures, and after them the noise that may take their place."""
    if change != "junk":
        return pictures
    generator = torch.Generator().manual_seed(seed)
    torch.randperm(len(pictures), generator=generator)  # as `spoiled` draws first
    count = round(max(SHARES) * len(pictures))
    noise = torch.rand((count, *pictures.shape[1:]), generator=generator)
    return torch.cat([pictures, (noise < pictures.mean()).float()])


def spoiled(labels: Tensor, change: Change, share: float, seed: int) -> Tensor:
    """The rows of `with_junk` that are left, or come, when a share is spoiled: labels (N,) -> (≤ N,)."""
    rows = torch.arange(len(labels))
    if change == "nothing" or share == 0:
        return rows
    if change == "classes missing":
        kept = labels >= round(10 * share)
        return rows[kept] if kept.sum() > LEAST else rows
    generator = torch.Generator().manual_seed(seed)
    hit = torch.randperm(len(rows), generator=generator)[: round(share * len(rows))]
    if change == "junk":
        rows[hit] = len(rows) + torch.arange(len(hit))
    else:
        ones = torch.stack([(labels == c).double().argmax() for c in labels.unique()])
        rows[hit] = ones[torch.arange(len(hit)) % len(ones)]
    return rows


def judging(
    names: Sequence[str], k: int, said_of: Callable[[str], list[Verdict]]
) -> Iterator[tuple[float, dict[str, Verdict]]]:
    """All generators one after the other: the share done, and what is said so far.

    Args:
        said_of: name -> its verdicts by k = 1 … MOST.
    """
    said: dict[str, Verdict] = {}
    for done, name in enumerate(names, 1):
        said = said | {name: said_of(name)[k - 1]}
        yield done / len(names), said


@dataclass(frozen=True)
class Story:
    """Pictures (SHEET, 8, 8) at each of SHARES, and what is said of them: a verdict each in `said[k - 1]`."""

    sheets: list[Tensor]
    said: list[list[Verdict]]


def story(network: Classifier, given: Known, pictures: Tensor, change: Change, seed: int) -> Story:
    """What is seen and said as more and more is spoiled."""
    whole = with_junk(pictures, change, seed)
    seen = pool(network, given, whole)
    labels = seen.probabilities[: len(pictures)].argmax(1)
    rows = [spoiled(labels, change, share, seed) for share in SHARES]
    if change == "nothing":
        said = [judge_all(seen, rows[0])] * len(SHARES)
    else:
        said = [judge_all(seen, some) for some in rows]
    sheets = [whole[some[torch.arange(SHEET) % len(some)]] for some in rows]
    return Story(sheets, [list(by_share) for by_share in zip(*said, strict=True)])
