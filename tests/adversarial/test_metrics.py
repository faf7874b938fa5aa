"""Judges of samples against closed forms, brute force and torchmetrics."""

import math

import pytest
import torch
from scipy.linalg import sqrtm
from torch import Tensor

from modules.adversarial import metrics
from modules.adversarial.transport import assignment
from modules.diffusion.bound import log_normal
from modules.diffusion.exact import Mixture


def f64(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- Inception score --------------------------------------------------------------------------------


def test_inception_score_of_known_tables() -> None:
    one_hot = torch.eye(10, dtype=torch.float64)
    rows = f64(0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6).view(3, 3)
    peaks = 0.9 * one_hot + (0.1 / 9) * (1 - one_hot)
    for table, expected in (
        (one_hot, 10), (torch.full((7, 10), 0.1, dtype=torch.float64), 1), (one_hot[[3, 3, 3]], 1),
        (one_hot[:5], 5), (peaks, 5.799546), (rows, 1.333955), (one_hot.repeat(10, 1), 10),
    ):  # fmt: skip
        assert metrics.inception_score(table).item() == pytest.approx(expected, abs=1e-6)
    mean = rows.mean(0)
    other = (rows * (rows / mean).log()).sum(1).mean().exp()
    assert metrics.inception_score(rows).item() == pytest.approx(other.item(), abs=1e-12)


# --- Fréchet ------------------------------------------------------------------------------------------

MOMENTS = f64(0, 0), f64(2, 0.5, 0.5, 1).view(2, 2), f64(1, 2), f64(1, -0.3, -0.3, 2).view(2, 2)


def test_frechet_distance_of_known_moments() -> None:
    m1, s1, m2, s2 = MOMENTS
    value = metrics.frechet_distance(m1, s1, m2, s2).item()
    assert value == pytest.approx(5.575426, abs=1e-6)
    assert metrics.frechet_distance(m2, s2, m1, s1).item() == pytest.approx(value, abs=1e-12)
    by_scipy = 5 + s1.trace() + s2.trace() - 2 * torch.from_numpy(sqrtm((s1 @ s2).numpy()).real).trace()
    assert value == pytest.approx(by_scipy.item(), abs=1e-9)
    assert metrics.frechet_distance(m1, s1, m1, s1).item() == pytest.approx(0, abs=1e-12)
    line = metrics.frechet_distance(f64(0), f64(1)[None], f64(0), f64(16)[None])
    assert line.item() == pytest.approx(9)
    singular = metrics.frechet(normal(5, 8), normal(5, 8, seed=1))
    assert singular.isfinite() and singular > 0


def test_torchmetrics_has_the_same_frechet_distance() -> None:
    x, y = normal(300, 6), 1.5 * normal(300, 6, seed=1) + 1
    metric = metrics.PixelFrechet(6)
    for part, other in zip(x.view(3, 100, 2, 3), y.view(3, 100, 2, 3), strict=True):
        metric.update(part, other)
    assert metric.compute().item() == pytest.approx(metrics.frechet(x, y).item(), rel=1e-6)


def test_the_frechet_distance_of_samples_of_one_law_falls_as_one_over_n() -> None:
    values = {}
    for n, expected, sd in ((500, 4.39, 0.1), (1000, 2.17, 0.07), (5000, 0.435, 0.011)):
        draws = [metrics.frechet(normal(n, 64, seed=2 * s), normal(n, 64, seed=2 * s + 1)) for s in range(3)]
        values[n] = torch.stack(draws).mean().item()
        assert values[n] == pytest.approx(expected, abs=4 * sd)
    small = metrics.frechet(normal(1000, 10), normal(1000, 10, seed=1)).item()
    assert small == pytest.approx(0.069, abs=0.056)


# --- Precision and recall -----------------------------------------------------------------------------


def test_precision_is_of_samples_and_recall_of_data() -> None:
    data, samples = f64(0, 1, 2, 3)[:, None], f64(0.5, 10)[:, None]
    assert [v.item() for v in metrics.precision_recall(data, samples, 1)] == [0.5, 1.0]
    assert [v.item() for v in metrics.precision_recall(samples, data, 1)] == [1.0, 0.5]
    assert [v.item() for v in metrics.precision_recall(data, data, 1)] == [1.0, 1.0]
    assert metrics.radii(metrics.distances(data, data), 2)[1].tolist() == [2, 1, 1, 2]
    with pytest.raises(ValueError, match="k is 2"):
        metrics.precision_recall(data, samples, 2)


def two_modes(n: int, seed: int, one: bool = False) -> Tensor:
    side = (
        torch.ones(n, 1, dtype=torch.float64) if one else (normal(n, 1, seed=seed + 50) > 0).double() * 2 - 1
    )
    return 10 * side + normal(n, 2, seed=seed)


def test_a_dropped_mode_lowers_recall_and_junk_precision() -> None:
    data = two_modes(1000, 1)
    junk = torch.cat([two_modes(500, 2), 40 + 20 * normal(500, 2, seed=3)])
    for samples, precision, recall in (
        (two_modes(1000, 2), 0.978, 0.972), (two_modes(1000, 2, one=True), 0.978, 0.494),
        (junk, 0.489, 0.969),
    ):  # fmt: skip
        result = metrics.precision_recall(data, samples, 3)
        assert [v.item() for v in result] == pytest.approx([precision, recall], abs=0.06)


# --- Birthdays ----------------------------------------------------------------------------------------


def test_the_birthday_test() -> None:
    for support, expected in ((115_260, 0.500001), (160_000, 0.392963), (400_000, 0.180914)):
        assert metrics.duplicate_probability(400, support) == pytest.approx(expected, abs=1e-6)
    assert int(metrics.largest_support(400)) == 115_260
    assert metrics.duplicate_probability(745, 400_000) >= 0.5 > metrics.duplicate_probability(744, 400_000)
    for support, n in ((100, 13), (365, 23), (1000, 38), (10_000, 119)):
        assert metrics.draws_until(support) == n
    assert metrics.duplicate_probability(23, 365) == pytest.approx(0.507297, abs=1e-6)
    assert metrics.duplicate_probability(38, 1000) == pytest.approx(0.509317, abs=1e-6)
    assert metrics.duplicate_probability(20, 10) == 1
    weights = torch.cat([torch.full((10,), 0.05), torch.full((990,), 0.5 / 990)]).double()
    assert (1 / weights.square().sum()).item() == pytest.approx(39.6, abs=0.05)
    draw = torch.Generator().manual_seed(0)
    birthdays = torch.randint(365, (4000, 23), generator=draw)
    repeated = (birthdays.sort(1).values.diff(dim=1) == 0).any(1).double().mean()
    assert repeated.item() == pytest.approx(0.507, abs=0.03)


def test_nearest_pairs_are_those_of_all_pairs() -> None:
    x = normal(30, 3)
    places, distance = metrics.nearest_pairs(x, 4)
    every = torch.cdist(x, x).triu(1)
    every[every == 0] = math.inf
    best = every.flatten().sort()
    assert torch.allclose(distance, best.values[:4])
    assert (places[:, 0] * 30 + places[:, 1]).tolist() == best.indices[:4].tolist()


# --- Likelihood ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("h", "train", "test"),
    [(1.0, -1.138009, -1.043939), (0.3, -0.404254, -1.103855), (0.1, 0.690499, -11.116353),
     (0.01, 2.993084, -1246.3138)],
)  # fmt: skip
def test_the_likelihood_of_training_data_rewards_learning_by_heart(
    h: float, train: float, test: float
) -> None:
    """GA-O41: a kernel density of two points, at those and half-way between."""
    data = f64(0, 1)[:, None]
    kernels = Mixture(data, h**2)
    assert kernels.log_prob(data).mean().item() == pytest.approx(train, abs=1e-6)
    assert kernels.log_prob(f64(0.5)[:, None]).item() == pytest.approx(test, rel=1e-7, abs=1e-6)


