"""The birthday test: the curves are those of the metrics, and what the scenes say is so."""

from functools import cache

import numpy as np
import pytest
import torch
from opening import figure, film, open_page

from lab import weights
from lab.experiments import ZOO
from modules.adversarial import metrics
from pages.adversarial.birthday import figures, lens
from pages.adversarial.birthday.room import KNOWN, REAL, THRESHOLDS

AT = {threshold: i for i, threshold in enumerate(THRESHOLDS)}


@cache
def story(name: str, size: int = 0) -> list[lens.Found]:
    return lens.story(lens.drawn(name, size, 0))


def test_the_curve_is_that_of_the_judges() -> None:
    for support in (100, 365, 115_260, 400_000):
        curve = lens.probability(support)
        for n in (2, 23, 99, 400):
            assert float(curve[n - 1]) == pytest.approx(metrics.duplicate_probability(n, support), abs=1e-9)
    assert lens.probability(float("inf")).max() == 0
    assert [lens.half(lens.probability(n)) for n in (365, 1000)] == [23, 38]  # oracle GA-O39


def test_dealing_counts_the_first_pair() -> None:
    """One pair among m: P(both are among the first n) = n (n − 1) / (m (m − 1))."""
    curve = lens.dealt(torch.tensor([[3, 77]]))
    n = torch.arange(1, lens.DRAWS + 1)
    expected = n * (n - 1) / (lens.DRAWS * (lens.DRAWS - 1))
    assert float((curve - expected).abs().max()) < 0.1 and curve[-1] == 1
    assert lens.dealt(torch.empty(0, 2, dtype=torch.int64)).max() == 0


def test_known_digits_are_counted() -> None:
    for size in (100, 365):
        one = story(KNOWN, size)[0]
        assert one.support == pytest.approx(size, rel=0.1)
        assert lens.half(one.measured) == pytest.approx(metrics.draws_until(size), abs=2)


def test_pairs_within_the_threshold_are_shown() -> None:
    result = story("dcgan-digits")[AT[0.3]]
    assert result.sheet.shape == (2 * lens.SHOWN, 8, 8) and bool(result.sheet.isfinite().all())
    assert max(result.distances) <= 0.3 and result.distances == sorted(result.distances)
    empty = story("dcgan-digits")[0]
    assert empty.pairs == 0 and bool(empty.sheet.isnan().all()) and empty.support == float("inf")


def test_what_the_scenes_say() -> None:
    gan, real, acgan = (story(name) for name in ("dcgan-digits", REAL, "acgan-digits"))
    assert gan[0].pairs == 0 < gan[AT[0.3]].pairs
    assert 0.6 < gan[AT[0.3]].pairs / real[AT[0.3]].pairs < 1.6
    assert acgan[AT[0.3]].pairs > 2 * gan[AT[0.3]].pairs
    assert float(lens.probability(400_000)[-1]) == pytest.approx(0.1809, abs=1e-3)
    assert float(lens.probability(115_260)[-1]) == pytest.approx(0.5, abs=1e-3)
    few, many = (lens.half(story(KNOWN, size)[0].measured) for size in (365, 1000))
    assert few == 23 and many is not None and 1.4 < many / few < 1.7
    assert story("dcgan-mnist")[AT[0.3]].pairs < gan[AT[0.3]].pairs / 4


@pytest.mark.parametrize("seed", range(3))
def test_the_poster_has_a_pair_in_every_frame(seed: int) -> None:
    one = lens.story(lens.drawn("infogan-mnist", 0, seed))[AT[0.35]]
    assert one.pairs >= lens.SHOWN and max(one.distances) <= 0.35 + 1e-6


def test_a_frame_holds_the_two_of_a_pair() -> None:
    result = story("dcgan-digits")
    tree = figures.sheet(result)
    assert len(tree["layout"]["shapes"]) == lens.SHOWN
    z = tree["data"][0]["z"].values[AT[0.3]]
    for shape, pair in zip(tree["layout"]["shapes"], result[AT[0.3]].sheet.split(2), strict=True):
        left, right, top, bottom = (round(shape[name] + 0.5) for name in ("x0", "x1", "y0", "y1"))
        assert np.allclose(z[top:bottom, left:right], torch.cat(list(pair), -1))


def test_slow_draws_come_in_portions_and_levels_as_ink() -> None:
    name = "nade-greys-digits"
    drawing = lens.drawing(weights.load(name), weights.read_card(ZOO / name), 0, 0, 150)
    shares, parts = zip(*drawing, strict=True)
    assert shares == (0.375, 0.75, 1.0) and [len(part) for part in parts] == [150, 300, lens.DRAWS]
    assert torch.equal(parts[-1][:300], parts[1]) and parts[-1].shape[1:] == (8, 8)
    assert float(parts[-1].max()) == 1 and set((16 * parts[-1]).unique().tolist()) <= set(range(17))


def test_the_page() -> None:
    page = open_page("adversarial/birthday")
    assert film(page, "threshold")["captions"] == lens.captions(story("dcgan-digits"))
    _, arrays = figure(page, "chances")
    assert arrays["data.0.y"].shape == (len(THRESHOLDS), lens.DRAWS)
    known = open_page("adversarial/birthday", model=KNOWN, size=365, threshold=0.0)
    assert "two of 23" in film(known, "threshold")["captions"][0]
