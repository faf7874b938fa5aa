"""The page "Density from a curve": against closed forms of the line, quadrature, and its own draws."""

import math
from functools import partial

import pytest
import torch
from opening import component, equation, film, numbers, open_page, open_warned, prose, run_page, warnings
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from modules.latent.elbo import log_normal
from pages.latent.curve_density import lens

opened = partial(open_page, "latent/curve_density")
POINT = (0.7, -0.4)


def test_of_a_line_all_is_gaussian() -> None:
    """x = (1.2, 0.6) z + noise: marginal and posterior in closed form."""
    w, sigma = torch.tensor([1.2, 0.6], dtype=torch.float64), 0.3
    law = multivariate_normal([0, 0], (torch.outer(w, w) + sigma**2 * torch.eye(2).double()).numpy())
    grid = lens.posterior(lens.line, sigma, POINT)
    assert float(grid.log_prob) == pytest.approx(law.logpdf(POINT), abs=1e-9)
    precision = 1 + float(w @ w) / sigma**2
    mean = float(w @ torch.tensor(POINT, dtype=torch.float64)) / sigma**2 / precision
    expected = norm(mean, precision**-0.5).pdf(grid.z.numpy())
    torch.testing.assert_close(grid.posterior, torch.tensor(expected), rtol=0, atol=1e-8)
    assert lens.modes(grid).tolist() == pytest.approx([mean], abs=0.006)
    at = torch.tensor([POINT], dtype=torch.float64)
    assert float(lens.at_points(lens.line, sigma, at)) == pytest.approx(law.logpdf(POINT), abs=1e-6)


@pytest.mark.parametrize("name", list(lens.CURVES))
def test_the_density_integrates_and_its_draws_follow_it(name: str) -> None:
    curve, sigma = lens.CURVES[name][0], 0.3
    p = lens.density(curve, sigma)
    cell = (2 * lens.REACH / lens.CELLS) ** 2
    assert 0.97 < float(p.sum()) * cell < 1 + 1e-3  # the spiral's and the line's ends leave the window
    _, x = lens.draws(curve, sigma, 0)
    upper = float(p[lens.CELLS // 2 :].sum()) * cell
    assert float((x[:, 1] > 0).double().mean()) == pytest.approx(upper, abs=4 * 0.5 / math.sqrt(1000) + 0.02)

    def joint(z: float) -> float:
        at = torch.tensor([z], dtype=torch.float64)
        around = log_normal(torch.tensor(POINT, dtype=torch.float64), curve(at)[0], sigma**2).sum()
        return float((around + log_normal(at, 0.0, 1.0)[0]).exp())

    whole = quad(joint, -4, 4, limit=300)[0]
    assert float(lens.posterior(curve, sigma, POINT).log_prob) == pytest.approx(math.log(whole), abs=1e-3)


def test_two_guesses_at_the_crossing() -> None:
    curve, at = lens.CURVES["loop"]
    modes = lens.modes(lens.posterior(curve, 0.3, at))
    assert len(modes) == 2 and float(modes.sum()) == pytest.approx(0, abs=1e-9)
    torch.testing.assert_close(curve(modes), torch.tensor([at, at]).double(), rtol=0, atol=0.1)


def test_at_the_centre_the_posterior_is_the_prior() -> None:
    grid = lens.posterior(lens.horseshoe, 0.3, (0.0, 0.0))
    prior = log_normal(grid.z, 0.0, 1.0).exp()
    torch.testing.assert_close(grid.posterior, prior / (prior.sum() * grid.width), rtol=0, atol=1e-6)


def test_wide_noise_widens_both_guesses() -> None:
    """The posterior's entropy grows from σ = 0.3 to σ = 1, and two humps stay."""
    curve, at = lens.CURVES["loop"]
    spread = []
    for sigma in (0.3, 1.0):
        grid = lens.posterior(curve, sigma, at)
        spread.append(float(-torch.xlogy(grid.posterior, grid.posterior).sum() * grid.width))
    assert spread[0] < spread[1] - 0.5
    assert len(lens.modes(grid)) == 2  # at the crossing


def test_own_corners() -> None:
    corners, bad = lens.typed("0, 0; 2, 2; x, 1; 9, 9; 2, 0")
    assert corners.tolist() == [[0, 0], [2, 2], [2, 0]] and "'x, 1' is no point" in bad
    curve = lens.polyline(corners)
    z = torch.tensor([-3.0, -1.0, 0.0, 2.0], dtype=torch.float64)
    torch.testing.assert_close(curve(z), torch.tensor([[0, 0], [1, 1], [2, 2], [2, 0]]).double())
    opened(curve="own corners")
    assert "no point" in warnings(
        open_warned("latent/curve_density", curve="own corners", corners="0,0; 1,1; a")
    )
    assert "two corners" in warnings(run_page("latent/curve_density", curve="own corners", corners="1, 1"))


def test_the_page_shows_its_numbers() -> None:
    page = opened()
    curve, at = lens.CURVES["loop"]
    value = lens.posterior(curve, 0.3, at).log_prob.item()
    assert numbers(equation(page))[-1] == pytest.approx(value, abs=6e-5)
    assert "the posterior has 2 humps" in prose(page)
    bar = film(page, "draws")
    _, x = lens.draws(curve, 0.3, 0)
    mean = lens.at_points(curve, 0.3, x)[:100].mean()
    assert bar["at"] == lens.DRAWS.index(100) and f"{float(mean):.3f} nats" in bar["captions"][bar["at"]]
    _, arrays = component(page, "figure-point")
    assert int((~torch.tensor(arrays["data.3.x"][bar["at"]]).isnan()).sum()) == 100


def test_a_click_asks_about_another_point() -> None:
    page = opened(curve="horseshoe", point="0,0")
    value = lens.posterior(lens.horseshoe, 0.3, (0.0, 0.0)).log_prob.item()
    assert numbers(equation(page))[-1] == pytest.approx(value, abs=6e-5)
    open_warned("latent/curve_density", point="77,3")
