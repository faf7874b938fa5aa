"""Out of distribution: scores of sets, thresholds, and where draws of a Gaussian lie."""

import math

import pytest
import torch
from opening import film, metrics, open_page, table_with
from scipy.stats import chi

from lab import weights
from pages.flow.image_flow import lens as image
from pages.flow.image_flow.common import digits
from pages.flow.typicality import lens


@pytest.fixture(scope="module")
def found() -> lens.Judged:
    return lens.judged(weights.load("glow-digits"), digits()[0])


def test_what_is_caught_and_what_passes(found: lens.Judged) -> None:
    for name in ("noise", "inverted", "shuffled", "constant"):
        assert found.flagged(name, 0.05, "log p") == 1 and found.auroc(name, "log p") > 0.999
    assert found.flagged("digits", 0.05, "log p") == pytest.approx(0.05, abs=3e-3)
    assert found.flagged("pale", 0.05, "log p") < 0.5
    assert found.flagged("cold", 0.05, "log p") < 0.01 and found.flagged("cold", 0.05, "typicality") < 0.01
    assert found.flagged("z = 0", 0.05, "log p") == 0
    clean, odd = found.log_p["digits"], found.log_p["pale"]
    share = (odd[:, None] < clean).float().mean().item()
    assert found.auroc("pale", "log p") == pytest.approx(share, abs=1e-3)


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


def test_the_page(found: lens.Judged) -> None:
    page = open_page("flow/typicality", set="pale")
    said = film(page, "q")["captions"][2]
    detector = found.detector(0.05)
    assert f"Threshold {detector.threshold:.1f} nats" in said
    assert f"{found.flagged('pale', 0.05, 'log p'):.1%} of the set" in said
    table = table_with(page, "mean log p")
    assert table["mean log p"][0] == f"{found.log_p['digits'].mean():.1f}"
    box = open_page("flow/typicality", digit="box")
    assert float(metrics(box)["Your picture"].split()[0]) < detector.threshold
    radius = film(open_page("flow/typicality", view="radius"), "d")["captions"]
    assert "32.0 nats above" in radius[lens.DIMENSIONS.index(64)]
    assert image.WHITE == 16
