"""Information bars: the oracles by hand, infinities, convexity; Jensen's gaps in closed form."""

import math

import numpy as np
import pytest
from opening import figure, film, numbers, open_page, open_warned, run_page, spoken, warnings

from pages.latent.information import lens


def test_default_numbers() -> None:
    """LV-O1."""
    bar = film(open_page("latent/information"), "lam")
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    cross, h, forward, backward = -p @ np.log(q), -p @ np.log(p), p @ np.log(p / q), q @ np.log(q / p)
    assert (forward, backward) == (pytest.approx(0.360062, abs=1e-6), pytest.approx(0.394816, abs=1e-6))
    assert spoken(bar["equations"][-1]) == pytest.approx([cross, -h, forward, backward], abs=6e-4)
    assert "pays 0.360 nats" in bar["captions"][-1]
    assert spoken(bar["equations"][0])[2:] == [0.0, 0.0]  # the right belief


def test_swapped() -> None:
    bar = film(open_page("latent/information", p="0.2 0.2 0.6", q="0.5 0.3 0.2"), "lam")
    assert spoken(bar["equations"][-1])[2] == pytest.approx(0.394816, abs=6e-4)


def test_a_missing_support_is_infinite() -> None:
    page = open_page("latent/information", p="1 1 2", q="1 1 0")
    bar = film(page, "lam")
    assert "rules out symbol 3" in bar["captions"][-1] and "rules out" not in bar["captions"][-2]
    assert "∞" in bar["equations"][-1] or "&#x0221E;" in bar["equations"][-1]
    assert spoken(bar["equations"][-1])[-1] == pytest.approx(math.log(2), abs=6e-4)
    header, frames = figure(page, "bars")
    assert header["texts"]["data.1.text"][-1][1] == "∞" and np.isfinite(frames["data.1.y"][-1][[1, 3]]).all()


def test_convexity_and_the_printed_lemma() -> None:
    """LV-E26: .087177 > 0, what the printed bound says with P = Q there."""
    page = open_page("latent/information", p="1 1", q="1 9", lam=0.5)
    (latex,) = page.latex
    here, chord = numbers(latex.value)
    assert here == pytest.approx(0.087177, abs=6e-4) and here < chord == pytest.approx(0.255, abs=6e-4)
    bars = lens.bars(*lens.evened([0.4, 0.6], [0.9, 0.1]))
    shares = np.array(lens.SHARES)
    assert (bars.forward.numpy() <= shares * float(bars.forward[-1]) + 1e-12).all()


def test_own_weights_and_what_cannot_be_used() -> None:
    page = open_warned("latent/information", p="1 oops 3", q="1 1")
    assert "“oops” is left out" in warnings(page)
    assert spoken(film(page, "lam")["equations"][-1])[2] == pytest.approx(
        0.25 * math.log(0.5) + 0.75 * math.log(1.5), abs=6e-4
    )
    assert "Give 2 to 8 weights" in warnings(run_page("latent/information", p="0 0"))


@pytest.mark.parametrize(
    ("law", "gap", "tolerance"),
    [("die", 1.252763 - 1.096542, 1e-4), ("uniform", 1 - math.log(2), 3e-4), ("lognormal", 0.5, 3e-3)],
)
def test_jensen(law: str, gap: float, tolerance: float) -> None:
    bar = film(open_page("latent/information", view="Jensen", law=law), "t")
    assert spoken(bar["equations"][-1])[-1] == pytest.approx(gap, abs=tolerance)
    assert spoken(bar["equations"][0])[-1] == 0.0  # all equal


def test_own_values() -> None:
    page = open_warned("latent/information", view="Jensen", law="own", own="1 -2 4")
    assert "“-2” is left out" in warnings(page)
    assert spoken(film(page, "t")["equations"][-1])[-1] == pytest.approx(
        math.log(2.5) - math.log(2), abs=1e-4
    )
