"""Outlier gauge: scores by hand, thresholds and their counts, and the picture that fools both."""

import math

import pytest
import torch
from opening import film, metrics, open_page, open_warned, table_with

from lab import experiments, weights
from lab.lenses import stock
from pages.latent.outliers import lens

SHARE = 0.05


@pytest.fixture(scope="module")
def model():
    return weights.load(experiments.ZOO / "vae-bits-digits")


@pytest.fixture(scope="module")
def result(model) -> lens.Judged:
    return lens.judged(model, stock.bits("val")[0], stock.bits("test")[0], 50)


def test_scores_by_hand(model) -> None:
    x = stock.bits("test")[0][:2]
    got = lens.scores(model, x, 5, seed=3)
    with torch.no_grad():
        log_w = model.log_weights(x, 5, torch.Generator().manual_seed(3))
        mean = torch.sigmoid(model.decoder(model.encoder(x)[:, :10]))
    torch.testing.assert_close(got["log p̂"], log_w.exp().mean(0).log(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(got["reconstruction"], ((x - mean) ** 2).sum(1), rtol=1e-4, atol=1e-4)


def test_thresholds_count_what_they_say(result: lens.Judged) -> None:
    for score, sign in zip(lens.SCORES, (1, -1), strict=True):
        known, at = sign * result.known[score], sign * result.threshold(score, SHARE)
        assert float((known < at).float().mean()) == pytest.approx(SHARE, abs=0.01)
        digits, odd = (sign * result.sets[n][score] for n in ("digits", "other symbols"))
        assert result.flagged("digits", score, SHARE) == pytest.approx(float((digits < at).float().mean()))
        assert result.auroc("other symbols", score) == pytest.approx(
            float((odd[:, None] < digits).float().mean()), abs=2e-3
        )
    assert result.flagged("other symbols", "log p̂", 0.01) < result.flagged("other symbols", "log p̂", SHARE)


def test_what_the_scenes_say(result: lens.Judged, model) -> None:
    evidence, error = (result.threshold(s, SHARE) for s in lens.SCORES)
    judge = {n: lens.scores(model, p.reshape(1, 64), 50) for n, p in
             (("plus", lens.symbol("plus")), ("box", lens.symbol("box")), ("bar", lens.bar()))}  # fmt: skip
    assert judge["plus"]["log p̂"] > evidence and judge["plus"]["reconstruction"] < error
    assert judge["box"]["log p̂"] < evidence and judge["box"]["reconstruction"] > error
    assert result.beaten("log p̂", float(judge["bar"]["log p̂"])) > 0.95
    assert result.beaten("reconstruction", float(judge["bar"]["reconstruction"])) > 0.95
    for score in lens.SCORES:
        assert result.flagged("other symbols", score, SHARE) > 0.9
        assert result.flagged("noise", score, SHARE) == 1 and result.auroc("noise", score) > 0.999
        assert result.flagged("plain bars", score, SHARE) == 0
    one = lens.scores(model, stock.bits("test")[0], 1)["log p̂"]
    assert one.mean() < result.sets["digits"]["log p̂"].mean()


def test_sets_are_what_they_are_called() -> None:
    x = stock.bits("test")[0]
    sets = lens.others(x)
    assert torch.equal(sets["inverted"] + x, torch.ones_like(x))
    assert torch.equal(sets["shuffled"].sum(1), x.sum(1))
    assert len(sets["other symbols"]) == 72 and len(sets["plain bars"]) == 12
    assert all(v.unique().tolist() == [0, 1] for v in sets.values())


def test_the_page(result: lens.Judged, model) -> None:
    page = open_page("latent/outliers")
    text = film(page, "share")["captions"][2]
    missed = 1 - result.flagged("other symbols", "log p̂", SHARE)
    assert f"log p̂ {result.flagged('digits', 'log p̂', SHARE):.1%}" in text and f"log p̂ {missed:.1%}" in text
    own = float(lens.scores(model, lens.symbol("plus").reshape(1, 64), 50)["log p̂"])
    assert metrics(page)["Your log p̂"] == f"{own:.2f}" and math.isfinite(own)
    table = table_with(page, "AUROC, error")
    assert table["AUROC, error"][0] == f"{result.auroc('other symbols', 'reconstruction'):.3f}"


def test_a_drawing_that_cannot_be_read_is_named() -> None:
    open_warned("latent/outliers", x="ink.nonsense")
