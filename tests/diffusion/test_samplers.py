"""Samplers against exact distributions: DF-O12, O13, O15, O18, O20, O30, and the order of each solver."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Literal

import contracts
import pytest
import torch
from torch import Tensor

from modules.diffusion import exact, inversion, langevin, samplers
from modules.diffusion.schedule import linear

MADE = linear()
NORMAL = exact.Mixture(torch.tensor([[1.0]]), 0.25)


def noise(n: int, D: int = 1, seed: int = 0) -> Tensor:
    return torch.randn(n, D, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def affine(
    sampler: Callable[..., samplers.Trajectory], times: list[int], **knobs: float
) -> tuple[float, float]:
    """Mean and slope of a deterministic sampler's map, which is affine for Gaussian data."""
    x = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    a, b = samplers.last(sampler(NORMAL.denoiser(MADE), MADE, x, times, **knobs)).flatten().tolist()
    return a, b - a


def moments(times: list[int], eta: float = 1.0, variance: str = "") -> tuple[float, float]:
    """Mean and sd of a noisy sampler from N(0, 1): each step is affine in x plus its own noise σ z."""
    m, v = 0.0, 1.0
    predict = NORMAL.denoiser(MADE)
    for t, p in pairwise(times):
        x, step = torch.tensor([[0.0], [1.0]], dtype=torch.float64), [t, p]
        generator = torch.Generator()
        if variance:
            trajectory = samplers.ancestral(
                predict, MADE, x, step, variance, generator=generator.manual_seed(0)
            )  # type: ignore[arg-type]
        else:
            trajectory = samplers.ddim(predict, MADE, x, step, eta, generator=generator.manual_seed(0))
        *_, end = trajectory
        z = torch.randn(x.shape, dtype=torch.float64, generator=generator.manual_seed(0))
        a, b = (end.x - end.sigma * z).flatten().tolist()
        m, v = a + (b - a) * m, (b - a) ** 2 * v + end.sigma**2
    return m, math.sqrt(v)


@pytest.mark.parametrize(
    ("S", "mean", "sd"),
    [(5, 0.998570, 0.225086), (10, 0.997703, 0.361612), (20, 0.997265, 0.430452), (50, 0.997002, 0.471915),
     (100, 0.996913, 0.485848), (1000, 0.996833, 0.498495)],
)  # fmt: skip
def test_few_steps_of_ddim_lose_spread_without_any_networks_error(S: int, mean: float, sd: float) -> None:
    assert affine(samplers.ddim, MADE.times(S)) == pytest.approx((mean, sd), abs=6e-7)


@pytest.mark.parametrize(
    ("S", "sd"),
    [(5, 0.209732), (10, 0.322835), (20, 0.387952), (50, 0.443193), (100, 0.467954), (1000, 0.496110)],
)
def test_noisy_ddim_in_few_steps(S: int, sd: float) -> None:
    assert moments(MADE.times(S)) == pytest.approx((0.999990, sd), abs=1e-6)


def test_ancestral_sampling_with_beta() -> None:
    assert moments(MADE.times(1000), variance="beta")[1] == pytest.approx(0.500752, abs=1e-6)


def test_the_best_variance_makes_the_whole_chain_exact() -> None:
    """With σ² = β̃ + c_0² Var(x_0 | x_t) the chain's spread is that of the data, but for N(0, 1) at T."""
    m, v = 0.0, 1.0
    for t, p in pairwise(MADE.times(1000)):
        c0, ct, tilde = (float(w) for w in MADE.posterior_weights(torch.tensor(t), torch.tensor(p)))
        a = float(MADE.alpha_bar[t])
        total = 0.25 * a + 1 - a
        spread = 0.25 * (1 - a) / total
        slope = c0 * math.sqrt(a) * 0.25 / total + ct
        m = c0 * (1 - a * 0.25 / total) + slope * m
        v = slope**2 * v + tilde + c0**2 * spread
    assert v == pytest.approx(0.25, abs=1e-5) and m == pytest.approx(1, abs=5e-3)


