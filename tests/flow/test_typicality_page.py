"""Out of distribution: scores of sets, thresholds, and where draws of a Gaussian lie."""

import math

import pytest
import torch
from opening import film, metrics, open_page, prose, spoken, table_with
from scipy.stats import chi
from sklearn.metrics import roc_auc_score

from datamodules.digits import Digits
from lab import weights
from lab.lenses import glows
from lab.lenses.glows import digits
from lab.ui.models import loading
from modules.flow.typicality import bootstrap
from pages.flow.typicality import lens


@pytest.fixture(scope="module")
def result() -> lens.Judged:
    return lens.judged(weights.load("glow-digits"), digits()[0])


def test_what_is_caught_and_what_passes(result: lens.Judged) -> None:
    for name in ("noise", "inverted", "shuffled", "constant"):
        assert result.flagged(name, 0.05, "log p") == 1 and result.auroc(name, "log p") > 0.999
    assert result.flagged("digits", 0.05, "log p") == pytest.approx(0.05, abs=3e-3)
    assert result.flagged("pale", 0.05, "log p") < 0.5
    assert result.flagged("cold", 0.05, "log p") < 0.01 and result.flagged("cold", 0.05, "typicality") < 0.01
    assert result.flagged("z = 0", 0.05, "log p") == 0
    clean, odd = result.log_p["digits"], result.log_p["pale"]
    share = (odd[:, None] < clean).float().mean().item()
    assert result.auroc("pale", "log p") == pytest.approx(share, abs=1e-3)


def test_sets_are_what_they_are_called() -> None:
    x = digits()[0]
    sets = lens.others(x)
    assert torch.equal(sets["inverted"] + x, torch.full_like(x, 16))
    assert torch.equal(sets["shuffled"].flatten(1).sort(1).values, x.flatten(1).sort(1).values)
    assert sets["constant"].flatten(1).std(1).max() == 0 and len(sets["constant"]) == 17


def test_the_radius_is_chi_distributed() -> None:
    relative = torch.linspace(0.1, 2, 20, dtype=torch.float64)
    for d in (1, 8, 64):
        r = relative.numpy() * math.sqrt(d)
        expected = chi(d).pdf(r) * math.sqrt(d)
        assert lens.radius(d, relative)[0].numpy() == pytest.approx(expected, rel=1e-6, abs=1e-12)
        assert lens.mean_radius(d) == pytest.approx(chi(d).mean())
    assert lens.mean_radius(784) == pytest.approx(27.991073, abs=1e-5)


@pytest.fixture(scope="module")
def classes() -> lens.Classes:
    return lens.classes(weights.load(lens.UNSEEN), 9)


def test_the_model_of_the_held_out_class_never_saw_it(classes: lens.Classes) -> None:
    """All 180 nines are judged, and of the other classes validation and test."""
    without, whole = Digits(binarize="levels", exclude=9), Digits(binarize="levels")
    for data in (without, whole):
        data.setup()
    assert not any(
        (part.labels == 9).any() for part in (without.train_set, without.val_set, without.test_set)
    )
    assert int((classes.y == 9).sum()) == 180 and int((classes.y != 9).sum()) == 250 + 229
    assert weights.read_card(loading.folder(lens.UNSEEN))["config"]["data"]["init_args"]["exclude"] == 9
    test = whole.test_set[torch.arange(250)]
    assert torch.equal(without.test_set[torch.arange(229)][0], test[0][test[1] != 9])


def test_the_unseen_class_is_odd_and_so_is_a_seen_one(classes: lens.Classes) -> None:
    """What the scenes say, and the areas against scikit-learn's."""
    for score in ("log p", "typicality"):
        for label in (8, 9):
            clean, odd = classes.sets(label, score)
            truth = [0] * len(clean) + [1] * len(odd)
            expected = roc_auc_score(truth, torch.cat([clean, odd]))
            assert classes.against(label, score).area == pytest.approx(expected, abs=1e-6)
    by_log_p = [classes.against(label, "log p").area for label in range(10)]
    assert max(by_log_p) == by_log_p[9] and by_log_p[9] == pytest.approx(0.9, abs=0.05)
    assert by_log_p[8] > 0.8 > max(by_log_p[:8]) and by_log_p[1] < 0.2


def test_the_bootstrap_error_is_delongs() -> None:
    """Against the variance of AUROC from its placements (DeLong 1988)."""
    generator = torch.Generator().manual_seed(0)
    clean, odd = torch.randn(150, generator=generator), 1 + torch.randn(80, generator=generator)
    over = (odd[None] > clean[:, None]).double()
    delong = (over.mean(1).var() / 150 + over.mean(0).var() / 80).sqrt().item()
    assert bootstrap(clean, odd, draws=2000) == pytest.approx(delong, rel=0.08)
    assert bootstrap(clean, odd, draws=50) == bootstrap(clean, odd, draws=50)
    assert bootstrap(clean, clean + 100) == 0  # one above all: every resample says so


def test_the_page_of_a_class(classes: lens.Classes) -> None:
    page = open_page("flow/typicality", view="a class")
    text = film(page, "class")
    one = classes.against(9, "log p")
    assert text["at"] == 9 and spoken(text["equations"][9])[-2:] == pytest.approx(
        [one.area, one.error], abs=6e-4
    )
    assert "9, never seen, 180 pictures" in text["captions"][9] and "held out" in text["captions"][8]
    assert f"{one.area:.1%} of the pairs" in prose(page)


def test_the_page(result: lens.Judged) -> None:
    page = open_page("flow/typicality", set="pale")
    text = film(page, "q")["captions"][2]
    detector = result.detector(0.05)
    assert f"Threshold {detector.threshold:.1f} nats" in text
    assert f"{result.flagged('pale', 0.05, 'log p'):.1%} of the set" in text
    table = table_with(page, "mean log p")
    assert table["mean log p"][0] == f"{result.log_p['digits'].mean():.1f}"
    box = open_page("flow/typicality", digit="box")
    assert float(metrics(box)["Your picture"].split()[0]) < detector.threshold
    radius = film(open_page("flow/typicality", view="radius"), "d")["captions"]
    assert "32.0 nats above" in radius[lens.DIMENSIONS.index(64)]
    assert glows.WHITE == 16
