"""The Kalman filter and smoother against known numbers and the one large Gaussian of everything."""

import dataclasses
import math

import pytest
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from modules.latent.kalman import LinearDynamicalSystem, condition_gaussian, scalar_system


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor, b: Tensor, atol: float = 1e-6) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def test_three_steps_by_hand() -> None:
    system = scalar_system(a=0.9, q=0.19, c=1.0, r=0.5)
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


def dense(system: LinearDynamicalSystem, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Means (T, K), covariances (T, K, K) and log p of one sequence (T, D), from the one large Gaussian of
    all states and the entries that are there."""
    length, k = len(x), len(system.transition)
    mean, covariance = system.joint(length)
    result = torch.cat([torch.zeros(length * k, dtype=torch.bool), ~x.flatten().isnan()])
    keep = result | (torch.arange(len(result)) < length * k)
    values = x[~x.isnan()]
    m, c = condition_gaussian(mean[keep], covariance[keep][:, keep], result[keep], values)
    spreads = torch.stack([c[k * t : k * t + k, k * t : k * t + k] for t in range(length)])
    log_p = MultivariateNormal(mean[result], covariance[result][:, result]).log_prob(values)
    return m.reshape(length, k), spreads, log_p


HOLES = {
    "none": [],
    "a frame": [(slice(None), 1)],
    "one sensor": [(slice(None), 1, 0), (slice(None), 2, slice(1, 3))],
    "one sequence's": [(0, 1), (1, 2, 1), (2, 0), (2, 3, 0)],
}


@pytest.mark.parametrize("hole", HOLES)
def test_equals_dense_conditioning(planar: LinearDynamicalSystem, hole: str) -> None:
    noise = f64([[0.3, 0.1, 0.0], [0.1, 0.2, -0.1], [0.0, -0.1, 0.4]])  # sensors' noises depend on each other
    system = dataclasses.replace(planar, emission_noise=noise)
    x = system.sample(3, length=4, generator=torch.Generator().manual_seed(0))
    for at in HOLES[hole]:
        x[at] = math.nan
    filtered, smoothed = system.filter(x), system.smooth(x)
    for i in range(3):
        means, spreads, log_p = dense(system, x[i])
        close(smoothed.log_prob[i], log_p, 1e-9)
        close(smoothed.means[i], means, 1e-9)
        result = smoothed.covariances if smoothed.covariances.ndim == 3 else smoothed.covariances[i]
        close(result, spreads, 1e-9)
        for t in range(1, 5):
            if x[i, :t].isnan().all():
                continue
            close(filtered.means[i, t - 1], dense(system, x[i, :t])[0][-1], 1e-9)
    if hole == "a frame":  # nothing was learned there: the filter only predicts
        close(filtered.means[:, 1], filtered.means[:, 0] @ system.transition.T, 1e-12)
        assert filtered.covariances.ndim == 3


def test_no_sequences_have_no_beliefs(planar: LinearDynamicalSystem) -> None:
    none = planar.smooth(torch.zeros(0, 4, 3, dtype=torch.float64))
    assert none.means.shape == (0, 4, 2) and none.log_prob.shape == (0,)


def test_samples_have_the_joint_moments(planar: LinearDynamicalSystem) -> None:
    z, x = planar.sample_states(100_000, length=3, generator=torch.Generator().manual_seed(1))
    both = torch.cat([z.flatten(1), x.flatten(1)], 1)
    mean, covariance = planar.joint(3)
    close(both.mean(0), mean, 0.02)
    close(both.T.cov(), covariance, 0.03)
