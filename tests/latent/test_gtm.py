"""GTM: its density by hand, the M-step as an optimum, its draws, and the ring that it closes."""

import math

import pytest
import torch
from scipy.optimize import approx_fprime

from modules.latent.gtm import GTM


def started(
    event_shape: tuple[int, ...] = (2,), num_basis: int = 4, grid_size: int = 30
) -> tuple[GTM, torch.Tensor]:
    x = torch.randn(200, *event_shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = x * torch.linspace(1, 2, event_shape[-1], dtype=torch.float64) + 0.5
    model = GTM(event_shape, num_basis, grid_size)
    model.initialize(x, torch.Generator().manual_seed(1))
    return model, x


def test_features_and_numbers() -> None:
    model = GTM((2,), num_basis=3, grid_size=5)  # middles −1, 0, 1, width 1
    at = math.exp(-0.5), math.exp(-2)
    due = torch.tensor([[1, *at, 1], [at[0], 1, at[0], 1]], dtype=torch.float64)
    torch.testing.assert_close(model.features[[0, 2]], due)
    assert model.num_parameters == 2 * 4 + 1 and GTM((3, 1), num_basis=6).num_parameters == 3 * 7 + 1


def test_the_density_is_a_mean_of_gaussians() -> None:
    for shape in ((2,), (1, 3)):
        model, x = started(shape)
        few, n = x[:5], math.prod(shape)
        square = (few.reshape(5, 1, n) - model.curve).square().sum(-1)
        p = (-square / (2 * model.variance)).exp().mean(1) / (2 * math.pi * model.variance) ** (n / 2)
        torch.testing.assert_close(model.log_prob(few), p.log())


def test_a_step_is_where_the_expected_likelihood_is_flat() -> None:
    """Of Σ r log p(x, z) the gradient is 0 in the weights and the variance that the M-step leaves."""
    model, x = started()
    r = model.log_joint(x).softmax(1)
    before = float((r * model.log_joint(x)).sum())
    model.em_step(x)
    best = torch.cat([model.weights.flatten(), model.variance.log()[None]])

    def expected(values: list[float]) -> float:
        result = torch.as_tensor(values, dtype=torch.float64)
        model.weights.copy_(result[:-1].reshape(model.weights.shape))
        model.variance.copy_(result[-1].exp())
        return float((r * model.log_joint(x)).sum())

    assert expected(best.tolist()) > before + 1
    gradient = torch.as_tensor(approx_fprime(best.numpy(), expected, 1e-6))
    assert float(gradient.abs().max()) < 0.02 * len(x) ** 0.5  # against sums over 200 points
    assert expected((best + 0.05).tolist()) < expected(best.tolist())


def test_its_draws_have_its_moments() -> None:
    model, _ = started()
    x = model.sample(40_000, generator=torch.Generator().manual_seed(3))
    line = model.curve
    torch.testing.assert_close(x.mean(0), line.mean(0), rtol=0, atol=0.05)
    due = line.T.cov(correction=0) + model.variance * torch.eye(2)
    torch.testing.assert_close(x.T.cov(), due, rtol=0.05, atol=0.05)


def test_one_latent_number_closes_a_ring() -> None:
    angle = 2 * math.pi * torch.rand(1000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    noise = torch.randn(1000, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    x = torch.stack([angle.cos(), angle.sin()], 1) + 0.1 * noise
    model = GTM((2,), num_basis=6, restarts=3)
    totals = model.fit(x, 60, generator=torch.Generator().manual_seed(0))
    assert totals == sorted(totals)
    assert float(model.log_prob(x).mean()) == pytest.approx(-0.95, abs=0.05)  # −H of the ring
    assert float((model.curve.norm(dim=1) - 1).abs().max()) < 0.2


def test_a_curve_needs_two_bumps() -> None:
    with pytest.raises(ValueError, match="num_basis"):
        GTM((2,), num_basis=1)


@pytest.mark.parametrize("away", [1e3, 1e6])
def test_a_ring_far_away_is_fitted_as_the_same_ring_at_home(away: float) -> None:
    """Moved by (c, c): the same likelihoods after every step, up to what float64 has left of the data."""
    angle = torch.rand(300, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 * math.pi
    x = torch.stack([angle.cos(), angle.sin()], 1)
    x = x + 0.1 * torch.randn(x.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    at_home, far = (GTM((2,), restarts=1) for _ in range(2))
    one = at_home.fit(x, 20, generator=torch.Generator().manual_seed(2))
    other = far.fit(x + away, 20, generator=torch.Generator().manual_seed(2))
    assert other == pytest.approx(one, abs=1e-6 * away)
    torch.testing.assert_close(far.curve - away, at_home.curve, rtol=0, atol=1e-8 * away)
    assert torch.tensor(other).diff().min() > -1e-9 * away
