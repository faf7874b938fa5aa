"""Gradient noise: exact variances against the oracles, measured ones near them; the sampling node."""

import math
import re

import pytest
import torch
from opening import figure, film, open_page, open_warned, run_page, spoken, table_with, warnings

from lab import weights
from lab.experiments import ZOO
from lab.lenses import stock
from modules.latent.gradient_estimators import variances_of_square
from pages.latent.gradients import lens


def variances(page: object, key: str = "n") -> list[float]:
    text = film(page, key)["captions"][-1]  # type: ignore[arg-type]
    return [float(v) for v in re.findall(r" (-?[\d.e+-]+)(?=, |\.$)", text)]


def test_default_widths() -> None:
    """LV-O27, μ = 2, K = 2."""
    page = open_page("latent/gradients")
    assert variances(page) == [4, 87, 42, 38, 76]
    table = table_with(page, "exact")
    for mean, measured, exact in zip(table["mean of 5,000"], table["variance"], table["exact"], strict=True):
        assert float(measured) == pytest.approx(float(exact), rel=0.12)
        assert abs(float(mean) - 4) < 5 * math.sqrt(float(exact) / 5000)
    assert spoken(film(page, "n")["equations"][-1])[0] == 4.0
    running = figure(page, "running")[1]["data.0.y"]
    assert running[-1, -1] == pytest.approx(float(table["mean of 5,000"][0]), abs=1e-3)
    assert torch.tensor(running[3])[4:].isnan().all()  # what is not drawn yet is not shown


@pytest.mark.parametrize(("mean", "others"), [(2.0, 4), (1.0, 10)])
def test_quadrature_is_the_formula(mean: float, others: int) -> None:
    race = lens.of_polynomial([0.0, 0.0, 1.0], mean, "μ", others, 1)
    known = list(variances_of_square(mean, others).values())
    assert [one.variance for one in race.by_name.values()] == pytest.approx(known, abs=1e-6)


def test_by_the_scale() -> None:
    race = lens.of_polynomial([0.0, 0.0, 1.0], 2.0, "σ", 2, 0)
    results = [one.variance for one in race.by_name.values()]
    assert results[:2] == pytest.approx([24.0, 346.0]) and race.truth == pytest.approx(2.0)


def test_of_the_bound() -> None:
    """LV-O30 at the posterior and away from it."""
    for mean, known in ((0.75, [6.683257, 0.0, 2.0, 0.5, 0.0]), (0.3, [9.865959, 1.62, 2.0, 0.5, 0.0])):
        race = lens.of_elbo(mean, 0)
        assert [one.variance for one in race.by_name.values()] == pytest.approx(known, abs=1e-5)
        assert race.truth == pytest.approx(1.5 - 2 * mean)
        for one in race.by_name.values():
            assert one.measured == pytest.approx(one.variance, rel=0.12, abs=1e-9)  # type: ignore[arg-type]
            assert abs(float(one.values.mean()) - race.truth) < 5 * math.sqrt(one.measured / 5000) + 1e-9
    assert variances(open_page("latent/gradients", of="ELBO"))[1] == pytest.approx(0.0, abs=1e-9)


def test_of_tables() -> None:
    """LV-O28 and the last logit of LV-O29."""
    assert variances(open_page("latent/gradients", of="table")) == pytest.approx(
        [1.2096, 0.1344, 0.0], abs=6e-4
    )
    q = torch.tensor([0.0, 1.0, 2.0]).double().softmax(0).tolist()
    race = lens.of_table(q, [math.log(v) for v in (0.1, 0.5, 0.8)], 0)
    assert race.truth == pytest.approx(0.201060, abs=1e-6)
    plain, mean, best = (one.variance for one in race.by_name.values())
    assert (plain, mean) == (pytest.approx(0.226563, abs=1e-6), pytest.approx(0.095274, abs=1e-6))
    assert 0.01 < best < mean  # type: ignore[operator]


def test_a_running_mean_narrows() -> None:
    race = lens.of_polynomial([0.0, 0.0, 1.0], 2.0, "μ", 1, 0)
    assert race.by_name["score − running mean"].measured < 0.7 * race.by_name["score"].measured


def test_histograms_count_every_draw() -> None:
    race = lens.of_elbo(0.3, 3)
    middles, shares = race.histograms()
    for values in shares.values():
        torch.testing.assert_close(values.sum(1), torch.ones(len(lens.COUNTS)))
    assert len(middles) == lens.BINS


def test_the_node() -> None:
    page = open_page("latent/gradients", view="Sampling node")
    node = lens.node(1.0, 0.5, True, 30, 0)
    torch.testing.assert_close(node.by_mu, 2 * node.z)
    torch.testing.assert_close(node.by_sigma, 2 * node.z * node.eps)
    first = spoken(film(page, "draw")["equations"][0])
    assert first == pytest.approx([float(node.by_mu[0]), float(node.score_mu[0]), 2.0], abs=6e-4)
    blocked = open_page("latent/gradients", view="Sampling node", path="false")
    assert "none" in film(blocked, "draw")["equations"][0]
    texts = figure(blocked, "graph")[0]["texts"]["data.1.text"]
    assert all(row[:2] == ["blocked", "blocked"] for row in texts)
    assert not lens.node(1.0, 0.5, False, 30, 0).by_mu.any()


def test_own_input_and_what_cannot_be_read() -> None:
    page = open_warned("latent/gradients", f="0 one 0 0 1")
    assert "“one” is left out" in warnings(page)  # 0 0 0 1: f = z³, by μ 3 (μ² + 1)
    assert spoken(film(page, "n")["equations"][0])[0] == pytest.approx(15.0)
    page = open_warned("latent/gradients", of="table", q="1 1 2", values="3")
    assert "f has 1 of 3 values" in warnings(page)
    assert "Give 2 to 8 weights" in warnings(run_page("latent/gradients", of="table", q="-1"))


def test_of_a_trained_net() -> None:
    """Three ways to one gradient of a shipped net; what the learned baseline knew beforehand is gone."""
    page = open_page("latent/gradients", of="trained net")
    table = table_with(page, "exact")
    assert list(table["estimator"]) == ["pathwise", "score", "score − b(x)", "leave-one-out, K = 2"]
    path, plain, learned, others = map(float, table["variance"])
    assert path < learned < plain / 3 and others < plain / 3
    truth = spoken(film(page, "n")["equations"][-1])[0]
    for mean, variance in zip(table["mean of 5,000"], table["variance"], strict=True):
        assert abs(float(mean) - truth) < 5 * math.sqrt(float(variance) / 5000) + 0.03
    text = " ".join(str(m.value) for m in page.markdown)
    for name in (lens.NET, lens.PATH):
        assert f"{weights.read_card(ZOO / name)['metrics']['test/elbo']:.2f}" in text


def test_of_a_trained_net_for_other_digits() -> None:
    """The order of the variances, for a digit of four classes and a unit each."""
    model, (x, labels) = weights.load(lens.NET), stock.bits("test")
    for k in (1, 3, 6, 9):
        race = lens.of_net(model, x[labels == k][:1], k, 0)
        path, plain, learned, _ = (one.measured for one in race.by_name.values())
        assert path < learned < plain
