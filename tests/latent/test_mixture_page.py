"""The page "Mixture by EM": half-steps against SciPy, the limit against scikit-learn, the choice of K."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch
from opening import failures, figure, film, open_page, open_warned, prose, run_page, spoken, warnings
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans

from pages.latent.mixture import choosing, figures, fixed_width, lens, points

opened = partial(open_page, "latent/mixture")
STARTS = (("one corner", 0), ("k-means++", 4))
X = points.together("three clusters", torch.empty(0, 2, dtype=torch.float64))


def joint(half: lens.Half, x: torch.Tensor) -> np.ndarray:
    """log π_k N(x_n; μ_k, Σ_k) by SciPy, (N, K)."""
    parts = zip(half.weights.numpy(), half.means.numpy(), half.matrices.numpy(), strict=True)
    return np.stack([math.log(w) + multivariate_normal(m, c).logpdf(x.numpy()) for w, m, c in parts], 1)


@pytest.mark.parametrize("covariance", ["full", "diag", "spherical", "tied"])
def test_half_steps_are_the_textbooks(covariance: str) -> None:
    halves = lens.em(X, 3, covariance, 1e-6, "one corner", 0, most=6)  # type: ignore[arg-type]
    assert [h.kind for h in halves] == ["start", *["E", "M"] * 6]
    for before, now in pairwise(halves):
        assert now.r is not None
        if now.kind == "E":
            log_joint = joint(before, X)
            log_p = logsumexp(log_joint, axis=1)
            np.testing.assert_allclose(now.r.numpy(), np.exp(log_joint - log_p[:, None]), atol=1e-9)
            assert now.elbo == pytest.approx(now.log_p, abs=1e-12) and now.log_p == before.log_p
        else:
            r = now.r.numpy()
            np.testing.assert_allclose(now.weights.numpy(), r.mean(0), atol=1e-12)
            np.testing.assert_allclose(now.means.numpy(), r.T @ X.numpy() / r.sum(0)[:, None], atol=1e-9)
            log_joint = joint(now, X)
            assert now.log_p == pytest.approx(logsumexp(log_joint, axis=1).mean(), abs=1e-9)
            bound = (r * log_joint).sum(1) - np.where(r > 0, r * np.log(np.maximum(r, 1e-300)), 0).sum(1)
            assert now.elbo == pytest.approx(bound.mean(), abs=1e-9)
            assert before.log_p - 1e-12 <= now.elbo <= now.log_p


def test_equals_stay_equal() -> None:
    """A start at a fixed point: EM does not lower log p, and need not raise it."""
    start, e_step, m_step = lens.em(X, 3, "full", 1e-6, "all alike", 0)
    assert m_step.log_p == pytest.approx(start.log_p, abs=1e-12)
    assert e_step.r is not None and float((e_step.r - 1 / 3).abs().max()) < 1e-12
    assert "nothing changes" in lens.captions([start, e_step, m_step])[2]


def test_without_a_floor_a_gaussian_ends_on_the_lone_point() -> None:
    x = points.together("two and a lone point", X[:0])
    free = lens.em(x, 3, "spherical", 0.0, "on a point", 0)
    held = lens.em(x, 3, "spherical", 0.01, "on a point", 0)
    assert len(free) == len(held) == 13 and free[-1].kind == "end" and math.isnan(free[-1].log_p)
    torch.testing.assert_close(free[-1].means[0], torch.tensor([0.0, 3.4], dtype=torch.float64))
    assert float(free[-2].matrices[0, 0, 0]) < 1e-8 and free[-2].log_p > held[-1].log_p + 0.2
    assert float(held[-1].matrices[0, 0, 0]) == pytest.approx(0.01) and held[-1].low == [0]
    assert "Gaussian 1 is at the floor" in lens.captions(held)[-1] and "log p → ∞" in lens.captions(free)[-1]
    # one more decade of σ is 2 log 10 more for that point, without end: modules.latent, oracle O15


def test_another_start_rests_lower() -> None:
    good, stuck = (lens.em(X, 3, "full", 1e-6, *start) for start in STARTS)
    assert (len(good), len(stuck)) == (71, 41)
    assert good[-1].log_p > stuck[-1].log_p + 0.1
    ends = lens.restarts(X, 3, "full", 1e-6)["log p, nats per point"]
    assert ends[4] == pytest.approx(stuck[-1].log_p, abs=1e-3) and max(ends) == pytest.approx(-2.79, abs=1e-2)


def test_ellipses_lie_two_deviations_away() -> None:
    half = lens.em(X, 3, "full", 1e-6, "k-means++", 0)[-1]
    away = lens.ellipses(half.means, half.matrices) - half.means[:, None]
    square = torch.einsum("kmi,kij,kmj->km", away, half.matrices.inverse(), away)
    torch.testing.assert_close(square, torch.full_like(square, 4.0))


def test_narrow_gaussians_are_k_means() -> None:
    result = fixed_width.limit(X, 3, 0)
    peer = KMeans(3, init=result.centres.numpy(), n_init=1).fit(X.numpy())
    np.testing.assert_allclose(result.centres.numpy(), peer.cluster_centers_, atol=1e-6)
    by_sigma = dict(zip(fixed_width.SIGMAS, zip(result.distance, result.entropy, strict=True), strict=True))
    assert (
        float(by_sigma[0.02][0]) < 1e-6 and float(by_sigma[0.1][0]) < 0.1 and float(by_sigma[0.1][1]) < 1e-3
    )
    assert float(by_sigma[2.0][1]) == pytest.approx(math.log(3), abs=1e-3)
    wide = result.means[fixed_width.SIGMAS.index(2.0)]
    torch.testing.assert_close(wide, X.mean(0).expand(3, 2), rtol=0, atol=0.02)


def test_the_choice_of_k() -> None:
    x, other = points.halved("three clusters", X[:0])
    result = choosing.choosing(x, other, "full", 1e-3)
    assert result.best(result.bic) == result.best(result.held_out) == 3
    assert all(result.train[k] < result.train[2] for k in range(3, 8))  # it falls on past three
    model = result.models[3]
    log_p = model.log_prob(other).mean().item()
    assert result.held_out[2] == pytest.approx(-log_p, abs=1e-12)
    assert result.bic[2] == pytest.approx(result.train[2] + 17 * math.log(150) / 300, abs=1e-9)
    assert (len(x), len(other)) == (150, 600) and not bool((x[:, None] == other).all(2).any())


def test_typed_points() -> None:
    result, bad = points.typed("height, weight\n1, 2\n\n3;4\n5,x\n6,7,8")
    assert result.tolist() == [[1, 2], [3, 4], [6, 7]]
    assert "Line 5: '5,x' is no point" in bad
    assert "first two" in points.typed("1,2,3")[1] and points.typed("")[1] == ""
    assert len(points.typed("1,1\n" * 700)[0]) == points.MOST
    assert points.window(torch.tensor([[0.0, 100.0], [40.0, 60.0]]))[1] == pytest.approx((56, 104))


def test_colours_are_mixed() -> None:
    assert figures.mixed(torch.tensor([[1.0, 0.0], [0.5, 0.5]])) == ["#0072B2", "#738859"]


# --- The page -------------------------------------------------------------------------------------


def test_the_page_shows_its_half_step() -> None:
    halves = lens.em(X, 3, "full", 1e-6, "one corner", 0)
    bar = film(opened())
    assert bar["at"] == 19 and bar["count"] == 71
    rise = halves[19].elbo - halves[18].elbo
    assert bar["captions"][19] == (
        f"E-step 10: the posterior of every point. The bound rises by {rise:.4f} and touches log p."
    )
    n = lens.undecided(halves)
    assert spoken(bar["equations"][19])[-1] == pytest.approx(float(halves[19].r[n].max()), abs=6e-4)
    assert spoken(bar["equations"][20])[-2:] == pytest.approx([halves[20].elbo, halves[20].log_p], abs=6e-5)


def test_own_points_join_and_a_bad_line_is_named() -> None:
    page = opened(own="3.5, 3.5")
    header, _ = figure(page, "plane")
    assert len(header["figure"]["data"][0]["marker"]["color"]) == 151
    page = open_warned("latent/mixture", own="1, 2\n3, x")
    assert "Line 2" in warnings(page)
    alone = open_warned("latent/mixture", set="own points alone", own="0, 0\n1, 1")
    assert "need at least 3 points: there are 2" in warnings(alone)


@pytest.mark.parametrize("view", ["EM", "Fixed width", "Choosing K"])
def test_points_at_one_place_or_far_away_are_no_error(view: str) -> None:
    one = "\n".join(["2, 2"] * 20)
    page = run_page("latent/mixture", view=view, set="own points alone", own=one)
    assert not failures(page)
    assert ("All points are at one place" in warnings(page)) == (view == "EM")
    far = "\n".join(f"{1000 * i}, {(i % 5) * 200000}" for i in range(30))
    opened(view=view, set="own points alone", own=far)


def test_the_other_views_say_their_numbers() -> None:
    page = opened(view="Choosing K")
    assert "BIC chooses K = 3, the points held out K = 3." in prose(page)
    page = opened(view="Fixed width", sigma=2.0)
    assert "the entropy of r is 1.099 nats" in film(page, "sigma")["captions"][14]
