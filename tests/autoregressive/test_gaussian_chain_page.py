"""The page "Gaussian chain": density, covariance, random walk and the coin, as they are shown."""

import itertools
from functools import partial

import pytest
import torch
from opening import captions, figure, film, metrics, move, open_page, prose
from scipy.stats import multivariate_normal, norm

from pages.autoregressive.gaussian_chain import lens, walks

opened = partial(open_page, "autoregressive/gaussian_chain")


def test_the_chain_rule_is_one_normal_distribution() -> None:
    """The chain rule against the multivariate normal of SciPy."""
    x = lens.typed_path("0.3, −0.2 0.5; 1, 0")
    result = lens.log_density(lens.chain(0.8, 0.6, 5, stationary=True), x)
    assert result.total == pytest.approx(-4.8591679, abs=1e-7)
    assert result.joint == pytest.approx(result.total, abs=1e-10)
    power = [[0.8 ** abs(t - u) for u in range(5)] for t in range(5)]
    assert result.joint == pytest.approx(multivariate_normal(cov=power).logpdf(x.numpy()), abs=1e-10)
    by_hand = [norm.logpdf(0.3), *(norm.logpdf(b, 0.8 * a, 0.6) for a, b in itertools.pairwise(x.tolist()))]
    assert result.terms.tolist() == pytest.approx(by_hand, abs=1e-12)
    assert result.means.tolist() == pytest.approx([0, 0.24, -0.16, 0.4, 0.8])
    assert result.spreads.tolist() == pytest.approx([1, 0.6, 0.6, 0.6, 0.6])


@pytest.mark.parametrize("slope", [-0.8, 0.0, 0.95])
def test_stationary_covariance(slope: float) -> None:
    model = lens.chain(slope, 0.7, 12, stationary=True)
    assert lens.deviation(model) < 1e-12
    covariance = model.moments()[1]
    assert covariance[2, 7].item() == pytest.approx(slope**5 * 0.49 / (1 - slope**2), abs=1e-12)
    drawn = lens.paths(model, 40_000, seed=1)
    assert (torch.cov(drawn.T) - covariance).abs().max() < 0.05 * covariance[0, 0]


@pytest.mark.parametrize("slope", [1.0, 1.1, -1.1, 0.5])
def test_from_zero_the_variance_is_a_sum_of_powers(slope: float) -> None:
    variances = lens.chain(slope, 0.6, 20, stationary=False).moments()[1].diagonal().tolist()
    expected = [0.36 * sum(slope ** (2 * k) for k in range(t)) for t in range(1, 21)]
    assert variances == pytest.approx(expected, rel=1e-10)
    if slope == 1:
        assert variances == pytest.approx([0.36 * t for t in range(1, 21)])


def test_no_stationary_distribution_of_a_walk() -> None:
    with pytest.raises(ValueError, match="no stationary distribution"):
        lens.chain(1.0, 0.6, 5, stationary=True)


@pytest.mark.parametrize(
    ("text", "message"), [("1, x", "'x' is no number"), ("nan 1", "no number"), ("3", "1")]
)
def test_a_path_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lens.typed_path(text)


def test_the_coin_walk_against_every_way() -> None:
    """1, 4, 6, 4, 1 sixteenths: by listing all walks, and in the draws."""
    result = walks.coin_walk(4, 20_000, seed=0)
    ends = [sum(way) for way in itertools.product([-1, 1], repeat=4)]
    assert result.places.tolist() == [-4, -2, 0, 2, 4]
    assert result.ways == [ends.count(place) for place in (-4, -2, 0, 2, 4)] == [1, 4, 6, 4, 1]
    assert result.distribution.tolist() == [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]
    assert (result.frequencies - result.distribution).abs().max() < 4 * (0.25 / 20_000) ** 0.5
    assert result.frequencies.sum().item() == pytest.approx(1)
    last = result.paths[:, -1]
    assert result.frequencies[4].item() == pytest.approx((last == 4).double().mean().item())
    assert (result.paths.diff().abs() == 1).all() and (result.paths[:, 0] == 0).all()
    assert result.variance == pytest.approx((last.double() ** 2).mean().item()) == pytest.approx(4, rel=0.1)


