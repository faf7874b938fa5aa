"""Schedules, their posterior, and the four views of a prediction: DF-O1 to O7, O34."""

import math

import pytest
import torch
from torch import Tensor

from modules.diffusion import exact, parameterisation, samplers
from modules.diffusion.schedule import Schedule, cosine, linear, named, rows, zero_terminal

FOUR = Schedule.of_betas(torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64))
KINDS: list[parameterisation.Kind] = ["eps", "x0", "v", "score"]


def test_linear_alpha_bar_and_snr() -> None:
    result = linear()
    t = [1, 2, 10, 100, 250, 500, 750, 1000]
    bars = [0.9999, 0.9997800921, 0.9981052048, 0.8970181457, 0.5240853738, 0.0785872429, 3.3505504e-3,
            4.03582977e-5]  # fmt: skip
    snrs = [9999, 4546.3577, 526.76152, 8.7104486, 1.1012172, 0.0852899, 3.3618e-3, 4.03599e-5]
    assert result.alpha_bar[t].tolist() == pytest.approx(bars, rel=1e-8, abs=5e-11)
    assert result.snr[t].tolist() == pytest.approx(snrs, rel=2e-5)
    fewer = linear(100)  # of a tenth of the steps each is ten times as large
    assert fewer.beta[[1, 100]].tolist() == pytest.approx([0.001, 0.2])


def test_cosine_alpha_bar_is_made_again_after_the_clip() -> None:
    result = cosine()
    bars = {1: 0.9999587158, 100: 0.9720927, 250: 0.8470122, 500: 0.4938436, 750: 0.1442721,
            999: 2.42877e-6, 1000: 2.42877e-9}  # fmt: skip
    assert result.alpha_bar[list(bars)].tolist() == pytest.approx(list(bars.values()), rel=3e-6)
    assert (result.beta > 0.998999).nonzero().flatten().tolist() == [1000]


@pytest.mark.parametrize("kind", ["linear", "cosine", "linear-zero", "cosine-zero"])
def test_snr_strictly_falls(kind: str) -> None:
    for T in (10, 100, 1000):
        assert bool((named(kind, T).snr.diff() < 0).all())  # type: ignore[arg-type]


def test_moments_step_by_step_are_the_closed_form() -> None:
    result = linear()
    m, v = 1.0, 0.0
    for t in range(1, 1001):
        beta = float(result.beta[t])
        m, v = math.sqrt(1 - beta) * m, (1 - beta) * v + beta
        assert m**2 == pytest.approx(float(result.alpha_bar[t]), rel=1e-11, abs=1e-14)
        assert v == pytest.approx(1 - float(result.alpha_bar[t]), abs=1e-13)


def test_simulated_chain_has_the_closed_forms_moments() -> None:
    torch.manual_seed(0)
    n, x = 20_000, torch.full((20_000,), 1.5, dtype=torch.float64)
    for t in range(1, 5):
        beta = float(FOUR.beta[t])
        x = math.sqrt(1 - beta) * x + math.sqrt(beta) * torch.randn_like(x)
    a = float(FOUR.alpha_bar[4])
    assert abs(x.mean() - math.sqrt(a) * 1.5) < 4 * math.sqrt((1 - a) / n)
    assert abs(x.var() - (1 - a)) < 4 * (1 - a) * math.sqrt(2 / n)


def test_posterior_of_four_steps() -> None:
    t = torch.arange(1, 5)
    c0, ct, variance = FOUR.posterior_weights(t, t - 1)
    assert FOUR.alpha_bar[1:].tolist() == pytest.approx([0.9, 0.72, 0.504, 0.3024], abs=1e-12)
    assert FOUR.snr[1:].tolist() == pytest.approx([9, 2.5714286, 1.0161290, 0.4334862], abs=1e-7)
    assert variance.tolist() == pytest.approx([0, 0.0714286, 0.1693548, 0.2844037], abs=1e-7)
    assert c0.tolist() == pytest.approx([1, 0.6776309, 0.5132227, 0.4070697], abs=1e-7)
    assert ct.tolist() == pytest.approx([0, 0.3194383, 0.4723081, 0.5507453], abs=1e-7)
    assert FOUR.posterior_variance[1:].tolist() == variance.tolist()


