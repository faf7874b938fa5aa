"""ELBO bars: the gaps and bounds of a linear model in closed form, of two modes by quadrature."""

import math

import pytest
from opening import figure, film, open_page, open_warned, prose, spoken, warnings
from scipy import integrate
from scipy.stats import norm

from lab.errors import UserError
from lab.figures import stacks
from lab.lenses import typed
from pages.latent.elbo_bars import lens


def by_quadrature(g, x: float, s: float, mean: float, deviation: float) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """log p(x) and KL(q ‖ p(z|x)) by another road."""

    def log_joint(z: float) -> float:
        return float(norm.logpdf(z) + norm.logpdf(x, g(z), s))

    places = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2]
    p = integrate.quad(lambda z: math.exp(log_joint(z)), -8, 8, points=places, limit=400)[0]
    q = norm(mean, deviation)
    low, high = mean - 9 * deviation, mean + 9 * deviation
    elbo = integrate.quad(lambda z: q.pdf(z) * (log_joint(z) - q.logpdf(z)), low, high, limit=400)[0]
    return math.log(p), math.log(p) - elbo


def test_default_numbers() -> None:
    """LV-O24: log p = −1.823657; KL(N(.4, .45²) ‖ N(.4, .2)) in closed form."""
    bar = film(open_page("latent/elbo_bars"), "mu")
    gap = 0.5 * (0.45**2 / 0.2 - 1 - math.log(0.45**2 / 0.2))
    elbo, kl, log_p = spoken(bar["equations"][bar["at"]])
    assert log_p == pytest.approx(-1.823657, abs=5e-4)
    assert (elbo, kl) == (pytest.approx(-1.823657 - gap, abs=5e-4), pytest.approx(gap, abs=5e-4))
    assert bar["count"] == 61 and bar["names"][bar["at"]] == "0.4"


def test_the_prior_as_q_hangs_below() -> None:
    page = open_page("latent/elbo_bars", mu=0.0, sigma=1.0)
    bar = film(page, "mu")
    assert spoken(bar["equations"][bar["at"]]) == pytest.approx([-3.418939, 1.595281, -1.823657], abs=5e-4)
    assert "1.595 nats below" in bar["captions"][bar["at"]]


@pytest.mark.parametrize(("mean", "deviation"), [(0.9, 0.15), (0.0, 0.6)])
def test_two_modes(mean: float, deviation: float) -> None:
    """What the scenes say: near ln 2 on one mode, over 2 nats astride."""
    bar = film(open_page("latent/elbo_bars", model="two modes", mu=mean, sigma=deviation), "mu")
    elbo, gap, log_p = spoken(bar["equations"][bar["at"]])
    exact = by_quadrature(lambda z: z * z, 1.0, 0.3, mean, deviation)
    assert (log_p, gap) == (pytest.approx(exact[0], abs=1e-3), pytest.approx(exact[1], abs=1e-3))
    assert elbo == pytest.approx(log_p - gap, abs=2e-3)
    assert (gap > 2) if mean == 0 else (math.log(2) < gap < 0.8)


def test_all_five_end_at_one_height_and_a_film_of_sigma_too() -> None:
    page = open_page("latent/elbo_bars", turn="σ", sigma=0.05)
    frames = figure(page, "bars")[1]
    ends = [frames[f"data.{i}.base"] + frames[f"data.{i}.y"] for i in (0, 6, 4, 5)]
    elbo = frames["data.8.y"][:, 0]
    for at, column in ((0, 0), (0, 4), (1, 1), (2, 2), (3, 3), (1, 5)):
        assert ends[at][:, column] == pytest.approx(elbo, abs=1e-4)
    results = [spoken(e)[0] for e in film(page, "sigma")["equations"]]
    best = results.index(max(results))
    assert lens.DEVIATIONS[best] == 0.45  # falls on both sides
    assert results[:best] == sorted(results[:best]) and results[best:] == sorted(results[best:], reverse=True)


def test_half_of_the_kl_is_no_bound() -> None:
    text = prose(open_page("latent/elbo_bars", beta=0.5))
    assert "C ends at -1.58" in text and "above log p(x): no bound" in text


def test_own_model_and_what_cannot_be_read() -> None:
    page = open_warned("latent/elbo_bars", model="own", g="0, two, -2, 0, 1", x=0.0, s=0.3)
    assert "“two” is left out" in warnings(page)
    bar = film(page, "mu")
    exact = by_quadrature(lambda z: -2 * z + z**3, 0.0, 0.3, 0.0, 0.2)[0]  # "two" left out: 0 −2 0 1
    assert spoken(bar["equations"][0])[2] == pytest.approx(exact, abs=1e-3)
    empty = open_warned("latent/elbo_bars", model="own", g="?")
    assert film(empty, "mu")["count"] == 61


def test_typed_numbers() -> None:
    assert typed.named("1; −2, 3", 5) == ([1.0, -2.0, 3.0], "")
    result, text = typed.named("1 nan 1e9", 5)
    assert result == [1.0] and "“nan” and 1 more" in text
    assert typed.named("1 2 3", 2) == ([1.0, 2.0], "There are 3 numbers: the first 2 are used.")
    assert typed.distribution("1 3", 4) == ([0.25, 0.75], "")
    for bad in ("", "1", "0 0"):
        with pytest.raises(UserError, match="Give 2 to 4 weights"):
            typed.distribution(bad, 4)


def test_parts_turn_with_a_film() -> None:
    part = stacks.Part("a", "#000000", [[0.0, 1.0], [0.0, 2.0]], [[1.0, float("nan")], [3.0, 2.0]])
    moves = stacks.turning([part], [stacks.Level("b", "#000000", [1.0, 2.0])])
    assert moves["data.0.y"][1].tolist() == [3.0, 0.0] and moves["data.0.text"] == [
        ["1.00", ""],
        ["3.00", ""],
    ]
    assert moves["data.1.y"].tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert stacks.turning([stacks.Part("a", "#000000", [0.0], [1.0])]) == {}
