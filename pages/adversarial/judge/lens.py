"""Generators of digits by the same metrics, and what each metric does not see: their pictures are
spoiled more and more, by classes that go missing, by junk, by copies.

Shapes: pictures (N, S, S) of 0 and 1, S = 8 or 28.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import generated, verdicts
from lab.lenses.verdicts import Known, Verdict, evaluate_all, look, pool
from modules.convolution.classifier import Classifier
from pages.adversarial.judge.room import JUNK, MISSING, NOTHING, SHARES

SIDES = (8, 28)  # of pictures that are judged
SHEET = 30  # pictures shown
LEAST = 20  # pictures that can be judged, by up to ten neighbours of each


def accuracy(network: Classifier) -> float:
    """Accuracy of the network on held-out digits made black and white, on which it was not trained."""
    x, y = verdicts.labelled("held out", verdicts.side_of(network))
    with torch.no_grad():
        return float((network.predict(x[:, None]).argmax(1) == y).double().mean())


def fits(entry: Experiment) -> bool:
    """Check whether an experiment trains a generator of digits of one of SIDES."""
    return any(generated.makes_digits(entry, side) for side in SIDES)


def changed(network: Classifier, pictures: Tensor, change: str, share: float, seed: int) -> Tensor:
    """`pictures` with a share of them spoiled.

    classes missing: without the first 10 · share classes, by the network.
    junk: noise with as much ink. copies: of one picture a class, round and round.
    """
    if change == NOTHING or share == 0:
        return pictures
    labels = look(network, pictures)[0].argmax(1)
    return with_junk(pictures, change, seed)[spoiled(labels, change, share, seed)]


def with_junk(pictures: Tensor, change: str, seed: int) -> Tensor:
    """The pictures, and after them the noise that may take their place."""
    if change != JUNK:
        return pictures
    generator = torch.Generator().manual_seed(seed)
    torch.randperm(len(pictures), generator=generator)  # as `spoiled` draws first
    count = round(max(SHARES) * len(pictures))
    noise = torch.rand((count, *pictures.shape[1:]), generator=generator)
    return torch.cat([pictures, (noise < pictures.mean()).float()])


def spoiled(labels: Tensor, change: str, share: float, seed: int) -> Tensor:
    """The rows of `with_junk` that are left, or come, when a share is spoiled: labels (N,) -> (≤ N,)."""
    rows = torch.arange(len(labels))
    if change == NOTHING or share == 0:
        return rows
    if change == MISSING:
        kept = labels >= round(10 * share)
        return rows[kept] if kept.sum() > LEAST else rows
    generator = torch.Generator().manual_seed(seed)
    hit = torch.randperm(len(rows), generator=generator)[: round(share * len(rows))]
    if change == JUNK:
        rows[hit] = len(rows) + torch.arange(len(hit))
    else:
        ones = torch.stack([(labels == c).double().argmax() for c in labels.unique()])
        rows[hit] = ones[torch.arange(len(hit)) % len(ones)]
    return rows


def judging(
    names: Sequence[str], k: int, verdicts_of: Callable[[str], list[Verdict]]
) -> Iterator[tuple[float, dict[str, Verdict]]]:
    """All generators one after the other: the share done, and what is said so far.

    Args:
        verdicts_of: name -> its verdicts by k = 1 … MOST.
    """
    texts: dict[str, Verdict] = {}
    for done, name in enumerate(names, 1):
        texts = texts | {name: verdicts_of(name)[k - 1]}
        yield done / len(names), texts


@dataclass(frozen=True)
class Story:
    """Pictures (SHEET, S, S) at each of SHARES, and in `verdicts[k - 1]` a verdict on each."""

    sheets: list[Tensor]
    verdicts: list[list[Verdict]]


def story(network: Classifier, given: Known, pictures: Tensor, change: str, seed: int) -> Story:
    """Pictures and sentences as more and more is spoiled."""
    whole = with_junk(pictures, change, seed)
    result = pool(network, given, whole)
    labels = result.probabilities[: len(pictures)].argmax(1)
    rows = [spoiled(labels, change, share, seed) for share in SHARES]
    if change == NOTHING:
        texts = [evaluate_all(result, rows[0])] * len(SHARES)
    else:
        texts = [evaluate_all(result, some) for some in rows]
    sheets = [whole[some[torch.arange(SHEET) % len(some)]] for some in rows]
    return Story(sheets, [list(by_share) for by_share in zip(*texts, strict=True)])


# --- Drawn ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Drawn:
    """Pictures (N, S, S) of a generator, and the classifier whose features measure them."""

    network: Classifier
    known: Known
    pictures: Tensor


@lru_cache(maxsize=2)
def known(network: Classifier) -> Known:
    """Training digits as the metrics know them."""
    return verdicts.known(network, verdicts.digits("train", verdicts.side_of(network)))


def drawing(
    network: Classifier, model: Any, model_card: Mapping[str, Any] | None, seed: int
) -> Iterator[tuple[float, Drawn]]:
    """Draw from a generator, or from held-out digits by their name, step by step where there are any: the
    share done, and what is drawn so far."""
    if model_card is None:
        yield 1.0, Drawn(network, known(network), verdicts.drawn_by(model, seed))
        return
    for share, pictures in verdicts.drawing(model, model_card, seed):
        yield share, Drawn(network, known(network), pictures)


@lru_cache(maxsize=64)
def kept_story(drawn: Drawn, change: str, seed: int) -> Story:
    """Its `story`, kept: pictures of slow generators are drawn once for all that is done to them."""
    return story(drawn.network, drawn.known, drawn.pictures, change, seed)


def verdicts_by_k(
    network: Classifier, model: Any, model_card: Mapping[str, Any] | None, seed: int
) -> list[Verdict]:
    """The verdicts on a generator, or on held-out digits, by k = 1 … MOST."""
    *_, (_, drawn) = drawing(network, model, model_card, seed)
    return [by_share[0] for by_share in kept_story(drawn, NOTHING, seed).verdicts]
