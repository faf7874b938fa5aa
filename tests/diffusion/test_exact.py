"""Exact scores: DF-O14, O15."""

import math

import pytest
import torch

from modules.diffusion import exact, samplers
from modules.diffusion.schedule import linear

TWO = exact.Mixture(torch.tensor([[-2.0], [2.0]]), 0.25)


def test_mixture_at_a_point() -> None:
    x = torch.tensor([[0.7]], dtype=torch.float64)
    assert float(TWO.log_prob(x, 0.5)) == pytest.approx(-1.7439320868, abs=1e-10)
    assert TWO.responsibilities(x, 0.5)[0].tolist() == pytest.approx([0.0403941, 0.9596059], abs=1e-7)
    score = float(TWO.score(x, 0.5))
    assert score == pytest.approx(0.9599387717, abs=1e-10)
    assert float(TWO.eps(x, 0.5)) == pytest.approx(-0.6787792150, abs=1e-10)
    assert float(TWO.posterior_mean(x, 0.5)) == pytest.approx(1.6687287087, abs=1e-10)
    h = 1e-5
    slope = (TWO.log_prob(x + h, 0.5) - TWO.log_prob(x - h, 0.5)) / (2 * h)
    assert float(slope) == pytest.approx(score, abs=1e-9)


def test_full_covariances_by_autograd_and_tweedie() -> None:
    torch.manual_seed(0)
    root = torch.randn(3, 2, 2, dtype=torch.float64)
    mixture = exact.Mixture(torch.randn(3, 2), root @ root.mT, torch.tensor([1.0, 2.0, 3.0]))
    x = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    a = torch.linspace(0.1, 0.95, 7, dtype=torch.float64)
    (slope,) = torch.autograd.grad(mixture.log_prob(x, a).sum(), x)
    score = mixture.score(x, a)
    assert (slope - score).abs().max() < 1e-12
    tweedie = (x + (1 - a)[:, None] * score) / a[:, None].sqrt()
    assert (tweedie - mixture.posterior_mean(x, a)).abs().max() < 1e-12
    normal = torch.distributions.MultivariateNormal(mixture.means, root @ root.mT)
    want = (normal.log_prob(x[:, None]) + mixture.log_weights).logsumexp(1)
    assert (mixture.log_prob(x) - want).abs().max() < 1e-10


def test_draws_have_the_mixtures_moments() -> None:
    cov = torch.tensor([[[2.0, 1.2], [1.2, 1.0]]], dtype=torch.float64)
    x, _ = exact.Mixture(torch.tensor([[1.0, -1.0]]), cov).draw(50_000, torch.Generator().manual_seed(0))
    assert (x.mean(0) - torch.tensor([1.0, -1.0])).abs().max() < 4 * math.sqrt(2 / 50_000)
    assert (x.T.cov() - cov[0]).abs().max() < 0.06


def test_the_exact_optimum_on_a_finite_set_memorises() -> None:
    """What a network adds is what it gets wrong: the exact minimiser returns the training points."""
    points = torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    result = linear()
    x = torch.randn(40, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    predict = exact.Mixture(points).denoiser(result)
    for trajectory in (samplers.ddim(predict, result, x, result.times(200)),
                 samplers.ancestral(predict, result, x, result.times(1000))):  # fmt: skip
        nearest = torch.cdist(samplers.last(trajectory), points).min(1).values
        assert nearest.max() < 1e-3
    fresh = torch.cdist(torch.randn(40, 2, dtype=torch.float64), points).min(1).values
    assert fresh.max() > 0.1  # new points lie elsewhere


def test_refusals() -> None:
    with pytest.raises(ValueError, match="negative eigenvalue"):
        exact.Mixture(torch.zeros(1, 2), torch.tensor([[[1.0, 2.0], [2.0, 1.0]]]))
    with pytest.raises(ValueError, match="Weights"):
        exact.Mixture(torch.zeros(2, 1), 1.0, [-1.0, 2.0])
