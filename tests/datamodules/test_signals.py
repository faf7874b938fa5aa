"""AR(2) signals: stationary, with the covariance and the entropy that Yule and Walker's equations give."""

import math

import pytest
import torch
from torch.distributions import MultivariateNormal

from datamodules.signals import Signals


def covariance(data: Signals) -> torch.Tensor:
    """Cov(x_t, x_u), (T, T), from the recurrence of the autocovariances ρ_j = a_1 ρ_{j-1} + a_2 ρ_{j-2}."""
    rho = [1.0, data.neighbours]
    for _ in range(2, data.length):
        rho.append(data.slopes[0] * rho[-1] + data.slopes[1] * rho[-2])
    gaps = (torch.arange(data.length)[:, None] - torch.arange(data.length)).abs()
    return torch.tensor(rho, dtype=torch.float64)[gaps]


def test_yule_and_walker() -> None:
    data = Signals()
    (a1, a2), rho = data.slopes, covariance(data)[0]
    assert rho[1] == pytest.approx(float(a1 + a2 * rho[1]))  # the first equation
    assert data.scale**2 == pytest.approx(float(1 - a1 * rho[1] - a2 * rho[2]))
    # the poles: r at ±2πf
    poles = torch.linalg.eigvals(torch.tensor([[a1, a2], [1.0, 0.0]], dtype=torch.float64))
    assert poles.abs().tolist() == pytest.approx([0.97, 0.97])
    assert poles.angle().abs().tolist() == pytest.approx([2 * math.pi * 0.06] * 2)


@pytest.mark.parametrize("arguments", [{}, {"length": 5, "frequency": 0.3, "decay": 0.5}, {"decay": 0.0}])
def test_least_nll_is_the_entropy_of_the_normal(arguments: dict) -> None:
    data = Signals(**arguments)
    whole = MultivariateNormal(torch.zeros(data.length, dtype=torch.float64), covariance(data))
    assert data.least_nll == pytest.approx(whole.entropy().item(), abs=1e-8)


def test_draws_follow_the_covariance() -> None:
    data = Signals(length=12)
    x = data.draw(20_000, seed=5)[0].double()
    assert x.mean(0).abs().max() < 4 / math.sqrt(20_000)
    off = (x.t() @ x / 20_000 - covariance(data)).abs().max()
    assert off < 5 * math.sqrt(2 / 20_000)
    assert not torch.equal(x, data.draw(20_000, seed=6)[0])


def test_splits_and_bad_arguments() -> None:
    data = Signals(num_train=10, num_val=5, num_test=7)
    data.setup()
    assert [len(s) for s in (data.train_set, data.val_set, data.test_set)] == [10, 5, 7]
    assert data.test_set[torch.arange(7)][0].shape == (7, 64) and data.sizes["event_shape"] == (64,)
    for arguments, words in [({"length": 2}, "length"), ({"frequency": 0.5}, "frequency"),
                             ({"decay": 1.0}, "decay"), ({"num_test": 0}, "num_test is 0")]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            Signals(**arguments)
