"""Greedy assembly of regions, against loops, enumeration of all states, and flood fill; votes of masks."""

from itertools import product

import pytest
import torch
from torch import Tensor

from modules.convolution import regions
from modules.convolution.regions import assembled, energy, labels, precision_recall, voted, without_small


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_hand(p: Tensor, free: Tensor, state: Tensor, beta: float) -> float:
    """E, pixel by pixel and pair by pair."""
    total, (H, W) = 0.0, p.shape
    for i, j in product(range(H), range(W)):
        if not free[i, j]:
            continue
        total -= float((p[i, j] if state[i, j] else 1 - p[i, j]).log())
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < H and b < W and free[a, b] and state[i, j] != state[a, b]:
                total += beta
    return total


def flips(free: Tensor) -> list[Tensor]:
    """States that differ from none in one free pixel."""
    results = []
    for i, j in free.nonzero().tolist():
        one = torch.zeros_like(free)
        one[i, j] = True
        results.append(one)
    return results


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_region_is_a_minimum_of_its_energy(seed: int, beta: float) -> None:
    """No pixel can change alone; E falls in each sweep; with β = 0, or if a sweep changes nothing else, it is
    that of the best of all 2⁹ states or above it."""
    p = 0.02 + 0.96 * draw(3, 3, 3, seed=seed)
    p = p / p.sum(0)
    free = torch.ones(3, 3, dtype=torch.bool)
    for step in assembled(p, beta, smallest=0, evidence=0, sweeps=50):
        one, last = p[step.label], step.states[-1]
        assert step.energies[-1] == pytest.approx(by_hand(one, free, last, beta))
        assert list(step.energies) == sorted(step.energies, reverse=True)
        assert not (last & ~free).any() and torch.equal(step.mask, last)
        for flip in flips(free):
            assert by_hand(one, free, last ^ flip, beta) >= step.energies[-1] - 1e-12
        every = [free & torch.tensor(bits).view(3, 3) for bits in product([False, True], repeat=9)]
        best = min(by_hand(one, free, state, beta) for state in every)
        assert step.energies[-1] >= best - 1e-12 and (beta or step.energies[-1] == pytest.approx(best))
        assert energy(one, free, every[77], beta) == pytest.approx(by_hand(one, free, every[77], beta))
        free = free & ~step.mask


def test_the_class_with_most_evidence_comes_first() -> None:
    """Sums over what is unlabelled, and never a class twice."""
    p = draw(4, 6, 5, seed=3) ** 6
    p = p / p.sum(0)
    steps = assembled(p, 0.1, smallest=0, evidence=0)
    assert int(steps[0].mask.sum()) > 4
    free, waiting = torch.ones(6, 5, dtype=torch.bool), set(range(4))
    for step in steps:
        sums = {c: float(p[c][free].sum()) for c in waiting}
        assert step.label == max(sums, key=lambda c: sums[c])
        assert {c: s for c, s in enumerate(step.sums) if s == s} == pytest.approx(sums)
        assert step.evidence == pytest.approx(float(p[step.label][step.mask].sum()))
        waiting.remove(step.label)
        free = free & ~step.mask
    assert len(steps) == 4 or not free.any()
    result = labels(steps)
    for step in steps:
        assert torch.equal(result == step.label, step.mask)


def test_smoothness_fills_a_hole_and_takes_a_dot() -> None:
    """A pixel of P = .3 inside costs log(.7/.3) = .847 to keep and saves 4β."""
    p = torch.full((7, 7), 0.9, dtype=torch.float64)
    p[3, 3] = 0.3
    for beta, filled in ((0.2, False), (0.22, True)):
        step = assembled(torch.stack([p, 1 - p]), beta, smallest=0, evidence=0)[0]
        assert step.label == 0 and bool(step.mask[3, 3]) == filled
        # the dot of the other class is taken only where it was not filled
        other = assembled(torch.stack([p, 1 - p]), beta, smallest=0, evidence=0)[1:]
        assert [int(s.mask.sum()) for s in other] == ([] if filled else [1])


def test_a_labelled_neighbour_costs_nothing() -> None:
    """A strip between two regions of an earlier class stays at any β."""
    strip = torch.full((5, 5), 0.05, dtype=torch.float64)
    strip[:, 2] = 0.9
    thin = torch.where(
        strip > 0.5, 0.55, 0.05
    ).double()  # inside at any β > 0, unless what is labelled counts
    ground = torch.where(strip > 0.5, 0.02, 0.9).double()
    p = torch.stack([ground, thin, 1 - ground - thin])
    first, second = assembled(p, beta=2.0, smallest=0, evidence=0)[:2]
    assert second.label == 1 and torch.equal(second.mask, strip > 0.5)
    free = ~first.mask
    assert energy(strip, free, second.mask, 99.0) == pytest.approx(float(-strip[free].log().sum()))


