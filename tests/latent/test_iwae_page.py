"""IWAE: the bounds in order and near the exact evidence, the implied posterior, the encoder's signal."""

import math

import pytest
import torch
from opening import figure, film, open_page, open_warned, prose, spoken, warnings
from torch.distributions import Normal

from pages.latent.iwae import lens


def test_default_bounds() -> None:
    """LV-O25: log p = −1.828012; the ELBO of q = N(.3, .81) in closed form."""
    page = open_page("latent/iwae")
    results = [spoken(e) for e in film(page, "K")["equations"]]
    assert all(log_p == pytest.approx(-1.828012, abs=6e-4) for *_, log_p in results)
    gap = 0.5 * (0.81 / 0.5 + (0.3 - 0.75) ** 2 / 0.5 - 1 - math.log(0.81 / 0.5))
    assert f"The ELBO is {-1.828012 - gap:.3f}" in prose(page)
    bounds = [row[-2] for row in results]
    assert bounds[0] == pytest.approx(-1.828012 - gap, abs=0.02) and bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(-1.828012, abs=0.02)


def test_the_prior_as_q() -> None:
    """LV-O44 at K = 1, 2, 5, 10, 50, 100."""
    story = lens.story(*lens.MODELS["linear"], 0.0, 1.0, 0)
    assert story.log_p - story.elbo == pytest.approx(0.716, abs=5e-4)  # the scene's line
    known = {1: -2.543939, 2: -2.099515, 5: -1.909696, 10: -1.865017, 50: -1.834921, 100: -1.831439}
    for k, value in known.items():
        at = lens.SIZES.index(k)
        assert abs(float(story.bounds[at]) - value) < 4 * float(story.errors[at])


def test_the_implied_posterior_goes_from_q_to_the_posterior() -> None:
    story = lens.story(*lens.MODELS["linear"], 0.3, 0.9, 0)
    step = float(story.z[1] - story.z[0])
    far = (story.implied - story.posterior).abs().sum(1) * step / 2  # total variation
    torch.testing.assert_close(story.implied[0], story.q)
    assert far.diff().lt(0).all() and far[-1] < 0.01
    assert story.implied.sum(1) * step == pytest.approx([1.0] * 7, abs=0.02)
    # by another road: draw, weigh, pick
    k = 5
    z = 0.3 + 0.9 * torch.randn(40_000, k, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    log_w = (
        Normal(0.0, 1.0).log_prob(z)
        + Normal(z, 1.0).log_prob(torch.tensor(1.5))
        - Normal(0.3, 0.9).log_prob(z)
    )
    mean = float((log_w.softmax(1) * z).sum(1).mean())
    assert float((story.implied[lens.SIZES.index(k)] * story.z).sum()) * step == pytest.approx(mean, abs=0.02)


def test_signal_falls_like_the_root_and_rises() -> None:
    """LV-O45 (q's variance .81 there .8), LV-E11: the noise falls too."""
    story = lens.story(*lens.MODELS["linear"], 0.3, math.sqrt(0.8), 1)
    known = {1: (0.505, 1.34), 5: (0.172, 1.64), 10: (0.118, 2.35), 50: (0.052, 5.39), 100: (0.037, 7.62)}
    for k, (plain, doubly) in known.items():
        at = lens.SIZES.index(k)
        assert float(story.plain[at]) == pytest.approx(plain, rel=0.15)
        assert float(story.doubly[at]) == pytest.approx(doubly, rel=0.15)
    assert story.noise.diff().lt(0).all() and story.signal.diff().lt(0).all()
    assert float(story.noise[-1]) == pytest.approx(0.146, rel=0.15)


def test_a_mode_never_visited_is_not_found() -> None:
    narrow = lens.story(*lens.MODELS["two modes"], 0.9, 0.15, 0)
    wide = lens.story(*lens.MODELS["two modes"], 0.0, 1.0, 0)
    step, left = float(wide.z[1] - wide.z[0]), wide.z < 0
    assert float(narrow.implied[-1][left].sum()) * step < 1e-3
    assert float(wide.implied[-1][left].sum()) * step == pytest.approx(0.5, abs=0.03)
    assert float(narrow.gaps[-1]) == pytest.approx(math.log(2), abs=0.02) and float(wide.gaps[-1]) < 0.05


def test_views_and_bad_input() -> None:
    page = open_page("latent/iwae", right="signal", K=100)
    assert figure(page, "right")[1]["layout.shapes.0.x0"].tolist() == lens.SIZES
    page = open_warned("latent/iwae", model="own", g="0 zwei 1")
    assert "“zwei” is left out" in warnings(page) and film(page, "K")["count"] == 7
