"""Denoising: damage that nests, wrong pixels by hand, the referee's costs, and what the scenes say."""

import pytest
import torch
from opening import figure, film, open_page, open_warned, spoken
from torch import Tensor

from lab import ui, weights
from lab.lenses import stock
from lab.ui.models import shelves
from modules.latent.denoising import DenoisingAutoencoder, corrupt
from pages.latent.denoising import lens


@pytest.fixture(scope="module")
def models() -> dict[str, torch.nn.Module]:
    return {name: weights.load(folder).requires_grad_(False) for name, folder in lens.MODELS.items()}


@pytest.fixture(scope="module")
def bits() -> Tensor:
    return stock.bits()[0]


def test_the_three_are_of_one_shape(models: dict[str, torch.nn.Module]) -> None:
    decoders = [[tuple(p.shape) for p in model.decoder.parameters()] for model in models.values()]
    assert decoders[0] == decoders[1] == decoders[2] and all(m.latent_dim == 10 for m in models.values())
    assert isinstance(models["AE"], DenoisingAutoencoder) and models["AE"].corruption == 0
    assert models["DAE"].corruption == 0.3 and models["DAE"].kind == "mask"


@pytest.mark.parametrize("kind", lens.KINDS)
def test_more_damage_hits_what_less_has_hit(kind: str, bits: Tensor) -> None:
    given = lens.levels(bits[:20], kind, 3)  # type: ignore[arg-type]
    changed = given != bits[:20]
    assert not changed[0].any() and (changed[1:] >= changed[:-1]).all()
    if kind != "noise":
        assert float(changed[-1].float().mean()) == pytest.approx(
            0.9 * (float(bits[:20].mean()) if kind == "mask" else 1), abs=0.03
        )
    again = corrupt(bits[:20], kind, 0.3, torch.Generator().manual_seed(3))  # type: ignore[arg-type]
    assert torch.equal(given[6], again)


def test_wrong_pixels_and_nats_by_hand(models: dict[str, torch.nn.Module], bits: Tensor) -> None:
    heal = lens.heal(models, bits[:5], "flip", 0)
    p = models["DAE"].reconstruct(heal.pictures["x̃"][4]).double()
    by_hand = (
        sum(int((a > 0.5) != (b > 0.5)) for a, b in zip(p.flatten(), bits[:5].flatten(), strict=True)) / 5
    )
    assert float(heal.wrong["DAE"][4]) == pytest.approx(by_hand)
    picked = torch.where(bits[:5] > 0.5, p, 1 - p).clamp(min=1e-6)
    assert float(heal.nats["DAE"][4]) == pytest.approx(float(-picked.log().sum(1).mean()), rel=1e-3)
    card = weights.read_card(ui.folder("ae-digits"))["metrics"]["test/rec"]
    assert float(lens.heal(models, bits, "mask", 0).nats["AE"][0]) == pytest.approx(card, rel=1e-2)


def test_what_the_scenes_say_of_noise(models: dict[str, torch.nn.Module], bits: Tensor) -> None:
    mask, flip, noise = (lens.heal(models, bits, kind, 0) for kind in lens.KINDS)
    assert lens.best(mask.wrong, 6) == "DAE" and float(mask.wrong["DAE"][6]) < float(mask.wrong["x̃"][6])
    assert lens.best(mask.wrong, 0) == "AE" and lens.best(flip.wrong, 4) == "VAE"
    assert lens.best(noise.wrong, 12) == "VAE"
    assert float(noise.wrong["AE"][12]) == pytest.approx(float(noise.wrong["DAE"][12]), abs=0.3)


def test_what_the_scenes_say_of_the_prior(models: dict[str, torch.nn.Module], bits: Tensor) -> None:
    referee, x = weights.load(lens.REFEREE).requires_grad_(False), stock.bits("train")[0]
    real = float(lens.judged(referee, bits[None]))
    assert real == pytest.approx(float(-referee.log_prob(bits).mean()), rel=1e-5)
    free, fitted = (
        {n: float(lens.judged(referee, lens.drawn(m, x, source, 150, 0)[4:5])) for n, m in models.items()}
        for source in lens.SOURCES
    )
    assert free["VAE"] < real and min(free["AE"], free["DAE"]) > real + 4
    assert fitted["AE"] < real + 2 and fitted["AE"] < free["AE"] - 6


def test_a_fitted_gaussian_has_the_codes_moments(models: dict[str, torch.nn.Module]) -> None:
    class Bare(torch.nn.Module):
        latent_dim = 10

        def encode(self, x: Tensor) -> Tensor:
            return models["AE"].encode(x)

        def decode(self, z: Tensor) -> Tensor:
            return z

    x = stock.bits("train")[0]
    z = lens.drawn(Bare(), x, "fitted", 4000, 0)[4]
    own = models["AE"].encode(x)
    assert torch.allclose(z.mean(0), own.mean(0), atol=0.4)
    assert torch.allclose(z.T.cov(), own.T.cov(), atol=2.5)


def test_the_page_of_noise(models: dict[str, torch.nn.Module]) -> None:
    page = open_page("latent/denoising", damage=0.5, kind="flip", seed=4, digit="8")
    bar, (_, frames) = film(page, "damage"), figure(page, "sheet")
    assert bar["names"][bar["at"]] == "0.5" and frames["data.0.z"].shape[0] == len(lens.LEVELS)
    x = (dict(lens.latent.examples(*shelves.examples(shelves.DIGITS, 8)))["8"] * 15).round() / 15
    mine = lens.heal(models, (x > 0.5).float().reshape(1, 64).expand(lens.DRAWS, -1), "flip", 4)
    expected = [float(mine.nats[name][10]) for name in lens.MODELS]
    assert spoken(bar["equations"][10]) == pytest.approx(expected, abs=6e-3)
    assert f"VAE {float(mine.wrong['VAE'][10]):.1f}." in bar["captions"][10]


def test_the_page_of_the_prior_and_a_broken_drawing() -> None:
    bar = film(open_page("latent/denoising", view="Prior", source="fitted"), "s")
    assert "for test digits" in bar["captions"][4]
    assert "cannot be read" in open_warned("latent/denoising", digit="ink.!!").warning[0].value
