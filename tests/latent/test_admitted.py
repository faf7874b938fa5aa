"""Pages of a VAE admit every model that has what they need, whatever its class."""

import pytest
import torch
from opening import open_page

from lab import experiments, weights
from lab.lenses import latent
from modules.latent.vae import VAE, gaussian_log_prob
from pages.latent.latent_space import common

PLAIN = {
    "beta10-digits", "beta4-digits", "betaquarter-digits", "convvae-digits", "iwae-digits", "iwae-mnist",
    "vae-bits-digits", "vae-digits", "vae-large-digits", "vae-mnist", "vae15-mnist", "vae2d-mnist",
    "score-digits", "variance-digits",
}  # fmt: skip
WEIGHED = PLAIN | {"iafvae-digits", "iafvae-mnist", "mixture-digits", "vamp-digits"}
ROOMS = ("latent_space", "interpolation", "traversal", "arithmetic", "bound")
OPENED = [(room, name) for room in ROOMS for name in ("iwae-mnist", "variance-digits", "convvae-digits")]
OPENED += [("importance", name) for name in ("iafvae-mnist", "vamp-digits", "iwae-mnist", "variance-digits")]


def test_admitted_are_all_that_have_the_surface() -> None:
    names = {n: e for n, e in experiments.catalog().items() if e.family == "latent"}
    assert {n for n, e in names.items() if common.fits(e)} == PLAIN
    assert {n for n, e in names.items() if common.weighs(e)} == WEIGHED


@pytest.mark.parametrize("name", sorted(WEIGHED))
@torch.no_grad()
def test_the_surface_says_what_it_is(name: str) -> None:
    """log p(z) − log q(z|x) is that of N(0, I) and the encoder's Gaussian where a page takes them to be."""
    model = weights.load(experiments.ZOO / name)
    assert isinstance(model, VAE)
    x = latent.as_input(model, torch.rand(2, latent.side_of(model), latent.side_of(model)))
    guess = model.guess(x, torch.randn(3, 2, model.latent_dim, generator=torch.Generator().manual_seed(0)))
    mean, log_var = model.encode_parameters(x)
    zero = torch.zeros_like(guess.z)
    ratio = (gaussian_log_prob(guess.z, zero, zero) - gaussian_log_prob(guess.z, mean, log_var)).sum(-1)
    assert torch.allclose(ratio, guess.log_ratio, rtol=1e-3, atol=1e-2) == (name in PLAIN)


@pytest.mark.heavy
@pytest.mark.parametrize(("room", "name"), OPENED)
def test_they_open(room: str, name: str) -> None:
    open_page(f"latent/{room}", model=name)
