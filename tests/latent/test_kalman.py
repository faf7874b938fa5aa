"""The Kalman filter and smoother against known numbers and the one large Gaussian of everything."""

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from modules.latent.kalman import LinearDynamicalSystem, conditioned, scalar


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor, b: Tensor, atol: float = 1e-6) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def test_three_steps_by_hand() -> None:
    system = scalar(a=0.9, q=0.19, c=1.0, r=0.5)
    x = f64([[[1.0], [0.0], [1.0]]])
    filtered, smoothed = system.filter(x), system.smooth(x)
    assert filtered.log_prob.item() == pytest.approx(-3.690532, abs=1e-6)
    close(filtered.means[0, :, 0], f64(0.666667, 0.3125, 0.593496))
    close(filtered.covariances[:, 0, 0], f64(0.333333, 0.239583, 0.217215))
    close(smoothed.means[0, :, 0], f64(0.593496, 0.487805, 0.593496))
    close(smoothed.means[0, -1], filtered.means[0, -1])


@pytest.fixture
def planar() -> LinearDynamicalSystem:
    """A point that turns, seen in three coordinates."""
    turn = f64([[math.cos(0.5), -math.sin(0.5)], [math.sin(0.5), math.cos(0.5)]])
    emission = f64([[1.0, 0.0], [0.5, 1.0], [0.0, -1.0]])
    return LinearDynamicalSystem(
        0.95 * turn, f64(0.1, 0.2).diag(), emission, f64(0.3, 0.2, 0.4).diag(), f64(1.0, 0.0),
        f64([[1.0, 0.3], [0.3, 0.5]]),
    )  # fmt: skip


@pytest.mark.parametrize("hole", [False, True])
def test_equals_dense_conditioning(planar: LinearDynamicalSystem, hole: bool) -> None:
    _, x = planar.sample(2, 4, torch.Generator().manual_seed(0))
    seen = torch.ones(4, 3, dtype=torch.bool)
    if hole:
        seen[1] = False
    x = torch.where(seen, x, math.nan)
    mean, covariance = planar.joint(4)
    observed = torch.cat([torch.zeros(8, dtype=torch.bool), seen.flatten()])
    smoothed = planar.smooth(x)
    for i in range(2):
        values = x[i][seen]
        whole = MultivariateNormal(mean[observed], covariance[observed][:, observed])
        close(smoothed.log_prob[i], whole.log_prob(values), 1e-9)
        m, c = conditioned(mean, covariance, observed, values)
        close(smoothed.means[i].flatten(), m[:8], 1e-9)
        for t in range(4):
            close(smoothed.covariances[t], c[2 * t : 2 * t + 2, 2 * t : 2 * t + 2], 1e-9)
    if hole:  # nothing was learned there: the filter only predicts
        before = planar.filter(x)
        close(before.means[:, 1], before.means[:, 0] @ planar.transition.T, 1e-12)


def test_samples_have_the_joint_moments(planar: LinearDynamicalSystem) -> None:
    z, x = planar.sample(100_000, 3, torch.Generator().manual_seed(1))
    both = torch.cat([z.flatten(1), x.flatten(1)], 1)
    mean, covariance = planar.joint(3)
    close(both.mean(0), mean, 0.02)
    close(both.T.cov(), covariance, 0.03)
