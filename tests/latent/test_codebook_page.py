"""Codebook: nearest codes, a code written over, the cells of a slice, usage and both priors."""

import math

import pytest
import torch
from opening import equation, figure, film, numbers, open_page, open_warned
from torch import Tensor

from lab import ui, weights
from lab.lenses import stock
from modules.latent.vq_vae import VQVAE
from pages.latent.codebook import lens


@pytest.fixture(scope="module")
def book() -> VQVAE:
    return weights.load("vqvae-digits")


@pytest.fixture(scope="module")
def digits() -> Tensor:
    return stock.bits()[0]


def test_the_nearest_code_is_the_one_at_the_least_distance(book: VQVAE, digits: Tensor) -> None:
    result = lens.read(book, digits[:1])
    features = book.features(digits[:1])[0]
    brute = torch.stack([((f - book.codebook) ** 2).sum(1) for f in features])
    assert torch.allclose(result.distances, brute, atol=1e-4)
    assert torch.equal(result.codes, brute.argmin(1))


def test_a_code_is_written_over_at_one_place(book: VQVAE, digits: Tensor) -> None:
    result = lens.read(book, digits[:1])
    pictures = lens.swapped(book, result.codes, 6)
    assert torch.allclose(pictures[result.codes[6]], result.rebuilt, atol=1e-6)
    codes = result.codes.clone()
    codes[6] = 3
    assert torch.allclose(pictures[3], book.decode(codes[None])[0, 0], atol=1e-6)


def test_use_and_prices_are_the_cards(book: VQVAE, digits: Tensor) -> None:
    card = weights.read_card(ui.folder("vqvae-digits"))["metrics"]
    counts, perplexity = lens.usage(book, digits)
    assert counts.sum() == 250 * 16
    assert perplexity == pytest.approx(card["test/perplexity"], rel=2e-2)
    share = counts[counts > 0].double() / counts.sum()
    assert perplexity == pytest.approx(math.exp(-(share * share.log()).sum()), rel=1e-5)
    uniform, learned = lens.prices(book, book.encode(digits))
    assert uniform == pytest.approx(16 * math.log(32))
    assert learned == pytest.approx(card["test/elbo"] - card["test/rec"], rel=2e-2)
    assert counts.max() / counts.sum() > 0.15  # few codes do much of the work


def test_cells_are_exact(book: VQVAE, digits: Tensor) -> None:
    plane = lens.cut(book, digits)
    features = book.features(digits).flatten(0, 1)
    centred = features - features.mean(0)
    values = torch.linalg.eigvalsh(centred.T @ centred).flip(0)
    assert plane.share == pytest.approx(float(values[:2].sum() / values.sum()), abs=1e-4)
    assert plane.owner.shape == (lens.MAP, lens.MAP) and 2 < len(plane.owner.unique()) <= 32


def test_the_learned_prior_costs_its_own_draws_less(book: VQVAE) -> None:
    draws = lens.draws(book, 50, 0)
    assert lens.prices(book, draws["learned"])[1] < lens.prices(book, draws["uniform"])[1] - 20


def test_the_page_shows_them(book: VQVAE, digits: Tensor) -> None:
    page = open_page("latent/codebook", digit="8", place="2,1", code=4)
    bar = film(page, "code")
    assert bar["count"] == 32 and bar["at"] == 4
    header, _ = figure(page, "place")
    assert len(header["csv"].split()) == 17  # a line each for 16 places, and the names
    assert sum("the smallest of all" in line for line in bar["captions"]) == 1
    shown = numbers(equation(open_page("latent/codebook", view="Priors")))
    assert shown == pytest.approx(lens.prices(book, book.encode(digits)), abs=6e-3)
    shown = numbers(equation(open_page("latent/codebook", view="Use")))
    assert shown == pytest.approx([lens.usage(book, digits)[1]], abs=6e-3)


def test_a_broken_drawing_is_named() -> None:
    assert "cannot be read" in open_warned("latent/codebook", digit="ink.!!").warning[0].value
