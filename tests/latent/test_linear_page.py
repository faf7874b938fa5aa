"""Linear latents: turns of the planes, shares and likelihoods, the shrunken answer, a reader's own table."""

import numpy as np
import pytest
import torch
from opening import captions, film, open_page, open_warned, run_page, spoken, warnings
from sklearn.decomposition import PCA
from sklearn.decomposition import FactorAnalysis as Reference

from lab.lenses import tables
from pages.latent.linear import lens, point


def test_the_noisy_gauge_turns_pca_and_not_the_factor() -> None:
    page = open_page("latent/linear")
    text, x = film(page, "noise"), lens.changed(lens.gauges(), "noise", 2, 2.0).numpy()
    assert text["at"] == lens.VALUES["noise"].index(2.0)
    first, now = (PCA(1).fit(rows).components_[0] for rows in (lens.gauges().numpy(), x))
    turned = np.degrees(np.arccos(min(1, abs(first @ now))))
    assert f"PCA has turned by {turned:.1f}°" in text["captions"][text["at"]]
    factor = Reference(1, tol=1e-8, max_iter=5000).fit(x)
    likelihood = [factor.score(x), PCA(1).fit(x * 1.0).score(x)]
    result = spoken(text["equations"][text["at"]])
    assert result[0] == pytest.approx(likelihood[0], abs=2e-3)
    scatter = np.linalg.eigvalsh(np.cov(x.T, bias=True))[:2].mean()
    assert result[3] == pytest.approx(scatter, abs=1e-3)
    turns = lens.turns(lens.sweep(lens.gauges(), "noise", 2, 1), "noise", 2)
    assert turns["PPCA"][-1] > 30 and turns["FA"][-1] < 5  # what the scenes say
    assert turns["PPCA"][0] == pytest.approx(0, abs=1e-4)
    assert turns["FA"][0] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "faithful", "other"), [("unit", "FA", "PPCA"), ("rotation", "PPCA", "FA")]
)
def test_each_model_follows_one_change_exactly(change: lens.Change, faithful: str, other: str) -> None:
    """LV-O7: factor analysis a change of unit, PPCA a rotation; each fails the other's."""
    turns = lens.turns(lens.sweep(lens.gauges(), change, 2, 1), change, 2)
    assert max(turns[faithful]) < 0.01 < max(turns[other])


def test_shrinking_by_hand() -> None:
    """LV-O8: spectrum (4, 1, ¼), one factor."""
    page = open_page("latent/linear", view="One point", data="Spectrum 4, 1, ¼", column=2)
    text = film(page, "variance")
    assert spoken(text["equations"][-1])[-1] == pytest.approx(0.84375, abs=1e-5)
    assert text["captions"][-1].startswith("σ² = 0.6250") and "-4.480 nats" in text["captions"][-1]
    x = lens.spectrum()
    row = torch.tensor([[2.0, 1.0, 1.0]], dtype=torch.float64)
    for variance, answer in ((0.25, [1.875, 0.75, 0.0]), (0.01, [1.995, 0.99, 0.0])):
        model = point.with_variance(x, 2, variance)
        torch.testing.assert_close(
            model.decode(model.encode(row))[0], torch.tensor(answer).double(), rtol=0, atol=1e-6
        )


def test_a_clicked_point_is_the_one_that_is_shown() -> None:
    x = lens.spectrum()
    place = f"{x[7, 0]:.6g},{x[7, 1]:.6g}"
    assert point.nearest(x, (0, 1), {"x": float(x[7, 0]), "y": float(x[7, 1])}) == 7
    page = open_page("latent/linear", view="One point", data="Spectrum 4, 1, ¼", column=2, point=place)
    expected = point.with_variance(x, 1, 0.625).encode(x[7:8])[0, 0]
    assert spoken(film(page, "variance")["equations"][-1])[0] == pytest.approx(float(expected), abs=1e-3)


def test_own_table_names_what_it_leaves_out() -> None:
    text = "a;b;c\n1;2;3\n2;x;1\n3;1;2\n5;4;4\n0;1;0"
    page = open_page("latent/linear", data="Own table", table=text)
    assert "Line 3 has 'x' in 'b'" in captions(page)
    names, rows, _ = tables.typed_table(text)
    assert names == ["a", "b", "c"] and rows.shape == (4, 3)
    bad = run_page("latent/linear", data="Own table", table="1 2\n3 x")
    assert "has 1 whole rows" in warnings(bad)
    assert open_warned("latent/linear", view="One point", point="9,9")


def test_two_factors_have_a_disc() -> None:
    story = point.beliefs(lens.spectrum(), 2, 0)
    assert story[-1].variance == pytest.approx(0.25) and story[-1].covariance.shape == (2, 2)
    for one in story:
        expected = one.variance / torch.tensor([4.0, 1.0]).double()
        torch.testing.assert_close(one.covariance.diagonal(), expected, rtol=1e-6, atol=1e-9)
