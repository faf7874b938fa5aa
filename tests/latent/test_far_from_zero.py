"""Squares far from 0: distances, variances and likelihoods are those of the same data at home."""

import math

import pytest
import torch

from modules.adversarial import metrics
from modules.diffusion.flow_matching import energy_distance, optimal_pairs
from modules.latent import scores
from modules.latent.collapse import ActiveUnits
from modules.latent.gaussians import Gaussians
from modules.latent.hmm import HMM
from modules.latent.kmeans import KMeans, squared_distances
from modules.latent.mixture import GaussianMixture


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def two_clusters(apart: float, away: float) -> torch.Tensor:
    """400 whole points, 2 × 200, so that moving them loses nothing."""
    x = torch.randint(-40, 41, (400, 2), generator=seeded()).double()
    x[200:, 0] += apart
    return x + away


def test_k_means_parts_two_clusters_far_away() -> None:
    x = two_clusters(300, 1.7e9)
    model = KMeans((2,), 2)
    model.fit(x, 20, generator=seeded(1))
    z = model.encode(x)
    assert (z[:200] == z[0]).all() and (z[200:] == 1 - z[0]).all()
    home = KMeans((2,), 2)
    home.fit(x - 1.7e9, 20, generator=seeded(1))
    assert model.distances(x) == pytest.approx(home.distances(x - 1.7e9), rel=1e-4, abs=1e-2)
    exact = (x[:, None] - model.centres).square().sum(-1)
    torch.testing.assert_close(squared_distances(x, model.centres), exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "diag", "spherical", "tied"])
def test_a_mixture_far_away_and_far_apart_is_that_of_differences(covariance: str) -> None:
    """Means 10⁸ deviations apart, all 10⁹ away: log N and the weighted fit, point by point."""
    x = two_clusters(1e9, 1.7e9)
    model = GaussianMixture((2,), 2, covariance)  # type: ignore[arg-type]
    model.fit(x, 5, generator=seeded(1))
    order = model.gaussians.means[:, 0].argsort()
    for k, part in zip(order.tolist(), (x[:200], x[200:]), strict=True):
        mean, spread = part.mean(0), part.sub(part.mean(0)).T.mm(part.sub(part.mean(0))) / 200
        torch.testing.assert_close(model.gaussians.means[k], mean, rtol=1e-12, atol=1e-6)
        if covariance == "diag":
            torch.testing.assert_close(
                model.gaussians.covariances[k], spread.diagonal(), rtol=1e-6, atol=1e-4
            )
        if covariance == "full":
            torch.testing.assert_close(model.gaussians.covariances[k], spread, rtol=1e-6, atol=1e-4)
    gaussians = model.gaussians
    law = torch.distributions.MultivariateNormal(gaussians.means, gaussians.matrices)
    own = torch.arange(400) // 200
    result = gaussians.log_prob(x)[torch.arange(400), order[own]]
    due = law.log_prob(x[:, None])[torch.arange(400), order[own]]
    torch.testing.assert_close(result, due, rtol=1e-6, atol=1e-6)


def test_narrow_states_far_apart_are_those_of_differences() -> None:
    model = HMM(2, "gaussian", num_features=1)
    model.emission.set_parameters(torch.tensor([[0.0], [1e6]]), torch.full((2, 1), 1e-6, dtype=torch.float64))
    x = torch.tensor([[0.001, 1e6 + 0.002, 1e6]], dtype=torch.float64)
    result = model.log_emissions(x)[0]
    due = torch.distributions.Normal(model.emission.means[:, 0], 1e-3).log_prob(x[0, :, None])
    torch.testing.assert_close(result, due, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("rule", [scores.precision_recall, metrics.precision_recall])
def test_precision_and_recall_do_not_depend_on_the_place(rule) -> None:
    x, y = (torch.randint(-500, 501, (60, 3), generator=seeded(s)).float() for s in (0, 1))
    y = y + 300
    home = rule(x, y)
    assert 0.05 < float(home[0]) < 0.95
    assert rule(x + 2.0**20, y + 2.0**20) == home


def test_energy_distance_and_pairs_do_not_depend_on_the_place() -> None:
    x, y = (torch.randint(-50, 51, (60, 2), generator=seeded(s)).float() for s in (0, 1))
    assert float(energy_distance(x + 2.0**20, y + 2.0**20)) == pytest.approx(
        float(energy_distance(x, y)), abs=1e-4
    )
    assert torch.equal(optimal_pairs(x + 2.0**20, y + 2.0**20) - 2.0**20, optimal_pairs(x, y))


def test_active_units_do_not_depend_on_the_place() -> None:
    means = torch.randn(500, 3, generator=seeded()) * torch.tensor([1.0, 0.01, 0.2])
    for away in (0.0, 1e3, 1e4):
        metric = ActiveUnits(3)
        for part in (means + away).split(100):
            metric.update(part)
        assert float(metric.compute()) == 2


def test_a_factor_that_never_varies_is_left_out_of_mig() -> None:
    factors = torch.randint(0, 4, (400, 2), generator=seeded())
    codes = torch.stack([factors[:, 0].double(), factors[:, 1].double(), torch.zeros(400).double()], 1)
    due = scores.mutual_information_gap(codes, factors, bins=4)
    constant = torch.cat([factors, torch.full((400, 1), 2)], 1)
    result = scores.mutual_information_gap(codes, constant, bins=4)
    assert math.isfinite(float(result)) and float(result) == pytest.approx(float(due), abs=1e-12)
    with pytest.raises(ValueError, match="No factor varies"):
        scores.mutual_information_gap(codes, constant[:, 2:])


def test_gaussians_of_nothing() -> None:
    assert Gaussians(3, 2, "diag").log_prob(torch.zeros(0, 2, dtype=torch.float64)).shape == (0, 3)
