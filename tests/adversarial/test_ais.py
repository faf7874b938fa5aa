"""Annealed importance sampling, against linear models whose likelihood is known."""

import math

import pytest
import torch
from torch import Tensor

from modules.adversarial import ais

A = torch.tensor([[1.0, 0.0], [0.5, 1.0]], dtype=torch.float64)
X = torch.tensor([[1.0, 1.0], [0.2, -0.7], [2.0, 0.0]], dtype=torch.float64)


def linear(z: Tensor) -> Tensor:
    return z @ A.T


def exact(x: Tensor, sd: float) -> Tensor:
    covariance = A @ A.T + sd**2 * torch.eye(2, dtype=torch.float64)
    return torch.distributions.MultivariateNormal(torch.zeros(2, dtype=torch.float64), covariance).log_prob(x)


def estimate(count: int, chains: int, sd: float = 0.1, seed: int = 0, **settings: float) -> ais.Estimate:
    generator = torch.Generator().manual_seed(seed)
    return ais.log_prob(linear, X, 2, sd, chains=chains, count=count, generator=generator, **settings)  # type: ignore[arg-type]


def test_the_oracle() -> None:
    """GA-O30: exact −2.470017 at (1, 1); within three standard errors, which are small."""
    assert exact(X, 0.1)[0].item() == pytest.approx(-2.470017, abs=1e-6)
    result = estimate(100, 300)
    assert result.error.max() < 0.2 and result.acceptance > 0.8
    assert ((result.log_prob - exact(X, 0.1)).abs() < 3 * result.error).all()


def test_one_temperature_is_plain_importance_sampling() -> None:
    generator = torch.Generator().manual_seed(0)
    ais.mean_squared_singular_value(
        linear, torch.randn(64, 2, generator=generator, dtype=torch.float64), generator
    )
    z = torch.randn(500, 3, 2, generator=generator, dtype=torch.float64)
    plain = ais.log_likelihood(linear, X, z, 0.1).logsumexp(0) - math.log(500)
    torch.testing.assert_close(estimate(1, 500).log_prob, plain)


def test_weights_are_unbiased_with_few_steps_and_bad_moves() -> None:
    """E w = p(x) however coarse the ladder and the leapfrog, so long as moves are refused rightly."""
    result = estimate(3, 20_000, sd=0.5, step=1.6, steps=2)
    assert result.acceptance < 0.9
    torch.testing.assert_close(result.log_prob, exact(X, 0.5), atol=0.05, rtol=0)


def test_more_temperatures_are_nearer() -> None:
    few, many = (estimate(count, 40) for count in (2, 60))
    gap = [float((e.log_prob - exact(X, 0.1)).abs().mean()) for e in (few, many)]
    assert gap[1] < gap[0] / 3 and many.error.mean() < few.error.mean()


def test_leapfrog_can_be_walked_back_and_keeps_its_energy() -> None:
    energy = lambda z: (z.square() * torch.tensor([1.0, 4.0])).sum(-1) / 2  # noqa: E731
    generator = torch.Generator().manual_seed(0)
    z, m = torch.randn(2, 1, 5, 2, generator=generator, dtype=torch.float64)
    there, after = ais.leapfrog(energy, z, m, 0.05, 20)
    back, again = ais.leapfrog(energy, there, -after, 0.05, 20)
    torch.testing.assert_close(back, z)
    torch.testing.assert_close(again, -m)
    total = [energy(a) + b.square().sum(-1) / 2 for a, b in ((z, m), (there, after))]
    torch.testing.assert_close(*total, rtol=5e-3, atol=0)


def test_a_curved_decoder_against_brute_force() -> None:
    def bent(z: Tensor) -> Tensor:
        return torch.stack([z[:, 0] + z[:, 1].square() / 2, torch.tanh(z[:, 1])], 1)

    x = torch.tensor([[0.5, 0.5], [1.5, -0.8]], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(200_000, 2, generator=generator, dtype=torch.float64)
    brute = ais.log_likelihood(bent, x, z[:, None].expand(-1, 2, -1), 0.2).logsumexp(0) - math.log(len(z))
    result = ais.log_prob(bent, x, 2, 0.2, chains=200, count=40, generator=generator)
    assert result.acceptance > 0.5 and ((result.log_prob - brute).abs() < 4 * result.error + 0.02).all()


def test_the_ladder_and_the_stretch() -> None:
    betas = ais.temperatures(10)
    assert betas[0] == 0 and betas[-1] == 1 and bool((betas.diff() > 0).all())
    torch.testing.assert_close(betas, 1 - betas.flip(0))
    z = torch.randn(20_000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    result = ais.mean_squared_singular_value(linear, z, torch.Generator().manual_seed(1))
    assert result == pytest.approx(float(A.square().sum()) / 2, rel=0.03)


def test_what_cannot_be_is_refused() -> None:
    for wrong in ({"chains": 0}, {"count": 0}, {"steps": 0}, {"step": 0.0}, {"step": float("nan")}):
        settings = {"chains": 2, "count": 2} | wrong
        with pytest.raises(ValueError, match="at least"):
            ais.log_prob(linear, X, 2, 0.1, **settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sd"):
        ais.log_prob(linear, X, 2, 0.0)