def test_deterministic_twice_and_noisy_as_the_chain() -> None:
    predict, x = exact.eight(1.5, 0.15).denoiser(MADE), noise(20, 2)
    times = MADE.times(40)
    ends = [samplers.last(samplers.ddim(predict, MADE, x, times)) for _ in range(2)]
    assert torch.equal(*ends)
    both = [
        samplers.last(
            sampler(predict, MADE, x, MADE.times(1000), knob, generator=torch.Generator().manual_seed(3))
        )
        for sampler, knob in ((samplers.ddim, 1.0), (samplers.ancestral, "posterior"))
    ]
    assert (both[0] - both[1]).abs().max() < 1e-9


def test_every_eta_keeps_the_marginals_when_x0_is_known() -> None:
    x0, n = 0.8, 40_000
    for eta in (0.0, 0.5, 1.0):
        a = float(MADE.alpha_bar[400])
        x = math.sqrt(a) * x0 + math.sqrt(1 - a) * noise(n, seed=5)

        def known(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
            return torch.full_like(x, x0), (x - MADE.root(t, x) * x0) / MADE.sigma(t, x)

        end = samplers.last(
            samplers.ddim(known, MADE, x, [400, 250], eta, generator=torch.Generator().manual_seed(6))
        )
        p = float(MADE.alpha_bar[250])
        assert abs(end.mean() - math.sqrt(p) * x0) < 4 * math.sqrt((1 - p) / n)
        assert abs(end.var() - (1 - p)) < 4 * (1 - p) * math.sqrt(2 / n)


def conserved(times: list[int]) -> float:
    """x_0 = m + s (x_T − √ᾱ m)/√(ᾱ s² + 1 − ᾱ): the slope of the exact flow from T to 0."""
    a = float(MADE.alpha_bar[times[0]])
    return 0.5 / math.sqrt(0.25 * a + 1 - a)


@pytest.mark.parametrize(
    ("sampler", "order"), [(samplers.ddim, 1), (samplers.heun, 2), (samplers.dpm_solver, 2)]
)
def test_solvers_converge_with_their_order(sampler: Callable[..., samplers.Trajectory], order: int) -> None:
    """Down to t = 1 evenly in t. The last step, to ᾱ = 1, is of first order in all."""
    errors = []
    for S in (125, 250, 500):
        times = torch.linspace(1000, 100, S).round().long().tolist()
        x = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
        a, b = samplers.last(sampler(NORMAL.denoiser(MADE), MADE, x, times)).flatten().tolist()
        now, end = (float(MADE.alpha_bar[t]) for t in (1000, 100))
        errors.append(abs((b - a) - math.sqrt((0.25 * end + 1 - end) / (0.25 * now + 1 - now))))
    rates = [math.log2(x / y) for x, y in pairwise(errors)]
    assert all(order - 0.35 < rate < order + 0.6 for rate in rates), rates
    assert errors[-1] < (5e-3 if order == 1 else 2e-4)


def test_the_solver_of_high_order_asks_for_even_log_snr() -> None:
    """DPM++(2M) in 20 steps against the fine ODE: nearer than evenly in time, and than DDIM there."""
    predict, start = exact.eight(1.5, 0.15).denoiser(MADE), noise(300, 2)
    fine = samplers.last(samplers.ddim(predict, MADE, start, MADE.times(1000)))

    def off(sampler: Callable[..., samplers.Trajectory], spacing: Literal["time", "snr"]) -> float:
        end = samplers.last(sampler(predict, MADE, start, MADE.times(20, spacing=spacing)))
        return float((end - fine).norm(dim=1).median())

    assert off(samplers.dpm_solver, "snr") < 0.5 * off(samplers.dpm_solver, "time")
    assert off(samplers.dpm_solver, "snr") < 0.5 * off(samplers.ddim, "snr")


def test_heun_is_nearer_with_as_many_calls() -> None:
    predict, start = exact.eight(1.5, 0.15).denoiser(MADE), noise(300, 2)
    fine = samplers.last(samplers.ddim(predict, MADE, start, MADE.times(1000)))
    off = [
        float((samplers.last(sampler(predict, MADE, start, MADE.times(S))) - fine).norm(dim=1).median())
        for sampler, S in ((samplers.ddim, 100), (samplers.heun, 50))  # 100 calls and 99
    ]
    assert off[1] < 0.75 * off[0]


def test_a_clipped_guess_stays_in_its_bounds() -> None:
    trajectory = samplers.ddim(lambda x, t: 0 * x, MADE, 5 * noise(30, 2), MADE.times(20), clip=1.0)
    results = [m for m in trajectory if m.x0 is not None]
    assert max(float(m.x0.abs().max()) for m in results if m.x0 is not None) <= 1
    first = results[0]
    a, t = float(MADE.alpha_bar[1000]), 5 * noise(30, 2)
    assert first.x0 is not None and first.eps is not None
    assert (math.sqrt(a) * first.x0 + math.sqrt(1 - a) * first.eps - t).abs().max() < 1e-12  # ε̂ follows


def test_a_trace_replays_and_ends_where_the_sampler_ends() -> None:
    predict = exact.eight(1.5, 0.15).denoiser(MADE)

    def run(seed: int) -> samplers.Trace:
        generator = torch.Generator().manual_seed(seed)
        return samplers.trace(samplers.ddim(predict, MADE, noise(4, 2, seed), MADE.times(10), 0.5,
                                            generator=generator))  # fmt: skip

    contracts.trace_replays(run)
    end = samplers.last(samplers.ddim(predict, MADE, noise(4, 2, 1), MADE.times(10), 0.5,
                                      generator=torch.Generator().manual_seed(1)))  # fmt: skip
    result = run(1)
    assert len(result) == 11 and torch.equal(result.result, end) and result[-1].values["alpha_bar"] == 1
    assert r"+ 0.000\,\hat\epsilon" in result[-1].equation and r"\,z" not in result[-1].equation


def test_no_noise_in_the_last_step() -> None:
    for sampler in (samplers.ancestral, samplers.ddim, langevin.predictor_corrector):
        knobs = {"eta": 1.0} if sampler is samplers.ddim else {}
        *_, end = sampler(NORMAL.denoiser(MADE), MADE, noise(3), [5, 1, 0], **knobs)
        assert end.x0 is not None and torch.allclose(end.x, end.x0, atol=1e-12)


# --- Codes ----------------------------------------------------------------------------------------


def test_encode_and_decode_return_as_steps_grow() -> None:
    truth = exact.eight(1.5, 0.15)
    predict = truth.denoiser(MADE)
    x, _ = truth.draw(200, torch.Generator().manual_seed(0))
    errors = []
    for S in (50, 100, 200, 400):
        times = MADE.times(S)
        z = inversion.invert(predict, MADE, x, times)
        back = samplers.last(samplers.ddim(predict, MADE, z, times))
        errors.append(float((back - x).norm(dim=1).mean()))
    assert all(b < 0.62 * a for a, b in pairwise(errors)), errors


def test_slerp_keeps_norms_and_ends() -> None:
    a, b = noise(6, 50), noise(6, 50, 1)
    b = b * (a.norm(dim=1) / b.norm(dim=1))[:, None]
    assert torch.equal(inversion.slerp(a, b, 0.0), a) and torch.equal(inversion.slerp(a, b, 1.0), b)
    for share in (0.25, 0.5, 0.9):
        assert (inversion.slerp(a, b, share).norm(dim=1) - a.norm(dim=1)).abs().max() < 1e-12
    middle = inversion.slerp(a, -a, 0.5)  # antipodal: still a quarter turn, of the same norm
    assert (middle.norm(dim=1) - a.norm(dim=1)).abs().max() < 1e-10
    assert (middle * a).sum(1).abs().max() < 1e-10
    assert torch.allclose(inversion.slerp(a, a, 0.5), a)
    z, w = noise(2000, 64, 2), noise(2000, 64, 3)
    assert float(((z + w) / 2).norm(dim=1).mean()) == pytest.approx(math.sqrt(32), rel=0.01)
    assert float(inversion.slerp(z, w, 0.5).norm(dim=1).mean()) == pytest.approx(8, rel=0.01)


# --- Langevin -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "variance"), [(0.1, 1.0526316), (0.5, 1.3333333), (1.0, 2.0)])
def test_unadjusted_langevin_is_too_wide_and_mala_is_not(step: float, variance: float) -> None:
    n, steps = 20_000, 60
    free = samplers.last(
        langevin.langevin(lambda x: -x, noise(n), step, steps, generator=torch.Generator().manual_seed(1))
    )
    assert abs(free.var() - variance) < 4 * variance * math.sqrt(2 / n)
    mala = samplers.last(
        langevin.langevin(lambda x: -x, noise(n), step, steps, lambda x: -0.5 * x.square().sum(1),
                          torch.Generator().manual_seed(1))
    )  # fmt: skip
    assert abs(mala.var() - 1) < 4 * math.sqrt(2 / n)


def test_langevin_diverges_at_a_step_of_two() -> None:
    trajectory = langevin.langevin(
        lambda x: -x, noise(100), 2.1, 200, generator=torch.Generator().manual_seed(1)
    )
    assert samplers.last(trajectory).abs().max() > 1e6


def test_mala_accepts_with_the_right_ratio() -> None:
    """A skewed density, log of an Exp(1), of which mean and variance are known."""
    n = 20_000

    def log_p(x: Tensor) -> Tensor:
        return (x - x.exp()).sum(1)

    x = langevin.langevin(lambda x: 1 - x.exp(), noise(n), 0.3, 150, log_p, torch.Generator().manual_seed(2))
    end = samplers.last(x)
    assert abs(end.mean() + 0.5772157) < 4 * math.pi / math.sqrt(6 * n)
    assert abs(end.var() - math.pi**2 / 6) < 0.09


def test_far_modes_keep_the_weights_a_chain_began_with_and_annealing_finds_them() -> None:
    truth = exact.Mixture(torch.tensor([[-4.0], [4.0]]), 0.25, [0.8, 0.2])

    def score(x: Tensor, sigma: float) -> Tensor:  # of p ∗ N(0, σ²): variance-exploding, by a change of scale
        a = 1 / (1 + sigma**2)
        return truth.score(x * math.sqrt(a), a) * math.sqrt(a)

    start = 8 * torch.rand(4000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) - 4
    stuck = samplers.last(langevin.langevin(lambda x: truth.score(x, 1.0), start, 0.02, 500,
                                            generator=torch.Generator().manual_seed(1)))  # fmt: skip
    assert abs(float((stuck < 0).double().mean()) - 0.5) < 0.05
    sigmas = torch.logspace(math.log10(10), math.log10(0.1), 14).tolist()
    result = samplers.last(
        langevin.annealed_langevin(score, start, sigmas, 0.1, 40, torch.Generator().manual_seed(1))
    )
    assert abs(float((result < 0).double().mean()) - 0.8) < 0.05


def test_a_corrector_mends_what_few_steps_miss() -> None:
    predict = NORMAL.denoiser(MADE)
    times, x = MADE.times(10), noise(20_000)
    plain = samplers.last(
        samplers.ancestral(predict, MADE, x, times, generator=torch.Generator().manual_seed(1))
    )
    mended = samplers.last(
        langevin.predictor_corrector(predict, MADE, x, times, 5, 0.2, torch.Generator().manual_seed(1))
    )
    assert abs(plain.std() - 0.3228) < 0.01 and abs(mended.std() - 0.5) < abs(plain.std() - 0.5)