@pytest.mark.parametrize(("t", "p"), [(2, 1), (3, 2), (4, 2), (4, 1)])
def test_posterior_is_bayes_on_a_grid(t: int, p: int) -> None:
    x0, xt = torch.tensor([[0.7]], dtype=torch.float64), torch.tensor([[-0.4]], dtype=torch.float64)
    grid = torch.linspace(-8, 8, 40_001, dtype=torch.float64)

    def log_n(x: Tensor, mean: Tensor, variance: float) -> Tensor:
        return -0.5 * (x - mean) ** 2 / variance - 0.5 * math.log(2 * math.pi * variance)

    now, before = float(FOUR.alpha_bar[t]), float(FOUR.alpha_bar[p])
    kept = now / before
    joint = log_n(xt[0], math.sqrt(kept) * grid, 1 - kept) + log_n(
        grid, math.sqrt(before) * x0[0], 1 - before
    )
    evidence = log_n(xt[0], math.sqrt(now) * x0[0], 1 - now)
    mean, variance = FOUR.posterior(x0, xt, torch.tensor([t]), torch.tensor([p]))
    assert (joint - evidence - log_n(grid, mean[0], float(variance))).abs().max() < 1e-10


def test_identities_of_the_posterior_at_every_t() -> None:
    result, t = linear(), torch.arange(1, 1001)
    c0, ct, variance = result.posterior_weights(t, t - 1)
    now, before = result.alpha_bar[1:], result.alpha_bar[:-1]
    assert (c0 + ct * now.sqrt() - before.sqrt()).abs().max() < 1e-12
    assert (ct**2 * (1 - now) + variance - (1 - before)).abs().max() < 1e-12
    at = 499
    assert [float(c0[at]), float(ct[at]), float(variance[at]), float(result.beta[500])] == pytest.approx(
        [3.0700711e-3, 0.9941066702, 0.0100313554, 0.0100400400], abs=1e-10
    )
    assert float(variance[1]) == pytest.approx(5.4531877e-5, rel=1e-7)
    beta, rest = result.beta[2:], 1 - result.alpha_bar[1:-1]
    assert torch.allclose(1 / variance[1:], (1 - beta) / beta + 1 / rest, rtol=1e-10)  # precisions add


def test_four_views_of_one_prediction() -> None:
    x0, eps = (torch.tensor([[v]], dtype=torch.float64) for v in (1.0, -0.5))
    t = torch.tensor([3])
    x, a = FOUR.noised(x0, t, eps), FOUR.alpha_bar[t]
    assert float(x) == pytest.approx(0.3577932367, abs=1e-10)
    assert float(parameterisation.from_x0_eps(x0, eps, a, "v")) == pytest.approx(-1.0592374615, abs=1e-10)
    assert float(parameterisation.from_x0_eps(x0, eps, a, "score")) == pytest.approx(0.7099522928, abs=1e-10)
    mean, _ = FOUR.posterior(x0, x, t, t - 1)
    beta = FOUR.beta[3]
    from_eps = (x - beta / (1 - a).sqrt() * eps) / (1 - beta).sqrt()  # Ho et al.'s form
    assert float(mean) == pytest.approx(0.6822113003, abs=1e-10) == float(from_eps)
    end = samplers.last(samplers.ddim(lambda x, t: eps, FOUR, x, [3, 2]))
    assert float(end) == pytest.approx(0.5839530063, abs=1e-10)


