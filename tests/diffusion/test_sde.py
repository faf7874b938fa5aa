"""Continuous time: DF-O19 to O22, the kernels of three equations, both ways back."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from lab import weights
from modules.diffusion import exact, ode_likelihood, samplers, sde
from modules.diffusion.schedule import linear, named
from modules.flow.cnf import solve

VP = sde.VP()
NORMAL = exact.Mixture(torch.tensor([[1.0]]), 0.25)
TWO = exact.Mixture(torch.tensor([[-2.0], [2.0]]), 0.25)
KINDS = ("VP", "sub-VP", "VE")


def double(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_solves_the_moments_equations(kind: str) -> None:
    """m' = f m and v' = 2 f v + g², from m = 1 and v = 0."""
    result = sde.named(kind)  # type: ignore[arg-type]
    t = torch.linspace(0.01, 0.99, 30, dtype=torch.float64).requires_grad_()
    for value, wanted in (
        (result.mean(t), result.drift(t) * result.mean(t)),
        (result.variance(t), 2 * result.drift(t) * result.variance(t) + result.diffusion_squared(t)),
    ):
        # of VE's mean, a constant, there is no slope
        slope = torch.autograd.grad(value.sum(), t)[0] if value.requires_grad else torch.zeros_like(t)
        assert torch.allclose(slope, wanted, rtol=1e-9, atol=1e-12)
    zero = double(0.0)
    assert float(result.mean(zero)) == 1 and float(result.variance(zero)) == 0


def test_signal_left_and_the_chain_as_the_euler_grid() -> None:
    result = VP.log_alpha_bar(double(0.1, 0.5, 1.0)).exp().tolist()
    assert result == pytest.approx([0.8962822, 0.0790638, 4.318575e-5], rel=1e-6)
    t = torch.arange(1, 1001, dtype=torch.float64)
    assert (linear().beta[1:] - VP.beta((t - 1) / 999) / 1000).abs().max() < 1e-12
    assert float((linear().alpha_bar[1:] - VP.log_alpha_bar(t / 1000).exp()).abs().max()) < 2e-3


@pytest.mark.parametrize("kind", KINDS)
def test_exact_score_is_the_slope_of_the_log_density(kind: str) -> None:
    result = sde.named(kind)  # type: ignore[arg-type]
    truth = exact.eight(1.5, 0.3)
    x = torch.randn(20, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    for t in (0.05, 0.4, 1.0):
        slope = torch.autograd.grad(sde.exact_log_prob(result, truth, x, t).sum(), x)[0]
        assert torch.allclose(sde.exact_score(result, truth)(x, t), slope, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_flow_of_a_gaussian_keeps_its_standard_score(kind: str) -> None:
    """(x_t − m(t) μ)/√(m² s² + v) is conserved; of VP, x_0 = 0.3 goes to −1.3934057408."""
    result = sde.named(kind)  # type: ignore[arg-type]
    score = sde.exact_score(result, NORMAL)
    (end,), _ = solve(
        lambda t, s: (sde.flow_field(result, score, s[0], t),), (double(0.3)[:, None],), 0, 1, "dopri5",
        tolerance=1e-10,
    )  # fmt: skip
    one = double(1.0)
    spread = (result.mean(one) ** 2 * 0.25 + result.variance(one)).sqrt()
    assert float((end - result.mean(one)) / spread) == pytest.approx(-1.4, abs=1e-8)
    if kind == "VP":
        assert float(end) == pytest.approx(-1.3934057408, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_noisy_way_back_has_the_datas_law(kind: str) -> None:
    result, n = sde.named(kind), 4000  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(0)
    begin = sde.prior_sample(result, torch.zeros(n, 1, dtype=torch.float64), generator)
    end = samplers.last(
        sde.reverse(result, sde.exact_score(result, NORMAL), begin, 1000, 1e-5, generator=generator)
    )
    assert abs(float(end.mean()) - 1) < 4 * 0.5 / math.sqrt(n)
    assert abs(float(end.var()) - 0.25) < 4 * 0.25 * math.sqrt(2 / n) + 0.01  # and Euler's bias


# --- Likelihood -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "x", "result", "wanted"),
    [(NORMAL, 0.3, -1.1965973, -1.2057914), (TWO, 0.7, -4.2988547, -4.2989249)],
)
def test_prior_mismatch_apart_from_the_solvers_error(
    truth: exact.Mixture, x: float, result: float, wanted: float
) -> None:
    point = double(x)[:, None]
    results = ode_likelihood.likelihood(VP, sde.exact_score(VP, truth), point, tolerance=1e-10)
    assert float(results.log_prob) == pytest.approx(result, abs=6e-8)
    true = sde.exact_log_prob(VP, truth, results.end, 1.0) + results.stretch
    assert float(true) == pytest.approx(float(truth.log_prob(point)), abs=1e-8)
    assert float(true) == pytest.approx(wanted, abs=6e-8)


@pytest.mark.parametrize("kind", ["sub-VP", "VE"])
def test_the_other_equations_tell_the_same_likelihood(kind: str) -> None:
    result = sde.named(kind)  # type: ignore[arg-type]
    point = double(-0.4, 0.7, 2.5)[:, None]
    results = ode_likelihood.likelihood(result, sde.exact_score(result, TWO), point, tolerance=1e-9)
    true = sde.exact_log_prob(result, TWO, results.end, 1.0) + results.stretch
    assert torch.allclose(true, TWO.log_prob(point), atol=1e-6)
    assert torch.allclose(results.log_prob, TWO.log_prob(point), atol=2e-2)


def mass(density: Callable[[Tensor], Tensor], reach: float, cells: int) -> float:
    """∫ over [−reach, reach]², by the sum over a grid."""
    axis = torch.linspace(-reach, reach, cells, dtype=torch.float64)
    x = torch.cartesian_prod(axis, axis)
    return float(density(x).exp().sum() * (axis[1] - axis[0]) ** 2)


@pytest.mark.parametrize(("kind", "reach"), [("VP", 6.0), ("VE", 36.0)])
def test_exact_densities_integrate_to_one(kind: str, reach: float) -> None:
    results = sde.named(kind)  # type: ignore[arg-type]
    truth = exact.eight(1.5, 0.3)
    result = mass(lambda x: sde.exact_log_prob(results, truth, x, 0.75), reach, 121)
    assert result == pytest.approx(1, abs=1e-4)


def test_density_of_a_mixture_integrates_to_one() -> None:
    truth = exact.Mixture(torch.tensor([[-1.0, 0.0], [1.0, 0.5]]), 0.16, [0.3, 0.7])
    score = sde.exact_score(VP, truth)
    result = mass(lambda x: ode_likelihood.likelihood(VP, score, x, tolerance=1e-3).log_prob, 3.0, 31)
    assert result == pytest.approx(1, abs=1e-3)


@pytest.mark.heavy
def test_density_of_a_trained_network_integrates_to_one() -> None:
    model = weights.load("ddpm-eight").eval().requires_grad_(False)
    schedule = model.schedule  # type: ignore[assignment]
    score = sde.learned_score(VP, model.denoiser(), schedule)  # type: ignore[arg-type, operator]
    since = sde.first_time(VP, schedule)  # type: ignore[arg-type]

    def density(x: Tensor) -> Tensor:
        parts = x.float().split(512)
        return torch.cat(
            [ode_likelihood.likelihood(VP, score, p, since, 1e-3).log_prob.double() for p in parts]
        )

    assert mass(density, 2.0, 49) == pytest.approx(1, abs=1e-3)


def test_hutchinson_is_right_on_average_and_exact_for_a_diagonal() -> None:
    truth = exact.Mixture(
        torch.tensor([[-1.0, 0.0], [1.0, 0.5]]), torch.tensor([[[0.5, 0.3], [0.3, 0.4]]] * 2)
    )
    x, n = double(0.3, -0.2)[None], 400
    score = sde.exact_score(VP, truth)
    field: ode_likelihood.Field = lambda y, t: sde.flow_field(VP, score, y, t)  # noqa: E731
    many = x.expand(n, 2)
    probe = ode_likelihood.rademacher(many, torch.Generator().manual_seed(0))
    value, guess = ode_likelihood.divergence(field, many, 0.3, probe)
    again, trace = ode_likelihood.divergence(field, x, 0.3)
    assert torch.allclose(value[:1], again)
    assert abs(float(guess.mean() - trace)) < 4 * float(guess.std()) / math.sqrt(n)
    assert float(guess.std()) > 0.1
    result = ode_likelihood.likelihood(VP, score, many[:100], probe=probe[:100], tolerance=1e-4).log_prob
    whole = ode_likelihood.likelihood(VP, score, x, tolerance=1e-4).log_prob
    assert abs(float(result.mean() - whole)) < 4 * float(result.std()) / 10
    round_one = exact.Mixture(torch.tensor([[0.5, -0.5]]), 0.3)
    field = lambda y, t: sde.flow_field(VP, sde.exact_score(VP, round_one), y, t)  # noqa: E731
    one = ode_likelihood.divergence(field, x, 0.3, torch.tensor([[1.0, -1.0]]).double())[1]
    assert float(one) == pytest.approx(float(ode_likelihood.divergence(field, x, 0.3)[1]), abs=1e-12)


def test_one_probe_holds_for_a_whole_solve() -> None:
    """The same ε twice gives the same number, another ε another."""
    truth = exact.Mixture(torch.zeros(1, 2), torch.tensor([[[0.5, 0.3], [0.3, 0.4]]]))
    x, score = double(0.3, -0.2)[None], sde.exact_score(VP, truth)
    results = [
        float(ode_likelihood.likelihood(VP, score, x, probe=torch.tensor([p]).double()).log_prob)
        for p in ([1.0, 1.0], [1.0, 1.0], [1.0, -1.0])
    ]
    whole = float(ode_likelihood.likelihood(VP, score, x).log_prob)
    assert results[0] == results[1] != results[2]
    # of two dimensions the two probes' mean is the trace itself
    assert (results[0] + results[2]) / 2 == pytest.approx(whole, abs=1e-4)


def test_a_mean_error_takes_fewer_calls_than_the_largest() -> None:
    x, _ = exact.eight().draw(60, torch.Generator().manual_seed(0))
    score = sde.exact_score(VP, exact.eight())
    each, mean = (
        ode_likelihood.likelihood(VP, score, x, tolerance=1e-4, norm=norm)
        for norm in ("max", "rms")  # type: ignore[arg-type]
    )
    off = [(result.log_prob - exact.eight().log_prob(x)).abs().max() for result in (each, mean)]
    assert mean.calls < each.calls and off[0] < off[1] < 0.1


# --- Networks of a chain, asked in real time --------------------------------------------------------


@pytest.mark.parametrize("kind", ["linear", "cosine", "cosine-zero"])
def test_real_times_are_those_of_the_same_level(kind: str) -> None:
    result = named(kind, 100)  # type: ignore[arg-type]
    whole = torch.arange(1, 101)
    assert torch.allclose(result.level(whole.double()), result.alpha_bar[1:], atol=1e-12)
    t = torch.linspace(1, 98.9, 40, dtype=torch.float64)
    assert torch.allclose(result.time_of(result.level(t)), t, atol=1e-6)
    assert bool((result.level(t).diff() < 0).all())
    assert float(result.time_of(double(1.0))) == 1 and float(result.time_of(double(0.0))) == 100


def test_a_denoiser_of_a_chain_gives_the_exact_score() -> None:
    truth, chain = exact.eight(1.5, 0.3), linear()
    x = torch.randn(9, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    predict = lambda y, t: truth.eps(y, chain.level(t))  # noqa: E731
    for result in (VP, sde.VE(), sde.VP(sub=True)):
        learned, best = sde.learned_score(result, predict, chain), sde.exact_score(result, truth)
        for t in (0.1, 0.3, 0.6):
            assert torch.allclose(learned(x, t), best(x, t), rtol=1e-8)
    assert float(sde.radius(VP, sde.first_time(VP, chain))[1]) == pytest.approx(0.9999, abs=1e-9)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ValueError, match="sde is 'vp'"):
        sde.named("vp")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the noise must grow"):
        sde.VE(1.0, 0.5)
    with pytest.raises(ValueError, match="beta_min"):
        sde.VP(beta_min=-1.0)