@pytest.mark.parametrize("least", [0, 1, 2, 4, 100])
def test_small_components_against_flood_fill(least: int) -> None:
    mask = draw(12, 9, seed=5) > 0.55
    left, expected, count = set(map(tuple, mask.nonzero().tolist())), torch.zeros_like(mask), 0
    while left:
        part, front = set(), [left.pop()]
        while front:
            i, j = front.pop()
            part.add((i, j))
            for place in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if place in left:
                    left.remove(place)
                    front.append(place)
        if len(part) < least:
            count += 1
        else:
            for i, j in part:
                expected[i, j] = True
    kept, dropped = without_small(mask, least)
    assert torch.equal(kept, expected) and dropped == count


def test_it_ends_with_insufficient_evidence() -> None:
    """The share that a region needs is of all pixels; one with exactly as much is labelled."""
    p = torch.zeros(3, 4, 4, dtype=torch.float64)
    p[0], p[1, 0, :2], p[2, 3, 3] = 1.0, 1.0, 1.0
    p[0, 0, :2] = p[0, 3, 3] = 0
    enough = assembled(p, 0, smallest=0, evidence=2 / 16)
    assert [(s.label, s.accepted) for s in enough] == [(0, True), (1, True), (2, False)]
    assert int((labels(enough) == regions.UNLABELLED).sum()) == 1
    assert [s.accepted for s in assembled(p, 0, smallest=0, evidence=2.1 / 16)] == [True, False]
    assert (labels(assembled(p, 0, smallest=0, evidence=1.01)) == regions.UNLABELLED).all()
    dropped = assembled(p, 0, smallest=2, evidence=0)  # nothing left of a class is no reason to end at τ = 0
    assert [int(s.mask.sum()) for s in dropped] == [13, 2, 0] and dropped[2].dropped == 1


def test_edges() -> None:
    """One class, one pixel, equal probabilities, probabilities of 0 and 1, nothing at all."""
    (only,) = assembled(torch.ones(1, 2, 3))
    assert not only.accepted or only.mask.all()
    (only,) = assembled(torch.ones(1, 1, 1), smallest=0)
    assert only.mask.all() and only.energies == (0.0,)
    even = assembled(torch.full((2, 3, 3), 0.5), beta=1, smallest=0, evidence=0)
    assert [s.label for s in even] == [0, 1] and not even[0].mask.any()
    hard = torch.nn.functional.one_hot(torch.arange(9).view(3, 3) % 2, 2).permute(2, 0, 1).float()
    steps = assembled(hard, beta=5, smallest=0, evidence=0)
    assert torch.equal(labels(steps), torch.arange(9).view(3, 3) % 2)  # certain pixels have no neighbours
    assert assembled(torch.zeros(0, 2, 2)) == [] and assembled(torch.zeros(2, 0, 4)) == []
    with pytest.raises(ValueError, match="no step"):
        labels([])
    with pytest.raises(ValueError, match="have 2 axes"):
        assembled(torch.ones(2, 2))
    for wrong in ({"beta": -1.0}, {"smallest": -1}, {"evidence": float("nan")}, {"sweeps": -1}):
        with pytest.raises(ValueError, match="must be at least 0"):
            assembled(torch.ones(1, 2, 2), **wrong)
    (start,) = assembled(torch.ones(1, 2, 2) * 0.6, smallest=0, sweeps=0)
    assert len(start.states) == 1


def test_a_vote_is_the_intersection() -> None:
    """CV-O54: inside each member; recall never rises."""
    masks, truth = draw(5, 9, 9) > 0.3, draw(9, 9, seed=1) > 0.5
    result = voted(masks)
    every = torch.zeros(9, 9, dtype=torch.bool)
    for i, j in product(range(9), repeat=2):
        every[i, j] = all(bool(mask[i, j]) for mask in masks)
    assert torch.equal(result, every) and torch.equal(voted(masks[:1]), masks[0])
    for mask in masks:
        assert not (result & ~mask).any()
        assert precision_recall(result, truth)[1] <= precision_recall(mask, truth)[1]
    with pytest.raises(ValueError, match="no mask"):
        voted(masks[:0])


def test_precision_and_recall_by_counting() -> None:
    mask, truth = draw(6, 7) > 0.4, draw(6, 7, seed=1) > 0.5
    pairs = list(zip(mask.flatten().tolist(), truth.flatten().tolist(), strict=True))
    both = pairs.count((True, True))
    precision, recall = precision_recall(mask, truth)
    assert precision == pytest.approx(both / (both + pairs.count((True, False))))
    assert recall == pytest.approx(both / (both + pairs.count((False, True))))
    assert precision_recall(torch.zeros(2, 2) > 0, truth[:2, :2])[0] != precision  # NaN
