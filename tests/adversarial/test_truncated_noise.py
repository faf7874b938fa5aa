"""Draws cut off at τ: shares and spreads that are known, and what rejecting whole vectors costs."""

import math

import pytest
import torch
from scipy import stats

from lab.lenses.latent import lerp, slerp, typical_length
from modules.adversarial.truncation import (
    acceptance,
    log10_acceptance,
    rejection_sample,
    truncated_normal,
    truncated_sd,
)

KNOWN = [  # τ, share of numbers, of vectors of 100, standard deviation left
    (2.0, 0.954500, 9.497e-3, 0.8796),
    (1.0, 0.682689, 2.644e-17, 0.5396),
    (0.5, 0.382925, 2.048e-42, 0.2839),
    (0.04, 0.031907, 2.446e-150, 0.0231),
]


@pytest.mark.parametrize(("tau", "share", "vectors", "sd"), KNOWN)
def test_shares_and_spread(tau: float, share: float, vectors: float, sd: float) -> None:
    assert acceptance(tau) == pytest.approx(share, abs=6e-7)
    assert acceptance(tau, 100) == pytest.approx(vectors, rel=5e-4)
    assert log10_acceptance(tau, 100) == pytest.approx(math.log10(vectors), abs=1e-3)
    assert truncated_sd(tau) == pytest.approx(sd, abs=6e-5)
    assert truncated_sd(tau) == pytest.approx(stats.truncnorm(-tau, tau).std(), rel=1e-6)


def test_what_is_disregarded_and_small_cuts() -> None:
    assert 1 - acceptance(2, 100) == pytest.approx(0.9905, abs=5e-5)
    assert truncated_sd(0.9e-3) == pytest.approx(truncated_sd(1.1e-3) * 9 / 11, rel=1e-4)


@pytest.mark.parametrize("tau", [2.0, 0.5, 0.04])
def test_draws_follow_the_distribution(tau: float) -> None:
    draw = truncated_normal(200, 100, tau, torch.Generator().manual_seed(0))
    z = draw.z.flatten().double()
    assert draw.z.shape == (200, 100) and z.abs().max() <= tau
    assert stats.kstest(z.numpy(), stats.truncnorm(-tau, tau).cdf).pvalue > 1e-3
    assert draw.z.T.cov().fill_diagonal_(0).abs().mean() < 0.1 * tau**2  # numbers stay independent
    expected, sd = (
        20_000 / acceptance(tau),
        math.sqrt(20_000 * (1 - acceptance(tau))) / acceptance(tau),
    )  # negative binomial
    assert abs(draw.num_draws - expected) < 4 * sd


def test_whole_vectors_are_hardly_ever_kept() -> None:
    draw = rejection_sample(10_000, 100, 2.0, 20_000, torch.Generator().manual_seed(0))
    share = acceptance(2, 100)
    assert draw.num_draws == 20_000 and draw.z.abs().max() <= 2
    assert abs(len(draw.z) - 20_000 * share) < 4 * math.sqrt(20_000 * share)
    assert len(rejection_sample(1, 100, 1.0, 5000, torch.Generator().manual_seed(0)).z) == 0
    few = rejection_sample(5, 2, 2.0, 10_000, torch.Generator().manual_seed(0))
    assert few.z.shape == (5, 2) and few.num_draws == 1000


def test_norms_in_a_hundred_dimensions() -> None:
    assert typical_length(100) == pytest.approx(9.9750, abs=5e-5)
    assert typical_length(100) / math.sqrt(2) == pytest.approx(7.0534, abs=1e-4)
    a, b = torch.randn(2, 100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    b = b * a.norm() / b.norm()
    t = torch.linspace(0, 1, 9, dtype=torch.float64)
    torch.testing.assert_close(slerp(a, b, t).norm(dim=1), a.norm().expand(9))
    middles = torch.randn(2, 4000, 100, generator=torch.Generator().manual_seed(1)).mean(0)
    assert middles.norm(dim=1).mean() == pytest.approx(7.0534, abs=0.04)
    assert lerp(a, b, 0.5).norm() < 0.9 * a.norm()


@pytest.mark.parametrize("bad", [-1.0, 0.0, math.nan])
def test_hostile_cuts(bad: float) -> None:
    with pytest.raises(ValueError, match="tau is"):
        truncated_normal(2, 2, bad)
    with pytest.raises(ValueError, match="n is 0"):
        truncated_normal(0, 2, 1.0)
