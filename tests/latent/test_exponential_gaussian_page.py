"""Exponential-Gaussian: bound and evidence by quadrature, the printed formula above the evidence."""

import math

import pytest
import torch
from opening import figure, film, open_page, open_warned, prose, spoken
from scipy import integrate
from scipy.stats import expon, norm

from pages.latent.exponential_gaussian import lens


def by_quadrature(theta: float, phi: float, x: float) -> tuple[float, float]:
    """L and log p(x)."""
    p, q = expon(scale=1 / theta), expon(scale=1 / phi)
    evidence = integrate.quad(lambda z: p.pdf(z) * norm.pdf(x, z), 0, 60, points=[0.5, 1, 2, 4], limit=300)[0]

    def inside(z: float) -> float:
        return float(q.pdf(z) * (p.logpdf(z) + norm.logpdf(x, z) - q.logpdf(z)))

    return integrate.quad(inside, 0, 60 / phi, limit=300)[0], math.log(evidence)


@pytest.mark.parametrize(("theta", "phi", "x"), [(1.0, 1.0, 1.0), (2.0, 2.0, 1.0), (0.7, 1.3, 2.0)])
def test_numbers_of_the_film(theta: float, phi: float, x: float) -> None:
    bar = film(open_page("latent/exponential_gaussian", theta=theta, phi=phi, x=x), "theta")
    assert bar["names"][bar["at"]] == f"{theta:g}"
    assert spoken(bar["equations"][bar["at"]])[-2:] == pytest.approx(by_quadrature(theta, phi, x), abs=6e-4)


def test_the_printed_formula_is_no_bound() -> None:
    """LV-O33, E20: −.918939 against −1.193147."""
    page = open_page("latent/exponential_gaussian", formula="printed")
    text = film(page, "theta")["captions"][lens.index(1.0)]
    assert "the printed formula says -0.919, above log p(x): no bound" in text and "0.226 below" in text
    assert "too high, here by 0.500" in prose(page)
    frames = figure(page, "curves")[1]
    assert (frames["data.0.y"] <= frames["data.2.y"] + 1e-6).all()  # the right one never crosses
    assert (frames["data.1.y"] > frames["data.2.y"]).any()


def test_summits() -> None:
    page = open_page("latent/exponential_gaussian")
    assert "2/x = 2.000, log p(x) at θ = 1.680" in prose(page)  # E21
    for formula, place in (("right", 2.0), ("printed", 1.0)):
        surface = lens.surface(1.0)
        t, p = divmod(int(surface.of(formula).argmax()), len(lens.VALUES))
        assert (lens.VALUES[t], lens.VALUES[p]) == (place, place) and surface.peak(formula) == place
    assert lens.surface(2.0).peak("right") == 1.0
    assert "has a maximum" in prose(open_page("latent/exponential_gaussian", x=-1.0))
    surface = lens.surface(-1.0).bound.diagonal()
    assert (surface.diff() > 0).all()


def test_the_bound_rises_where_the_evidence_falls() -> None:
    """LV-O34, from θ = 1.7 back to 1 at φ = 1."""
    result, a, b, p = lens.surface(1.0), lens.index(1.7), lens.index(1.0), lens.index(1.0)
    assert result.bound[b, p] > result.bound[a, p] and result.evidence[b] < result.evidence[a]
    assert abs(lens.VALUES[int(result.evidence.argmax())] - result.likeliest) < 0.06  # type: ignore[operator]
    assert lens.move(result, b, 1.0) == "L falls, log p rises"
    assert lens.move(result, lens.index(0.5), 1.0) == "both rise"
    assert torch.isfinite(result.printed).all()


def test_a_bad_link_is_named() -> None:
    page = open_warned("latent/exponential_gaussian", x="seven")
    assert film(page, "theta")["count"] == len(lens.VALUES)
