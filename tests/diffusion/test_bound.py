"""The bound term by term: DF-O8 to O11."""

import math

import pytest
import torch
from torch import Tensor

from modules.diffusion import bound, exact
from modules.diffusion.schedule import Schedule, linear

MADE = linear()
MEAN, VAR = 1.0, 0.25
ENTROPY = 0.5 * math.log(2 * math.pi * math.e * VAR)


def left(schedule: Schedule) -> Tensor:
    """Var(x_0 | x_t) of N(1, ¼), (T + 1,)."""
    a = schedule.alpha_bar
    return VAR * (1 - a) / (a * VAR + 1 - a)


def expected(schedule: Schedule, kind: str) -> float:
    """The bound of the exact denoiser of N(1, ¼), averaged over the data in closed form."""
    t = torch.arange(2, schedule.T + 1)
    error, a = left(schedule), float(schedule.alpha_bar[-1])
    if kind == "best":
        square = torch.cat([error[1:2], bound.best_variance(schedule, t, error[t])])
        steps, first = square[1:], float(square[0])
    else:
        table = bound.variances(schedule, kind)  # type: ignore[arg-type]
        steps, first = table[t], float(table[1])
    prior = 0.5 * (a * (MEAN**2 + VAR) - a - math.log1p(-a))
    decoder = 0.5 * math.log(2 * math.pi * first) + float(error[1]) / (2 * first)
    return prior + float(bound.step_kl(schedule, t, error[t], 1, steps).sum()) + decoder


def test_weights_of_the_noise_error() -> None:
    """With a squared error in ε of 1, c_0² SNR-weighted: Ho et al.'s β²/(2σ²α(1 − ᾱ))."""
    t = torch.tensor([2, 10, 100, 500, 1000])
    clean = 1 / MADE.snr[t]  # ‖x_0 − x̂_0‖² where ‖ε − ε̂‖² = 1
    for kind, wanted in (
        ("posterior", [0.5996715, 0.0864366, 0.0102670, 0.0055082, 0.0102045]),
        ("beta", [0.2726921, 0.0737170, 0.0100813, 0.0055034, 0.0102045]),
    ):
        square = bound.variances(MADE, kind)[t]  # type: ignore[arg-type]
        slope = bound.step_kl(MADE, t, clean, 1, square) - bound.step_kl(MADE, t, 0 * clean, 1, square)
        assert slope.tolist() == pytest.approx(wanted, abs=6e-8)
    same = 0.5 * (MADE.snr[t - 1] - MADE.snr[t])
    tilde = bound.variances(MADE, "posterior")[t]
    assert torch.allclose(bound.step_kl(MADE, t, torch.ones(5).double(), 3, tilde), same, rtol=1e-9)


def test_prior_term() -> None:
    nats = float(bound.prior_kl(MADE, torch.ones(1, 1)))
    assert nats == pytest.approx(2.01796e-5, rel=1e-5) and nats / math.log(2) == pytest.approx(
        2.91130e-5, rel=1e-5
    )
    two = torch.distributions.Normal(
        math.sqrt(float(MADE.alpha_bar[-1])), math.sqrt(1 - float(MADE.alpha_bar[-1]))
    )
    kl = torch.distributions.kl_divergence(two, torch.distributions.Normal(0.0, 1.0))
    assert nats == pytest.approx(float(kl), abs=1e-7)


@pytest.mark.parametrize(("levels", "mean", "sigma"), [(256, 0.3, 0.05), (256, -1.4, 0.3), (17, 0.9, 0.01)])
def test_masses_of_grey_levels_sum_to_one(levels: int, mean: float, sigma: float) -> None:
    x = torch.linspace(-1, 1, levels, dtype=torch.float64)
    assert float(bound.log_bin(x, torch.full_like(x, mean), sigma, levels).exp().sum()) == pytest.approx(
        1, abs=1e-14
    )


def test_bins_near_and_far() -> None:
    x = 2 * torch.arange(256, dtype=torch.float64) / 255 - 1
    near = bound.log_bin(x[127:129], torch.zeros(2), 0.01, 256).exp()
    assert near.tolist() == pytest.approx([0.2835720] * 2, abs=1e-7)
    far = bound.log_bin(x, torch.full_like(x, 0.9), 1e-4, 256)
    assert bool(far.isfinite().all()) and far.min() < -1e7
    mirrored = bound.log_bin(-x, torch.full_like(x, -0.9), 1e-4, 256)
    assert torch.allclose(far, mirrored, rtol=1e-9)


@pytest.mark.parametrize(
    ("T", "best", "beta", "posterior"),
    [(1000, 0.7258115320, 0.7269037871, 1.2957374633), (100, 0.7258015477, 0.7367622344, 1.9980011676),
     (10, 0.7257913526, 0.8477569257, 6.1155564983)],
)  # fmt: skip
def test_expected_bound_of_gaussian_data(T: int, best: float, beta: float, posterior: float) -> None:
    result = linear(T)
    results = [expected(result, kind) for kind in ("best", "beta", "posterior")]
    assert results == pytest.approx([best, beta, posterior], abs=1e-9)
    assert min(results) >= ENTROPY - 1e-12
    # with the best σ² the gap is what N(0, 1) misses of q(x_T), nothing else
    a = float(result.alpha_bar[-1])
    total = a * VAR + 1 - a
    assert best - ENTROPY == pytest.approx(0.5 * (total + a * MEAN**2 - 1 - math.log(total)), abs=2e-10)


@pytest.mark.parametrize("kind", ["beta", "posterior"])
@pytest.mark.parametrize("draws", [None, 10])
def test_drawn_bound_has_the_expected_value(kind: bound.Variance, draws: int | None) -> None:
    results, n = linear(100), 4000
    generator = torch.Generator().manual_seed(0)
    truth = exact.Mixture(torch.tensor([[MEAN]]), VAR)
    x, _ = truth.draw(n, generator)
    result = bound.bound(truth.denoiser(results), results, x, kind, draws=draws, generator=generator)
    assert len(result.steps) == (99 if draws is None else 11) and result.total.shape == (n,)  # and the last
    assert abs(float(result.total.mean()) - expected(results, kind)) < 4 * float(
        result.total.std()
    ) / math.sqrt(n)


def test_discretised_decoder_in_a_whole_bound() -> None:
    """Grey levels 0 … 16: the bound is at least the entropy of the levels, and finite at β̃_1 = 0."""
    result, generator = linear(200), torch.Generator().manual_seed(0)
    levels = torch.randint(0, 17, (200, 3), generator=generator)
    x = 2 * levels.double() / 16 - 1
    grid = torch.linspace(-1, 1, 17, dtype=torch.float64)
    one = exact.Mixture(grid[:, None])

    def predict(x: Tensor, t: Tensor) -> Tensor:  # independent pixels: each has its own exact denoiser
        return one.eps(x.reshape(-1, 1), result.alpha_bar[t].repeat_interleave(3)).view_as(x)

    for kind in ("beta", "posterior"):
        total = bound.bound(predict, result, x, kind, 17, generator=generator).total  # type: ignore[arg-type]
        assert bool(total.isfinite().all())
        assert (
            3 * math.log(17) - 0.1 < float(total.mean()) < (3 * math.log(17) + 1.2 if kind == "beta" else 99)
        )
