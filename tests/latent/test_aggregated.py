"""The aggregated posterior and its parts; scores of samples and codes."""

import itertools
import math

import pytest
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from modules.latent.aggregated import (
    AggregatedPosterior,
    gaussian_decomposition,
    stratified_q,
    stratified_weights,
    weighted_log_q,
)
from modules.latent.scores import (
    frechet,
    frechet_distance,
    inception_score,
    information_table,
    mutual_information_gap,
    neighbour_radii,
    precision_recall,
)


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor | float, b: Tensor | float, atol: float = 1e-6) -> None:
    ours, known = (torch.as_tensor(v, dtype=torch.float64) for v in (a, b))
    torch.testing.assert_close(ours, known, rtol=0, atol=atol)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


TWO = AggregatedPosterior(f64([[-1.0, 0.0], [2.0, 1.0]]), f64([[0.5, 0.2], [0.1, 0.4]]).log())


def test_moments() -> None:
    mean, covariance = TWO.moments()
    close(mean, f64(0.5, 0.5))
    close(covariance, f64([[2.55, 0.75], [0.75, 0.55]]))
    z = TWO.sample(200_000, generator=seeded())
    close(z.mean(0), mean, 0.02)
    close(z.T.cov(), covariance, 0.03)


def test_density_is_the_mixture() -> None:
    z = f64([[0.0, 0.5], [2.0, 1.0]])
    parts = [MultivariateNormal(m, v.exp().diag()) for m, v in zip(TWO.mean, TWO.log_var, strict=True)]
    exact = torch.stack([p.log_prob(z) for p in parts]).logsumexp(0) - math.log(2)
    close(TWO.log_prob(z), exact, 1e-12)


def test_parts_of_a_gaussian_code() -> None:
    x_covariance = f64([[2.0, 1.2], [1.2, 1.0]])
    loading, noise = f64([[0.8, 0.1], [-0.2, 0.9]]), f64(0.3, 0.2)
    covariance = loading @ x_covariance @ loading.T + noise.diag()
    parts = gaussian_decomposition(noise, covariance)
    close(parts["information"], 1.295419)
    close(parts["total_correlation"], 0.190880)
    close(parts["dimensions"].sum(), 0.140407)
    total = parts["information"] + parts["total_correlation"] + parts["dimensions"].sum()
    close(total, 1.626705)
    expected_kl = 0.5 * ((covariance.diagonal() - 1).sum() - noise.log().sum())
    close(total, expected_kl, 1e-12)
    close(gaussian_decomposition(f64(0.1, 0.1), f64([[1.0, 0.8], [0.8, 1.0]]))["total_correlation"], 0.510826)
    close(gaussian_decomposition(f64(0.1, 0.1), f64(1.0, 2.0).diag())["total_correlation"], 0.0, 1e-12)
    # and estimated from data: the mixture of many codes
    x = torch.randn(3000, 2, generator=seeded(), dtype=torch.float64) @ torch.linalg.cholesky(x_covariance).T
    result = AggregatedPosterior(x @ loading.T, noise.log().expand(3000, -1)).decomposition(4000, seeded(1))
    for name in ("information", "total_correlation"):
        close(result[name], parts[name], 0.08)
    close(
        result["rate"],
        result["information"] + result["total_correlation"] + result["dimensions"].sum(),
        1e-10,
    )


SIX = AggregatedPosterior(
    torch.randn(6, 2, generator=seeded(), dtype=torch.float64),
    0.3 * torch.randn(6, 2, generator=seeded(1), dtype=torch.float64),
)


def test_weighted_estimate_has_a_known_offset() -> None:
    z = f64([[0.1, -0.4], [1.0, 1.0]])
    result = weighted_log_q(SIX.mean, SIX.log_var, z, data=6)
    close(result, SIX.log_prob(z) - math.log(6), 1e-12)


@pytest.mark.parametrize("batch", [2, 4, 6])
def test_stratified_estimate_is_right_on_average(batch: int) -> None:
    z = f64([[0.1, -0.4]])
    for own in range(6):  # for each, whose weight is not that of the others
        others = [n for n in range(6) if n != own]
        values = [
            stratified_q(SIX.mean[[own, *chosen]], SIX.log_var[[own, *chosen]], z, data=6)
            for chosen in itertools.combinations(others, batch - 1)
        ]
        close(torch.stack(values).mean(0), SIX.log_prob(z).exp(), 1e-12)
    close(stratified_weights(batch, 6).sum(), 1.0, 1e-12)
    with pytest.raises(ValueError, match="at least 2"):
        stratified_weights(1, 6)


# --- scores -----------------------------------------------------------------------------------------------


def test_inception_score() -> None:
    close(inception_score(torch.eye(7).double()), 7.0)
    close(inception_score(f64([[0.2, 0.8], [0.2, 0.8]])), 1.0)


def test_frechet() -> None:
    one, two = torch.randn(50, 3, generator=seeded()), torch.randn(60, 3, generator=seeded(1)) * 2 + 1
    close(frechet_distance(one, one), 0.0, 1e-9)
    close(frechet_distance(one, two), frechet_distance(two, one), 1e-9)
    close(frechet(f64([1.0]), f64([[4.0]]), f64([3.0]), f64([[0.25]])), 4 + (2 - 0.5) ** 2)
    diagonal = frechet(f64(0.0, 0.0), f64(1.0, 4.0).diag(), f64(0.0, 1.0), f64(9.0, 4.0).diag())
    close(diagonal, 1 + (3 - 1) ** 2)
    line = torch.randn(500, 1, generator=seeded(2)).double()
    exact = (line.mean() - 2 * line.mean()) ** 2 + (line.std() - 2 * line.std()) ** 2
    close(frechet_distance(line, 2 * line), exact, 1e-9)


def test_precision_and_recall() -> None:
    """LV-E33, [UDL] fig. 14.5's caption swaps the two."""
    data = f64([[0.0], [1.0], [2.0], [3.0]])
    samples = f64([[0.5], [10.0]])
    precision, recall = precision_recall(data, samples, k=1)
    assert (precision, recall) == (0.5, 1.0)
    swapped = precision_recall(samples, data, k=1)
    assert swapped == (recall, precision)
    assert precision_recall(data, data, k=1) == (1.0, 1.0)
    close(neighbour_radii(data, 1), torch.ones(4))
    with pytest.raises(ValueError, match="k is 4"):
        neighbour_radii(data, 4)


def test_mutual_information_gap() -> None:
    factors = torch.cartesian_prod(torch.arange(4), torch.arange(5)).repeat(50, 1)
    v = factors.double()
    close(mutual_information_gap(v, factors), 1.0, 1e-9)
    close(mutual_information_gap(torch.stack([v[:, 0], v[:, 0], v[:, 1]], 1), factors), 0.5, 1e-9)
    noise = torch.rand(1000, 3, generator=seeded(), dtype=torch.float64)
    assert mutual_information_gap(noise, factors) < 0.05
    table = information_table(v, factors)
    close(table, f64(math.log(4), math.log(5)).diag(), 1e-9)
    shuffled = v[torch.randperm(1000, generator=seeded())]
    assert information_table(shuffled, factors).max() < 0.1