def test_conversions_round_trip_at_every_t() -> None:
    result = linear()
    torch.manual_seed(0)
    x, value = torch.randn(2, 1000, 3, dtype=torch.float64)
    a = result.alpha_bar[1:]
    for source in KINDS:
        for target in KINDS:
            there = parameterisation.convert(value, x, a, source, target)
            back = parameterisation.convert(there, x, a, target, source)
            assert (back - value).abs().max() / value.abs().max() < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_converted_networks_give_the_same_samples(kind: parameterisation.Kind) -> None:
    result, truth = linear(100), exact.eight()
    net = truth.denoiser(result)

    def converted(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        a = result.alpha_bar[t]
        text = parameterisation.convert(net(x, t), x, a, "eps", kind)  # type: ignore[arg-type]
        return parameterisation.to_x0_eps(text, x, a, kind)

    x = torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for sampler in (samplers.ancestral, samplers.ddim):
        ends = [
            samplers.last(
                sampler(p, result, x, result.times(100), generator=torch.Generator().manual_seed(2))
            )
            for p in (net, converted)
        ]
        assert (ends[0] - ends[1]).abs().max() < 1e-8


def test_loss_ratios_per_example() -> None:
    result = linear()
    torch.manual_seed(0)
    t = torch.tensor([1, 30, 500, 990])
    x0, eps, guess = torch.randn(3, 4, 5, dtype=torch.float64)
    x, a, snr = result.noised(x0, t, eps), result.alpha_bar[t], result.snr[t]
    true_v = parameterisation.from_x0_eps(x0, eps, a, "v")
    x0_hat, eps_hat = parameterisation.to_x0_eps(guess, x, a, "x0")
    v_hat = parameterisation.from_x0_eps(x0_hat, eps_hat, a, "v")
    error = (x0 - x0_hat).square().sum(1)
    assert torch.allclose((eps - eps_hat).square().sum(1), snr * error, rtol=1e-9)
    assert torch.allclose((true_v - v_hat).square().sum(1), (1 + snr) * error, rtol=1e-9)
    # min-SNR is one weight on the error of x_0, whatever is predicted
    want = snr.clamp(max=5) * error
    for kind, loss in (("x0", error), ("eps", snr * error), ("v", (1 + snr) * error)):
        assert torch.allclose(parameterisation.loss_weight(snr, kind, 5.0) * loss, want)  # type: ignore[arg-type]


def test_zero_terminal_snr() -> None:
    before, after = linear(), zero_terminal(linear())
    assert float(after.alpha_bar[-1]) == 0 and float(after.beta[-1]) == 1
    assert float(after.alpha_bar[1]) == pytest.approx(float(before.alpha_bar[1]), abs=1e-15)
    x, a = torch.ones(1, 2, dtype=torch.float64), after.alpha_bar[-1:]
    with pytest.raises(ValueError, match="At ᾱ = 0 there is no signal"):
        parameterisation.to_x0_eps(x, x, a, "eps")
    x0, _ = parameterisation.to_x0_eps(-x, x, a, "v")
    assert torch.equal(x0, x)  # v at T is −x_0
    with pytest.raises(ValueError, match="At ᾱ = 0"):
        samplers.last(samplers.ddim(lambda x, t: x, after, x, [1000, 0]))


@pytest.mark.parametrize("schedule", [linear(), cosine(), linear(10)], ids=["linear", "cosine", "ten"])
def test_times_even_in_log_snr(schedule: Schedule) -> None:
    steps = min(20, schedule.T)
    times = schedule.times(steps, spacing="snr")
    assert times[0] == schedule.T and times[-2:] == [1, 0] and times == sorted(set(times), reverse=True)
    lam = schedule.snr[times[:-1]].log().diff()
    near = schedule.snr.log()[1:].diff().abs()  # a whole t is off by up to half the neighbours' distance
    even = float((schedule.snr[1] / schedule.snr[schedule.T]).log()) / (steps - 1)
    apart = [t for t in range(len(lam)) if times[t] - times[t + 1] > 1]  # where no t was taken twice
    assert all(
        abs(float(lam[i]) - even) <= float(near[times[i + 1] - 1 : times[i]].max()) + 1e-9 for i in apart
    )
    assert schedule.times(1, spacing="snr") == [schedule.T, 0]
    with pytest.raises(ValueError, match="time or snr"):
        schedule.times(5, spacing="even")  # type: ignore[arg-type]


def test_what_is_no_schedule_is_refused() -> None:
    with pytest.raises(ValueError, match="must start at 1"):
        Schedule(torch.tensor([1.0, 0.5, 0.5], dtype=torch.float64))
    with pytest.raises(ValueError, match=r"Every β"):
        Schedule.of_betas(torch.tensor([0.1, 1.5]))
    with pytest.raises(ValueError, match="one of linear"):
        named("steep")  # type: ignore[arg-type]
    assert linear(10).times(10) == list(range(10, -1, -1)) and linear().times(1) == [1000, 0]
    assert rows(torch.ones(3), torch.zeros(3, 2, 2)).shape == (3, 1, 1)
