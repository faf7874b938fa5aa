"""The page "Packing": cosines counted, and the million directions, as they are shown."""

import pytest
import torch
from opening import captions, open_page

from modules.language import packing
from pages.language.packing import lens


def test_what_is_shown_is_counted():
    page = open_page("language/packing", m=181, build="true")
    cosines = packing.random_cosines(1000, 181)
    bad = int((cosines.abs() > 0.08715574).sum())
    assert page.metric[0].value == f"{bad} of 16,290"
    p = packing.violation(1000, 0.0871557427)
    assert (
        page.metric[1].value == f"{p * 16_290:.1f}"
        and page.metric[2].value == f"{lens.room(p)} at random" == "19 at random"
    )
    assert page.metric[3].value == "86.42°"
    assert "1,048,576 unit vectors, every angle at least 86.42°" in captions(page)


def test_the_distribution_counts_every_pair():
    cosines = lens.cosines(50, 400, 0.2)
    assert cosines.counts.sum() == pytest.approx(cosines.pairs, rel=1e-3)
    assert cosines.expected.sum().item() == pytest.approx(cosines.pairs, rel=1e-3)
    assert (cosines.expected >= 0).all()
    spread = (cosines.counts - cosines.expected).abs() / cosines.expected.clamp(min=25).sqrt()
    assert spread.max() < 6


def test_room_is_where_one_violation_is_expected():
    assert lens.room(packing.violation(1000, 0.087)) == 18
    for p in (0.3, 0.01, 1e-5):
        M = lens.room(p)
        assert M * (M - 1) / 2 * p < 1 <= (M + 1) * M / 2 * p


def test_construction_is_what_the_transforms_find():
    built = lens.construction()
    assert built.values == [0.0, 1 / 32, 1 / 16] and built.counts == [261_888, 698_368, 87_296]
    assert built.vectors == 1_048_576
    # some members themselves: α, β at random
    a, b = (torch.randint(1024, (60,), generator=torch.Generator().manual_seed(s)) for s in (0, 1))
    gram = packing.family(a, b) @ packing.family(a, b).T
    off = gram[~torch.eye(60, dtype=torch.bool)].abs()
    assert all(min(abs(float(v) - w) for w in built.values) < 1e-12 for v in off.unique())
