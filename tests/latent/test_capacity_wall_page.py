"""Capacity wall: entropies by other integrals, mixtures against scikit-learn, the curve's EM, the scenes."""

import math

import pytest
import torch
from opening import film, open_page, run_page, spoken, warnings
from scipy.integrate import quad
from scipy.special import ive
from scipy.stats import norm
from sklearn.mixture import GaussianMixture as Reference

from modules.latent.gtm import GTM
from pages.latent.capacity_wall import cube, lens


@pytest.fixture(scope="module")
def ring() -> tuple[torch.Tensor, torch.Tensor]:
    return lens.ring(1000, 0.1, 0), lens.ring(lens.HELD, 0.1, 100)


@pytest.fixture(scope="module")
def fits(ring: tuple[torch.Tensor, torch.Tensor]) -> lens.Fits:
    return list(lens.fits(*ring, lens.SIZES))[-1][1]


def test_entropies() -> None:
    """LV experiment 4, and by quadrature of scipy's."""
    assert lens.ring_entropy(0.1) == pytest.approx(0.951698, abs=1e-6)
    assert lens.gaussian_log_prob(0.5 + 0.01) * 2 == pytest.approx(-2.164533, abs=1e-6)
    assert -lens.cube_entropy(0.1) - lens.gaussian_log_prob(1.01) == pytest.approx(1.614413, abs=1e-6)
    for sigma in (0.05, 0.4):

        def part(r: float, s: float = sigma) -> float:
            p = ive(0, r / s**2) * math.exp(-((r - 1) ** 2) / (2 * s**2)) / (2 * math.pi * s**2)
            return -2 * math.pi * r * p * math.log(p) if p > 1e-300 else 0.0

        assert lens.ring_entropy(sigma) == pytest.approx(quad(part, 0, 1 + 8 * sigma, limit=500)[0], abs=1e-5)

        def half(x: float, s: float = sigma) -> float:
            p = 0.5 * (norm.pdf(x, -1, s) + norm.pdf(x, 1, s))
            return -p * math.log(p) if p > 1e-300 else 0.0

        whole = quad(half, -4, 4, points=[-1, 0, 1], limit=500)[0]
        assert lens.cube_entropy(sigma) == pytest.approx(whole, abs=1e-5)
    disc = (torch.arange(16)[:, None] - 8) ** 2 + (torch.arange(16) - 8) ** 2 < 20
    cells = int(disc.sum())
    assert lens.drawn_entropy(disc.float()) == pytest.approx(math.log(cells * (2 * lens.EDGE / 16) ** 2))
    x = lens.drawn(disc.float(), 500, 0)
    assert x.abs().max() < lens.EDGE


def test_mixtures_are_as_likely_as_scikit_learns(fits: lens.Fits, ring: tuple) -> None:
    x, held_out = (v.numpy() for v in ring)
    one = Reference(1).fit(x)
    assert float(fits.train[0]) == pytest.approx(one.score(x), abs=1e-5)
    assert float(fits.held_out[0]) == pytest.approx(one.score(held_out), abs=1e-4)
    eight = Reference(8, n_init=5, random_state=0).fit(x)
    assert float(fits.train[lens.SIZES.index(8)]) == pytest.approx(eight.score(x), abs=0.02)


def test_a_mixture_paves_the_ring_and_overfits(fits: lens.Fits) -> None:
    by_size = dict(zip(lens.SIZES, fits.held_out.tolist(), strict=True))
    assert by_size[2] == pytest.approx(-2.0, abs=0.03) and by_size[4] == pytest.approx(-1.27, abs=0.03)
    assert by_size[8] == pytest.approx(-0.99, abs=0.03)
    assert by_size[32] < max(by_size.values()) and (fits.train.diff() > 0).all()
    area = (2 * lens.EDGE / lens.CELLS) ** 2
    assert float(fits.densities[lens.SIZES.index(8)].sum()) * area == pytest.approx(1, abs=0.01)
    middle = lens.CELLS // 2
    assert fits.densities[0][middle, middle] > 0.95 * fits.densities[0].max()  # one Gaussian: in the hole
    assert (
        fits.densities[lens.SIZES.index(8)][middle, middle] < 0.01 * fits.densities[lens.SIZES.index(8)].max()
    )


