"""Prior or posterior: the distance of both laws, what the classifier makes of their draws, and the scenes."""

import math

import pytest
import torch
from opening import equation, figure, film, numbers, open_page, open_warned, table_with
from torch import Tensor

from lab import weights
from lab.lenses import stock
from lab.ui.models import loading
from modules.latent.aggregated import AggregatedPosterior
from modules.latent.vae import VAE
from pages.latent.prior_posterior import lens


@pytest.fixture(scope="module")
def train() -> Tensor:
    return stock.bits("train")[0]


@pytest.fixture(scope="module")
def vae() -> VAE:
    return weights.load("vae-bits-digits")


def test_which_models_are_offered() -> None:
    names = set(loading.trained("latent", lens.fits))
    assert {"vae-bits-digits", "vamp-digits", "mixture-digits", "betaquarter-digits"} <= names
    assert not {"vae-digits", "cvae-digits", "ladder-digits", "vqvae-digits", "madevae-digits"} & names


def test_the_distance_is_a_kl(vae: VAE) -> None:
    """Of one component N(m, s²) the KL to N(0, I) has a closed form."""
    mean, log_var = torch.full((1, 10), 0.5), torch.full((1, 10), math.log(0.25))
    result, error = lens.distance(vae, AggregatedPosterior(mean, log_var), samples=4000)
    exact = 10 * 0.5 * (0.25 + 0.25 - 1 - math.log(0.25))
    assert result == pytest.approx(exact, abs=4 * error) and error < 0.1


def test_it_is_no_more_than_the_kl_that_is_paid(vae: VAE, train: Tensor) -> None:
    q = lens.aggregated(vae, train)
    result, _ = lens.distance(vae, q)
    paid = 0.5 * (q.log_var.exp() + q.mean.square() - 1 - q.log_var).sum(1).mean()
    assert 0 < result < paid


def test_equal_pictures_are_judged_alike(train: Tensor) -> None:
    reader, test = weights.load("cnn-digits"), stock.bits("test")[0]
    same = lens.judged(reader, test, test, train)
    assert same.frechet == pytest.approx(0, abs=1e-3) and same.sure > 0.8
    assert lens.judged(reader, train[:50], test, train).nearest == 0
    result, belief = lens.features(reader, test[:20])
    logits = reader.predict(test[:20].reshape(-1, 1, 8, 8))
    assert torch.allclose(belief, logits.softmax(-1), atol=1e-6) and result.shape == (20, 256)


def test_spread_scales_the_prior(vae: VAE) -> None:
    codes = lens.spread(vae, [0.0, 1.0, 2.0], 6, 3)
    assert codes[0].abs().max() == 0 and torch.allclose(codes[2], 2 * codes[1])


def test_the_page_and_what_its_scenes_say(vae: VAE, train: Tensor) -> None:
    page = open_page("latent/prior_posterior")
    gaps = {n: lens.distance(m := weights.load(n), lens.aggregated(m, train))[0]
            for n in ("vae-bits-digits", "vamp-digits", "betaquarter-digits")}  # fmt: skip
    assert numbers(equation(page))[0] == pytest.approx(gaps["vae-bits-digits"], abs=6e-4)
    assert gaps["vamp-digits"] < gaps["vae-bits-digits"] < gaps["betaquarter-digits"]
    prior, posterior, real = table_with(page, "Fréchet distance")["Fréchet distance"]
    assert real < posterior < prior
    bar, (_, frames) = film(page, "spread"), figure(page, "prior")
    assert bar["count"] == 7 and frames["data.0.z"].shape == (7, 44, 44)
    first = torch.tensor(frames["data.0.z"][0])
    assert torch.allclose(first[:8, :8], first[:8, 9:17])  # at spread 0 all are one picture


def test_what_a_link_says_wrongly_is_named() -> None:
    page = open_warned("latent/prior_posterior", model="beta5-digits")
    assert "beta5-digits" in page.warning[0].value
