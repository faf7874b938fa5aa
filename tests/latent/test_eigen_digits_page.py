"""Eigen-digits: sums of components against scikit-learn's, hidden pixels against the full covariance."""

import numpy as np
import pytest
import torch
from opening import film, metrics, open_page, open_warned, spoken
from sklearn.decomposition import PCA as Reference

from lab import experiments, weights
from modules.latent.kalman import condition_gaussian
from pages.latent.eigen_digits import common, lens


@pytest.fixture(scope="module")
def reference() -> Reference:
    from datamodules.digits import Digits

    data = Digits(binarize="none")
    data.setup()
    x, _ = data.train_set[torch.arange(len(data.train_set))]
    return Reference(64).fit(x.flatten(1).double().numpy())


def model(name: str):
    return weights.load(experiments.ZOO / name)


def test_the_default_page_shows_what_scikit_learn_finds(reference: Reference) -> None:
    text = film(open_page("latent/eigen_digits"), "k")
    assert text["at"] == 5
    x = torch.as_tensor(shelf()["3"]).flatten().double().numpy()
    at_five = text["equations"][5]
    centred = x - reference.mean_
    left = centred - reference.components_[:5].T @ (reference.components_[:5] @ centred)
    values = spoken(at_five)
    assert values[0] == pytest.approx(left @ left, abs=2e-3)
    lambdas = reference.explained_variance_ * (reference.n_samples_ - 1) / reference.n_samples_
    assert values[1] == pytest.approx(lambdas[5:].sum(), abs=2e-3)
    held = common.held_out(8).double().numpy() - reference.mean_
    lost = held - held @ reference.components_[:5].T @ reference.components_[:5]
    assert values[2] == pytest.approx((lost**2).sum(1).mean(), abs=2e-3)
    assert f"{1 - left @ left / (centred @ centred):.0%} of this digit" in text["captions"][5]


def shelf() -> dict[str, torch.Tensor]:
    """The examples as the pad holds them: 16 levels."""
    from lab.lenses import latent
    from lab.ui.models import shelves

    chosen = latent.examples(*shelves.examples(shelves.DIGITS, 8))
    return {name: (torch.as_tensor(p) * 15).round() / 15 for name, p in chosen}


@pytest.mark.parametrize("name", ["pca-digits", "ppca-digits", "fa-digits"])
def test_all_components_give_the_models_own_answer(name: str) -> None:
    linear, x = model(name), common.held_out(8)[:7].double()
    basis = lens.Basis.of(linear)
    whole = torch.stack([basis.sums(c)[-1] for c in basis.codes(x)])
    torch.testing.assert_close(whole, linear.decode(linear.encode(x)).double(), rtol=0, atol=1e-4)
    torch.testing.assert_close(basis.lost(x)[-1], (whole - x).square().sum(1).mean(), rtol=1e-4, atol=1e-5)
    assert (basis.components.max(1).values >= -basis.components.min(1).values - 1e-9).all()


def test_ppca_shrinks_each_principal_component() -> None:
    plain, noisy = model("pca-digits"), model("ppca-digits")
    x = common.held_out(8)[:5].double()
    parts = lens.Basis.of(noisy)
    mine = parts.codes(x)[:, :, None] * parts.components
    variances, sigma2 = plain.variances[:20].double(), float(noisy.noise[0])
    theirs = ((variances - sigma2) / variances * plain.encode(x))[:, :, None] * plain.components
    torch.testing.assert_close(mine, theirs.double(), rtol=0, atol=2e-3)


def test_what_the_scenes_say() -> None:
    losses = common.losses("pca-digits", 8)
    curved = lens.nonlinear_loss(model("vae-digits"), common.held_out(8).reshape(-1, 8, 8))
    assert losses[20] < curved < losses[18]  # twenty numbers for ten
    assert losses[10] > 2 * curved
    basis, pictures = common.basis("pca-digits"), shelf()
    kept = {
        n: 1 - float(v[-1] / v[0])
        for n, v in ((n, basis.lost(p.reshape(1, -1))) for n, p in pictures.items())
    }
    assert kept.pop("box") < 0.5 < min(kept.values())


@pytest.mark.parametrize("name", ["ppca-digits", "fa-digits"])
def test_hidden_pixels_are_conditioned_on_the_seen_ones(name: str) -> None:
    linear, x = model(name), common.held_out(8)[3].double()
    hidden = lens.masks("lower", 8).flatten(1)
    result = lens.filled(linear, x, hidden)
    mean, covariance = condition_gaussian(
        linear.mean.double(), linear.covariance().double(), ~hidden[3], x[~hidden[3]]
    )
    torch.testing.assert_close(result.pictures[3][hidden[3]], mean, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        result.deviations[3][hidden[3]], covariance.diagonal().sqrt(), rtol=0, atol=1e-5
    )
    assert float(result.error[3]) == pytest.approx(
        float((mean - x[hidden[3]]).square().mean().sqrt()), abs=1e-5
    )
    assert torch.equal(result.pictures[0], x) and float(result.error[0]) == 0
    torch.testing.assert_close(result.pictures[8], linear.mean.double())
    assert float(result.log_seen[8]) == pytest.approx(0, abs=1e-9)


def test_masks_cover_step_by_step() -> None:
    for kind, places in (("right", (0, 7)), ("left", (0, 0)), ("lower", (7, 0)), ("upper", (0, 0))):
        gone = lens.masks(kind, 8)
        assert gone.flatten(1).sum(1).tolist() == [8 * i for i in range(9)]
        assert gone[(1, *places)]
    brush = lens.middle(8)
    gone = lens.masks("brush", 8, brush)
    assert torch.equal(gone[8], brush > 0.5) and not gone[0].any()
    assert (gone[1:] >= gone[:-1]).all()
    assert not lens.masks("brush", 8, torch.zeros(8, 8)).any()


def test_the_hidden_view_says_its_numbers() -> None:
    page = open_page("latent/eigen_digits", view="Hidden pixels")
    text = film(page, "hidden")
    x, hidden = shelf()["3"].flatten(), lens.masks("right", 8).flatten(1)
    errors = [float(lens.filled(model(n), x, hidden).error[4]) for n in ("ppca-digits", "fa-digits")]
    assert text["at"] == 4
    assert f"PPCA {errors[0]:.3f}, FA {errors[1]:.3f}" in text["captions"][4]
    assert max(errors) < 0.75 * float(
        text["captions"][4].split("digit ")[1].rstrip(".")
    )  # both guess from the rest
    open_page("latent/eigen_digits", view="Hidden pixels", hide="brush")


def test_the_sliders_add_up() -> None:
    page = open_page("latent/eigen_digits", view="Sliders", c1=3, c2=-2)
    basis = lens.Basis.of(model("pca-digits"))
    by_hand = (
        basis.mean + 3 * basis.scales[0] * basis.components[0] - 2 * basis.scales[1] * basis.components[1]
    )
    outside = ((by_hand < 0) | (by_hand > 1)).double().mean().item()
    shown = metrics(page)
    assert shown["Pixels outside 0 … 1"] == f"{outside:.0%}"
    assert shown["Distance from the mean"].startswith(f"{np.hypot(3, 2):.2f}")


def test_a_drawing_that_cannot_be_read_is_named() -> None:
    open_warned("latent/eigen_digits", digit8="ink.nonsense")