def test_the_curve_climbs_beyond_all_mixtures(fits: lens.Fits, ring: tuple) -> None:
    course = lens.course(*ring, 6, 0)
    assert (course.train.diff() >= -1e-9).all()
    assert course.parameters == 15
    assert float(course.held_out[-1]) > float(fits.held_out.max())
    assert float(course.held_out[-1]) == pytest.approx(-lens.ring_entropy(0.1), abs=0.03)
    assert float(course.sigmas[-1]) == pytest.approx(0.1, abs=0.01)
    radius = course.lines[-1].norm(dim=1)
    assert float((radius - 1).abs().max()) < 0.2
    assert float(course.lines[lens.SHOWN.index(3)].norm(dim=1).max()) < 0.8  # it curls in the middle


def test_the_window_holds_a_curves_mass(ring: tuple) -> None:
    model = GTM((2,), 4)
    model.initialize(ring[0], torch.Generator().manual_seed(1))
    area = (2 * lens.EDGE / lens.CELLS) ** 2
    model.weights.zero_()
    model.variance.fill_(0.05)
    assert float(model.log_prob(lens.window()).exp().sum()) * area == pytest.approx(1, abs=1e-3)


def test_the_cube_needs_every_corner() -> None:
    for d in (2, 3):
        x, new = cube.data(d, 0.1, 0)
        sizes = [1, 2 ** (d - 1), 2**d]
        result = list(lens.fits(x, new, sizes, "spherical"))[-1][1]
        lost = -lens.cube_entropy(0.1) - result.held_out / d
        assert float(lost[0]) == pytest.approx(1.614413, abs=0.02)
        assert float(lost[1]) > 0.1 and abs(float(lost[2])) < 0.02
        numbers, coded = lens.bits(x, new)
        assert numbers == 5 * d and coded / d == pytest.approx(-lens.cube_entropy(0.1), abs=0.02)


def test_the_page_shows_its_numbers(fits: lens.Fits) -> None:
    page = open_page("latent/capacity_wall")
    text = film(page, "k")
    at = lens.SIZES.index(8)
    new, fitted, best, curve = spoken(text["equations"][at])
    assert text["at"] == at and new == pytest.approx(float(fits.held_out[at]), abs=6e-5)
    assert fitted == pytest.approx(float(fits.train[at]), abs=6e-5)
    assert best == pytest.approx(-lens.ring_entropy(0.1), abs=6e-5) and curve > max(fits.held_out.tolist())
    assert "47 numbers" in text["captions"][at]


@pytest.mark.heavy
def test_six_dimensions_and_few_points() -> None:
    page = open_page("latent/capacity_wall", view="Cube", d=6)
    text = film(page, "components")["equations"][cube.SIZES.index(32)]
    new, best, plain, coded = spoken(text)
    assert best - new > 0.5 and coded > best - 0.05 and plain < new  # far from the best
    few = open_page("latent/capacity_wall", n=250)
    assert "250" in str(few.session_state["_program"][0])
    values = [spoken(e) for e in film(few, "k")["equations"]]
    assert max(v[0] for v in values) > values[-1][0] + 0.1 and values[0][3] > max(v[0] for v in values)


@pytest.mark.heavy
def test_an_own_drawing() -> None:
    page = open_page("latent/capacity_wall", data="own drawing", ink="two lines")
    assert film(page, "k")["count"] == len(lens.SIZES)
    blank = run_page("latent/capacity_wall", data="own drawing", ink=blank_ink())
    assert "nothing on the pad" in warnings(blank)


def blank_ink() -> str:
    from lab import ui

    return ui.ink(torch.zeros(lens.PAD, lens.PAD))