def test_the_gaussian_walk_spreads_as_the_coins_does() -> None:
    drawn, spread = walks.gauss_walk(9, 20_000, seed=0)
    assert spread.tolist() == pytest.approx([t**0.5 for t in range(10)])
    assert drawn.std(0).tolist() == pytest.approx(spread.tolist(), rel=0.03)


def test_the_page_shows_both_sums_of_the_path() -> None:
    page = opened(show="Your path")
    shown = metrics(page)
    assert shown["Sum of the terms"] == shown["One normal"] == "-4.8591679"
    assert float(shown["Difference"]) < 1e-12
    terms = page.dataframe[0].value["log N(x; mean, sd²)"]
    assert sum(map(float, terms)) == pytest.approx(-4.8591679, abs=1e-6)
    page.text_input(key="path").set_value("1, two").run()
    assert [w.value for w in page.warning] == [
        "'two' is no number from −1000 to 1000: give numbers with commas between."
    ]


def test_the_page_shows_how_a_random_walk_spreads() -> None:
    page = opened(a="1.0", n="25", s="0.6")
    assert "= 9.0000" in page.latex[0].value  # 25 · 0.36
    assert "no link fades" in prose(page) and "root of time" in prose(page)
    assert "no stationary distribution" in captions(page)
    page = opened(a="0.8", s="0.6")
    assert "1.0000" in page.latex[0].value and "the factor 0.8." in prose(page)


@pytest.mark.parametrize("slope", [-1.1, -1.0, -0.5, 0.0, 0.3, 1.0, 1.1])
def test_the_sentence_on_links_is_what_the_covariance_does(slope: float) -> None:
    links = lens.links(slope)
    row = lens.chain(slope, 0.7, 6, stationary=False).moments()[1][1, 1:]
    assert ("all values are correlated" in links) == bool((row.abs() > 1e-12).all())
    if slope:
        factor = (row[1:] / row[:-1]).tolist()
        assert factor == pytest.approx([slope] * 4)
        assert ("shrinks" in links, "grows" in links) == (abs(slope) < 1, abs(slope) > 1)
        assert (f"{abs(slope):g} and changes sign" in links) == (slope < 0 and abs(slope) != 1)


def test_no_memory_is_not_called_correlated() -> None:
    assert "correlated" not in prose(opened(a="0", s="1"))


def test_the_film_of_a_path_shows_it_as_far_as_it_has_come() -> None:
    page = opened(n="8", step="2")
    bar, (_, arrays) = film(page), figure(page, "paths")
    x = arrays["data.2.y"]
    assert bar["count"] == 8 and bar["at"] == 2 and x.shape == (8, 8)
    for at, row in enumerate(x):
        assert (row == row).tolist() == [t <= at for t in range(8)]
        assert bar["captions"][at].startswith(f"Step {at + 1}: {row[at]:.3f}, ")
        assert arrays["data.3.x"][at].tolist() == [at + 1]
        if at:
            assert arrays["data.3.y"][at][0] == pytest.approx(0.8 * row[at - 1], abs=1e-5)


def test_the_page_shows_the_coins_distribution() -> None:
    page = opened(show="±1 walk")
    bar = film(page, "steps")
    result = walks.coin_walk(4, 4000, 0)
    assert (bar["at"], bar["names"][3]) == (3, "4") and f"{result.variance:.3f}" in bar["equations"][3]
    _, arrays = figure(page, "places")
    assert arrays["data.0.y"][3][36:45].tolist() == pytest.approx(
        [v / 16 for v in (1, 0, 4, 0, 6, 0, 4, 0, 1)]
    )
    assert arrays["data.1.y"].sum(1).tolist() == pytest.approx([1] * 40)
    move(page, "steps", 7)
    assert film(page, "steps")["at"] == 6 and "(1, 7, \\dots, 1)" in walks.walk_equation(
        walks.coin_walk(7, 9, 0)
    )
