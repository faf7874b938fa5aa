"""Disentanglement: shares, MIG and TC by a count of one's own, the price, and what the scenes say of them."""

import math

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, spoken
from torch import Tensor

from datamodules.sprites import FACTORS, everything
from lab import ui, weights
from lab.lenses import sprites
from modules.latent.scores import mutual_information_gap
from modules.latent.vae import VAE
from pages.latent.disentanglement import lens

NAMES = ("vae-sprites", "factorvae-sprites", "tcvae-sprites", "beta4-sprites")
COLUMN, ROW, SCALE = (lens.NAMES.index(name) for name in ("column", "row", "scale"))


@pytest.fixture(scope="module")
def models() -> dict[str, VAE]:
    return {name: weights.load(name).requires_grad_(False) for name in NAMES}


@pytest.fixture(scope="module")
def result(models: dict[str, VAE]) -> dict[str, lens.Scores]:
    return {name: lens.scores(model, "draws") for name, model in models.items()}


def test_all_models_of_sprites_are_offered() -> None:
    assert set(NAMES) <= set(ui.trained("latent", sprites.fits))
    assert [lens.title(name) for name in NAMES] == ["VAE", "FactorVAE", "TC-VAE", "β = 4"]


def test_a_share_is_an_information_over_an_entropy(
    models: dict[str, VAE], result: dict[str, lens.Scores]
) -> None:
    model, one = models["beta4-sprites"], result["beta4-sprites"]
    x, factors = everything()
    z = lens.read(model, x, "draws")[:, one.order[0]]
    joint = torch.zeros(lens.BINS, FACTORS["row"], dtype=torch.float64)
    for cell, v in zip((z.argsort().argsort() * lens.BINS) // len(z), factors[:, ROW], strict=True):
        joint[cell, v] += 1 / len(z)
    h = [-(p[p > 0] * p[p > 0].log()).sum() for p in (joint.sum(1), joint.sum(0), joint.flatten())]
    assert float(one.shares[0, ROW]) == pytest.approx(float((h[0] + h[1] - h[2]) / math.log(7)), abs=1e-9)
    assert one.mig == pytest.approx(float(mutual_information_gap(lens.read(model, x, "draws"), factors)))


def test_a_code_that_knows_nothing_is_counted_the_floor(result: dict[str, lens.Scores]) -> None:
    _, factors = everything()
    noise = torch.randn(len(factors), 40, generator=torch.Generator().manual_seed(1))
    one = result["vae-sprites"]
    counted = (lens.information_table(noise, factors, lens.BINS) / one.entropies).mean(0)
    assert torch.allclose(counted, one.floor, rtol=0.15)


def test_the_codes_depend_on_each_other_as_a_gaussian_says() -> None:
    """Narrow posteriors around correlated means: q(z) is nearly that Gaussian."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(4000, 2, generator=generator)
    mean = torch.stack([z[:, 0], 0.8 * z[:, 0] + 0.6 * z[:, 1]], 1)
    tc = lens.total_correlation(mean, torch.full_like(mean, math.log(0.02)))
    total = torch.tensor([[1.02, 0.8], [0.8, 1.02]])
    exact = -0.5 * math.log(float(torch.det(total)) / 1.02**2)
    assert tc == pytest.approx(exact, abs=0.12)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_lost_is_the_card_s(name: str, result: dict[str, lens.Scores]) -> None:
    card = weights.read_card(ui.folder(name))["metrics"]
    assert result[name].distortion == pytest.approx(card["test/rec"], rel=0.03)
    assert float(result[name].kl.sum()) == pytest.approx(card["test/kl"], rel=0.05)


def test_what_the_scenes_say(models: dict[str, VAE], result: dict[str, lens.Scores]) -> None:
    vae, factor, tc, beta = (result[name] for name in NAMES)
    assert [beta.best_factor(row) for row in range(3)] == [ROW, COLUMN, SCALE]
    assert float(beta.shares[3:].max()) < 0.03 and float(beta.kl[3:].max()) < 0.15
    assert [factor.best_factor(0), factor.best_factor(1)] == [ROW, COLUMN]
    assert float(factor.shares[0, ROW]) > 5 * float(factor.shares[0].sort().values[-2])
    assert len({tc.owner(v) for v in (COLUMN, ROW, SCALE)}) == 3 and float(tc.kl[-3:].max()) < 0.02
    assert (
        max(result.values(), key=lambda one: one.mig)
        is beta
        is max(result.values(), key=lambda one: one.distortion)
    )
    assert factor.mig > 0.9 * beta.mig and factor.distortion < 0.65 * beta.distortion
    assert 1.9 < factor.tc < vae.tc and tc.tc < 0.3 and beta.tc < 0.3
    means = lens.scores(models["beta4-sprites"], "means")
    assert float(means.kl[5]) < 0.1 and float(means.shares[5, SCALE]) > 5 * float(beta.shares[5, SCALE])


def test_rows_turn_one_dimension(models: dict[str, VAE], result: dict[str, lens.Scores]) -> None:
    model, one = models["beta4-sprites"], result["beta4-sprites"]
    z = model.encode(sprites.examples()[0][1][None])[0]
    pictures = lens.turned(model, z, one.order)
    code = z.clone()
    code[one.order[1]] = -1.5
    assert torch.allclose(pictures[1, 1], model.decode(code[None]).reshape(16, 16), atol=1e-6)
    moves = sprites.motions(pictures)
    assert moves[1, 0] > 3 * moves[1, 1] and moves[0, 1] > 2.5 * moves[0, 0]  # columns, then rows
    assert moves[2, 2] > 1.5 > moves[4, 2]
    factor, ring = models["factorvae-sprites"], sprites.examples()[-1][1][None]
    assert factor.decode(factor.encode(ring)).sum() < 0.5 * ring.sum()


def test_motions_of_a_known_square() -> None:
    pictures: Tensor = torch.zeros(1, 3, 16, 16)
    for i in range(3):
        pictures[0, i, 2 : 4 + i, 3 * i : 3 * i + 2] = 1
    assert sprites.motions(pictures)[0].tolist() == pytest.approx([6, 1, 2])


def test_the_page_shows_them(result: dict[str, lens.Scores]) -> None:
    page = open_page("latent/disentanglement", model="beta4-sprites", row=2)
    one, bar = result["beta4-sprites"], film(page, "row")
    assert bar["at"] == 1 and len(bar["equations"]) == 8
    best = one.shares[:, COLUMN].topk(2).values.tolist()
    assert spoken(bar["equations"][1])[:3] == pytest.approx([best[0], -best[1], best[0] - best[1]], abs=1e-3)
    assert "of the column" in bar["captions"][1] and metrics(page)["MIG"] == f"{one.mig:.3f}"


def test_the_four_models_side_by_side(result: dict[str, lens.Scores]) -> None:
    page = open_page("latent/disentanglement", view="Four models", which=4)
    _, frames = figure(page, "price")
    ordered = sorted(result.values(), key=lambda one: one.distortion)
    assert frames["data.2.y"][:, 0].tolist() == pytest.approx([one.mig for one in ordered], abs=1e-5)
    text = spoken(film(page, "which")["equations"][3])
    assert text[5] == pytest.approx(sum(text[:5]) / 5, abs=2e-3) == pytest.approx(ordered[3].mig, abs=2e-3)


def test_own_sprite_and_a_broken_drawing() -> None:
    ring = figure(open_page("latent/disentanglement", x="ring"), "sheet")[0]["figure"]
    assert ring != figure(open_page("latent/disentanglement", x="ell"), "sheet")[0]["figure"]
    assert "cannot be read" in open_warned("latent/disentanglement", x="ink.!!").warning[0].value