def test_a_threshold_on_the_likelihood_lets_the_mode_pass() -> None:
    """GA-O41: at 0, where no draw of 100 dimensions comes near, log p is higher than at any draw."""
    draws = normal(5000, 100)
    of_draws, of_mode = (log_normal(x, torch.zeros_like(x), 1.0) for x in (draws, f64(*[0] * 100)[None]))
    assert of_mode.item() == pytest.approx(-91.8939, abs=1e-4)
    assert of_draws.mean().item() == pytest.approx(-141.8939, abs=4 * math.sqrt(50 / 5000))
    assert of_mode > of_draws.max() and draws.norm(dim=1).min() > 6


# --- Modes --------------------------------------------------------------------------------------------

RING = [[2 * math.cos(math.pi * k / 4), 2 * math.sin(math.pi * k / 4)] for k in range(8)]


def measured(x: Tensor) -> list[float]:
    results = []
    for measure in ("modes", "quality", "kl"):
        metric = metrics.ModeCoverage(RING, 0.05, measure)  # type: ignore[arg-type]
        for part in x.split(1000):
            metric.update(part)
        results.append(metric.compute().item())
    return results


def test_modes_of_a_perfect_a_collapsed_and_a_blurred_sampler() -> None:
    ring = torch.tensor(RING).repeat(2500, 1)
    noise = normal(len(ring), 2).float()
    modes, quality, divergence = measured(ring + 0.05 * noise)
    assert modes == 8 and quality == pytest.approx(1 - math.exp(-4.5), abs=0.003) and divergence < 1e-6
    assert 1 - math.exp(-4.5) == pytest.approx(0.988891, abs=1e-6)
    modes, quality, divergence = measured(ring[:1] + 0.05 * noise)
    assert modes == 1 and quality > 0.98 and divergence == pytest.approx(2.079442, abs=1e-6)
    modes, quality, divergence = measured(ring + 0.5 * noise)
    assert quality < 0.1 and divergence < 0.01
    assert metrics.missed_modes(8, 20) == pytest.approx(8 * 0.875**20)
    draw = torch.Generator().manual_seed(0)
    hit = torch.nn.functional.one_hot(torch.randint(8, (20_000, 20), generator=draw), 8).amax(1).sum(1)
    assert (8 - hit.double()).mean().item() == pytest.approx(metrics.missed_modes(8, 20), abs=0.03)


def test_transport_is_the_assignment_of_the_first_examples() -> None:
    metric, x, y = metrics.Wasserstein1(most=30), normal(40, 2).float(), normal(40, 2, seed=1).float() + 1
    for part, other in zip(x.split(8), y.split(8), strict=True):
        metric.update(part, other)
    assert metric.compute().item() == pytest.approx(assignment(x[:30], y[:30])[1].item(), rel=1e-6)


def test_transport_of_what_several_processes_have_seen() -> None:
    """torchmetrics joins their lists to one tensor each; W₁ is that of all points."""
    metric, x, y = metrics.Wasserstein1(), normal(12, 2).float(), normal(12, 2, seed=1).float()
    for part, other in zip(x.split(5), y.split(5), strict=True):
        metric.update(part, other)
    alone = metric.compute()
    joined = metrics.Wasserstein1()
    joined.data, joined.samples = x, y  # type: ignore[assignment]
    joined._update_count = 1
    torch.testing.assert_close(joined.compute(), alone)
