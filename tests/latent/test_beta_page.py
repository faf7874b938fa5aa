"""β: rates and distortions against the cards and a count of one's own, and what the scenes say of them."""

import pytest
import torch
from opening import figure, film, open_page, open_warned, spoken
from torch.distributions import Normal, kl_divergence

from lab import ui, weights
from lab.lenses import latent, stock
from lab.ui.models import shelves
from modules.latent.vae import VAE
from pages.latent.beta import lens

NAMES = {0.25: "betaquarter-digits", 1.0: "vae-bits-digits", 4.0: "beta4-digits", 10.0: "beta10-digits"}


@pytest.fixture(scope="module")
def result() -> dict[float, lens.Bought]:
    x, _ = stock.bits()
    return {beta: lens.bought(weights.load(name), x) for beta, name in NAMES.items()}


def test_the_shipped_models_are_offered() -> None:
    assert set(NAMES.values()) <= set(ui.trained("latent", lens.fits))


@pytest.mark.parametrize("beta", NAMES)
def test_rate_and_distortion_are_the_cards(beta: float, result: dict[float, lens.Bought]) -> None:
    card = weights.read_card(ui.folder(NAMES[beta]))["metrics"]
    assert result[beta].rate == pytest.approx(card["test/kl"], rel=2e-2, abs=1e-3)
    assert result[beta].distortion == pytest.approx(card["test/rec"], rel=3e-2)
    assert result[beta].active == card["test/active"]


def test_the_rate_is_a_sum_of_kls(result: dict[float, lens.Bought]) -> None:
    x, _ = stock.bits()
    model: VAE = weights.load(NAMES[4.0])
    mean, log_var = (part.detach() for part in model.encode_parameters(x))
    each = kl_divergence(Normal(mean, (0.5 * log_var).exp()), Normal(0, 1)).mean(0)
    assert torch.allclose(result[4.0].kl, each.sort(descending=True).values, atol=1e-5)
    assert torch.allclose(each[result[4.0].order], result[4.0].kl, atol=1e-5)


def test_the_page_shows_them(result: dict[float, lens.Bought]) -> None:
    page = open_page("latent/beta", beta=4)
    bar = film(page, "beta")
    assert bar["at"] == 2 and len(bar["equations"]) >= 4
    one = result[4.0]
    expected = [one.distortion, one.rate, one.cost, one.distortion, one.rate, one.objective]
    assert spoken(bar["equations"][2]) == pytest.approx(expected, abs=6e-3)
    _, frames = figure(page, "plane")
    assert frames["data.2.x"][2] == pytest.approx([one.rate], rel=1e-4)


def test_what_the_scenes_say(result: dict[float, lens.Bought]) -> None:
    assert lens.best(list(result.values())) is result[1.0]
    assert result[0.25].active == 10 and result[0.25].distortion < result[1.0].distortion
    assert result[4.0].active < 5 and result[10.0].active == 0 and result[10.0].rate < 0.01
    x, _ = stock.bits()
    greys = lens.sheet(weights.load(NAMES[10.0]), x[:1], x[1:7], result[10.0].order)[1]
    assert (greys - greys[0]).abs().max() < 0.1


def test_own_digit_is_rebuilt_first_and_a_broken_drawing_is_named() -> None:
    page = open_page("latent/beta", digit="8", beta=1)
    _, frames = figure(page, "sheet")
    picture = latent.examples(*shelves.examples(shelves.DIGITS, 8))[8][1]
    top = torch.tensor(frames["data.0.z"][1][:8, :8])
    assert torch.equal(top, ((picture * 15).round() / 15 > 0.5).float())  # as the pad gives it
    assert "cannot be read" in open_warned("latent/beta", digit="ink.!!").warning[0].value
