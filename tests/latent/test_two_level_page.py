"""Two levels: the noise of a digit's codes, which part is redrawn, and what the page says of it."""

import pytest
import torch
from opening import equation, figure, film, numbers, open_page, open_warned, prose
from torch import Tensor

from lab import ui, weights
from lab.lenses import stock
from modules.latent.ladder import LadderVAE
from pages.latent.two_level import lens


@pytest.fixture(scope="module")
def ladder() -> LadderVAE:
    return weights.load("ladder-freebits-digits")


@pytest.fixture(scope="module")
def digits() -> Tensor:
    return stock.bits()[0]


def test_noise_gives_the_codes_back(ladder: LadderVAE, digits: Tensor) -> None:
    codes = ladder.encode(digits[:20])
    assert torch.allclose(ladder.from_noise(lens.noise_of(ladder, codes)), codes, atol=1e-4)


def test_the_layer_that_stays_stays(ladder: LadderVAE, digits: Tensor) -> None:
    own = lens.noise_of(ladder, ladder.encode(digits[:1]))[0]
    g = torch.Generator().manual_seed(5)
    a = torch.randn(2, lens.COUNT, ladder.latent_dim, generator=g)[0]
    lower = ladder.latent_dims[0]
    for level, kept in ((0, slice(lower, None)), (1, slice(0, lower))):
        noise = a.clone()
        noise[:, kept] = own[kept]
        expected = ladder.decode(ladder.from_noise(noise)).reshape(-1, 8, 8)
        assert torch.allclose(lens.walked(ladder, own, level, 5)[0], expected, atol=1e-5)


def test_bound_by_layers_is_the_cards(ladder: LadderVAE, digits: Tensor) -> None:
    card = weights.read_card(ui.folder("ladder-freebits-digits"))["metrics"]
    distortion, kl = lens.layers(ladder, digits)
    assert distortion == pytest.approx(card["test/rec"], rel=2e-2)
    assert kl.sum().item() == pytest.approx(card["test/kl"], rel=2e-2)
    page = open_page("latent/two_level")
    shown = numbers(equation(page).replace(r"\underbrace{", "").replace("}_{", " _{"))
    assert shown[0] == pytest.approx(distortion, abs=6e-3)
    assert f"{kl.max():.2f} of {kl.sum():.2f} nats" in prose(page)


def test_free_bits_keep_the_top_in_use(digits: Tensor, ladder: LadderVAE) -> None:
    reader, plain = weights.load("cnn-digits"), weights.load("ladder-digits")
    low, high = lens.changes(ladder, reader, digits, 0)
    assert high.pixels > low.pixels > 0.1 and high.kept < low.kept
    _, collapsed = lens.changes(plain, reader, digits, 0)
    assert collapsed.pixels < 0.02 and collapsed.kept > 0.9 and lens.layers(plain, digits)[1][1] < 0.1


def test_the_film_and_its_captions() -> None:
    page = open_page("latent/two_level", digit="8", step=24)
    bar = film(page)
    assert bar["count"] == lens.STEPS and len(set(bar["captions"])) > 10
    for kind in ("bottom redrawn", "top redrawn"):
        assert figure(page, kind)[1]["data.0.z"].shape == (lens.STEPS, 8, 44)


def test_a_broken_drawing_is_named() -> None:
    assert "cannot be read" in open_warned("latent/two_level", digit="ink.!!").warning[0].value
