"""Local and black-box variational inference, gradients of expectations, importance sampling."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from modules.importance import effective_sample_size, log_mean_exp
from modules.latent.elbo import Grid, LinearGaussianPosterior, log_normal
from modules.latent.gradient_estimators import (
    bernoulli_moments,
    bernoulli_vector_gradient,
    categorical_moments,
    exponential_path,
    leave_one_out,
    log_density_of_path,
    normal_path,
    normal_path_full,
    pathwise,
    running_mean,
    score,
    variances_of_square,
)
from modules.latent.importance import (
    bound_gap,
    defensive_weights,
    encoder_gradients,
    relative_second_moment,
)
from modules.latent.variational import (
    amortisation_gaps,
    black_box_vi,
    local_vi,
    log_q,
    mean_field,
    mean_field_gap,
    nearest_gaussian,
    surrogate,
)

LOG_2PI = math.log(2 * math.pi)


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor | float, b: Tensor | float, atol: float = 1e-6) -> None:
    ours, known = (torch.as_tensor(v, dtype=torch.float64) for v in (a, b))
    torch.testing.assert_close(ours, known, rtol=0, atol=atol)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=seeded(seed), dtype=torch.float64)


def agrees(samples: Tensor, mean: float, variance: float | None = None, tolerance: float = 0.05) -> None:
    """The mean within 4 standard errors, the variance within `tolerance`."""
    error = samples.std() / math.sqrt(len(samples))
    assert abs(samples.mean() - mean) <= 4 * error + 1e-6, f"{samples.mean():.4f} ± {error:.4f}, not {mean}"
    if variance is not None:
        assert samples.var().item() == pytest.approx(variance, rel=tolerance, abs=1e-9)


MODEL = LinearGaussianPosterior(f64([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), 0.5)
X = f64(1.0, 2.0, -1.0)


def log_joint(z: Tensor) -> Tensor:
    """log p(x, z) of MODEL at X: z (..., 2)."""
    error = (X - z @ MODEL.loadings.T).square().sum(-1)
    return -0.5 * (3 * (LOG_2PI + math.log(0.5)) + error / 0.5 + 2 * LOG_2PI + z.square().sum(-1))


# --- which Gaussian -------------------------------------------------------------------------------


def test_mean_field() -> None:
    close(mean_field(MODEL.precision), f64(0.2, 0.2))
    close(mean_field_gap(MODEL.precision), 0.087177)
    for rho, gap in ((0.4, 0.087177), (0.5, 0.143841), (0.9, 0.830366), (0.99, 1.958518)):
        precision = torch.linalg.inv(f64([[1.0, rho], [rho, 1.0]]))
        close(mean_field_gap(precision), gap)
        close(mean_field_gap(precision), -0.5 * math.log(1 - rho**2))
    orthogonal = LinearGaussianPosterior(f64([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), 0.5)
    close(mean_field_gap(orthogonal.precision), 0.0, 1e-12)


def bimodal() -> Grid:
    def two(z: Tensor) -> Tensor:
        return torch.logaddexp(log_normal(z, -3.0, 1.0), log_normal(z, 3.0, 1.0)) - math.log(2)

    return Grid.of(two, -15, 15, 6001)


def test_reverse_kl_seeks_one_mode() -> None:
    grid = bimodal()
    for start in (-2.0, 2.0):
        mean, deviation, left = nearest_gaussian(grid, start, 1.0)
        close(f64(abs(mean), deviation, left), f64(2.984306, 1.023369, 0.688769), 1e-5)
        assert math.copysign(1, mean) == math.copysign(1, start) and left < math.log(2)
    mean, deviation, left = nearest_gaussian(grid, 0.0, 2.0)  # between them: stationary, and worse
    close(f64(mean, deviation, left), f64(0.0, 2.743798, 0.840619), 1e-5)


def test_forward_kl_covers() -> None:
    """LV-E4, [GM] §3.4.2 has the arguments exchanged: the two directions have different minimisers."""
    grid = bimodal()
    mean, deviation, left = nearest_gaussian(grid, 0.0, 1.0, reverse=False)
    close(f64(mean, deviation**2, left), f64(0.0, 10.0, 0.461995), 1e-5)
    close(grid.gap(log_normal(grid.z, 0.0, 10.0)), 0.937839, 1e-5)
    close(grid.forward_kl(log_normal(grid.z, 3.0, 1.0)), 8.310702, 1e-5)


def test_posterior_with_two_modes() -> None:
    grid = Grid.of(lambda z: log_normal(z, 0.0, 1.0) + log_normal(f64(1.0), z.square(), 0.09), -4, 4, 8001)
    close(grid.posterior.sum() * grid.width, 1.0, 1e-12)
    peak = grid.z[grid.posterior.argmax()].abs()
    close(peak, 0.977, 1e-3)
    mean, deviation, left = nearest_gaussian(grid, 0.9, 0.2)
    close(f64(mean, deviation, left), f64(0.937, 0.160, 0.723109), 1e-3)
    mean, deviation, left = nearest_gaussian(grid, 0.0, 0.5)
    close(f64(mean, deviation, left), f64(0.0, 0.6, 2.286716), 1e-2)


# --- local, black-box, amortised ------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.0, 3.0])
def test_local_inference_finds_the_best_diagonal(start: float) -> None:
    mean, log_var, trail = local_vi(
        log_joint,
        torch.full((1, 2), start).double(),
        torch.zeros(1, 2).double(),
        steps=500,
        samples=256,
        lr=0.1,
        generator=seeded(),
    )
    close(mean[0], f64(-0.571429, 1.428571), 1e-3)
    close(log_var[0].exp(), f64(0.2, 0.2), 1e-3)
    assert trail[-1] > trail[0]


def test_local_inference_by_the_score() -> None:
    mean, log_var, _ = local_vi(
        log_joint, torch.zeros(1, 2).double(), torch.zeros(1, 2).double(), steps=500, samples=256,
        lr=0.05, estimator="score", generator=seeded(1),
    )  # fmt: skip
    close(mean[0], f64(-0.571429, 1.428571), 2e-2)
    close(log_var[0].exp(), f64(0.2, 0.2), 2e-2)


@pytest.mark.parametrize("estimator", ["pathwise", "score"])
def test_surrogates_have_the_bounds_gradient(estimator: Any) -> None:
    mean = f64([[0.3, -0.2]]).requires_grad_()
    log_var = f64([[-0.5, 0.4]]).requires_grad_()
    exact = MODEL.elbo(X, mean[0], log_var[0].exp().diag())
    wanted = torch.autograd.grad(exact, [mean, log_var])
    value = surrogate(log_joint, mean, log_var, normal(400_000, 1, 2), estimator)
    close(value, exact, 0.05)
    result = torch.autograd.grad(value, [mean, log_var])
    for a, b in zip(result, wanted, strict=True):
        close(a, b, 0.05)
    with pytest.raises(ValueError, match="at least 2"):
        surrogate(log_joint, mean, log_var, normal(1, 1, 2), "score")


def test_black_box_inference_fits_ppca_without_an_encoder() -> None:
    corners = (3 * f64(4.0, 1.0, 0.25)).sqrt().diag()
    x = torch.cat([corners, -corners])
    w = f64([[0.5], [0.5], [0.1]]).requires_grad_()
    log_variance = f64(0.0).requires_grad_()

    def joint(x: Tensor, z: Tensor) -> Tensor:
        error = (x - z @ w.T).square().sum(-1)
        return -0.5 * (3 * (LOG_2PI + log_variance) + error * (-log_variance).exp()) - 0.5 * (
            LOG_2PI + z.square().sum(-1)
        )

    mean, log_var, _ = black_box_vi(
        joint, [w, log_variance], x, 1, steps=250, inner=4, lr=0.1, lr_model=0.06, generator=seeded()
    )
    with torch.no_grad():
        exact = LinearGaussianPosterior(w.detach(), float(log_variance.exp()))
        elbo = torch.stack(
            [exact.elbo(a, m, v.exp().diag()) for a, m, v in zip(x, mean, log_var, strict=True)]
        )
    assert elbo.mean().item() == pytest.approx(-4.479959, abs=5e-3)
    assert mean.numel() + log_var.numel() == 2 * 1 * len(x)  # LV-E14: 2kN numbers, not "N pairs"


def test_amortisation_gap() -> None:
    mean, _ = MODEL.posterior(X)
    best = MODEL.elbo(X, mean, f64(0.2, 0.2).diag())
    encoder = MODEL.elbo(X, 0.9 * mean, f64(0.3, 0.3).diag())
    gaps = amortisation_gaps(MODEL.log_prob(X), best, encoder)
    close(encoder, -5.178210)
    close(gaps["approximation"], 0.087177)
    close(gaps["amortisation"], 0.137392)
    close(gaps["total"], gaps["approximation"] + gaps["amortisation"], 1e-12)


def test_the_joint_of_the_linear_model() -> None:
    z = normal(5, 2)
    close(MODEL.log_joint(X, z), log_joint(z), 1e-12)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_evidence_by_every_proposal(share: float) -> None:
    """The mean weight is p(x) whatever is drawn from; in part from the prior, none exceeds p(x|z)/α."""
    mean, covariance = MODEL.posterior(X)
    log_var = (0.8 * covariance.diagonal()).log()

    def joint(z: Tensor) -> Tensor:
        return MODEL.log_joint(X, z)

    log_w = defensive_weights(joint, mean, log_var, 400_000, share, seeded())
    agrees((log_w - MODEL.log_prob(X)).exp(), 1.0)
    most = -0.5 * 3 * (LOG_2PI + math.log(0.5))  # of log p(x|z)
    assert share == 0 or log_w.max() <= most - math.log(share) + 1e-9
    with pytest.raises(ValueError, match="share is 2"):
        defensive_weights(joint, mean, log_var, 5, 2.0)


def test_a_narrow_proposal_is_defended() -> None:
    """q with a third of the deviations, K = 2: draws from the prior mend it, in the mean over 20 models. (In
    ten dimensions the prior finds nothing, and defends nothing.)"""
    lost = {0.0: 0.0, 0.5: 0.0}
    for seed in range(20):
        model = LinearGaussianPosterior(normal(4, 2, seed=seed), 0.5)
        x = model.loadings @ normal(2, seed=seed + 50) + 0.5**0.5 * normal(4, seed=seed + 90)
        mean, covariance = model.posterior(x)
        for share in lost:
            log_w = defensive_weights(
                lambda z, m=model, x=x: m.log_joint(x, z), mean, (covariance.diagonal() / 9).log(), 1000,
                share, seeded(seed),
            )  # fmt: skip
            lost[share] += float((log_mean_exp(log_w) - model.log_prob(x)).abs()) / 20
    assert 3 * lost[0.5] < lost[0.0]


# --- gradients ------------------------------------------------------------------------------------

N = 400_000


def log_normal_at(z: Tensor, mean: Tensor) -> Tensor:
    return log_normal(z, mean, 1.0)


@pytest.mark.parametrize(
    ("mean", "known"),
    [(2.0, {"pathwise": 4, "none": 87, "mean": 42, "optimal": 38}),
     (1.0, {"pathwise": 4, "none": 30, "mean": 18, "optimal": 14})],
)  # fmt: skip
def test_variance_of_every_estimator(mean: float, known: dict[str, float]) -> None:
    exact = variances_of_square(mean)
    assert {name: exact[name] for name in known} == known
    mu, noise = f64(mean), normal(N, seed=3)
    z = mean + noise
    agrees(pathwise(torch.square, lambda m: normal_path(noise, m, f64(1.0)), mu, N), 2 * mean, 4.0)
    for name, baseline in (("none", "none"), ("mean", mean**2 + 1), ("optimal", mean**2 + 3)):
        agrees(score(torch.square, z, log_normal_at, mu, baseline), 2 * mean, known[name])  # type: ignore[arg-type]
    # the baselines taken from the samples themselves are near these
    assert score(torch.square, z, log_normal_at, mu, "mean").var().item() == pytest.approx(
        known["mean"], rel=0.05
    )
    assert score(torch.square, z, log_normal_at, mu, "optimal").var().item() == pytest.approx(
        known["optimal"], rel=0.05
    )


def test_leave_one_out_and_running_mean() -> None:
    for k, known in ((2, 76.0), (4, 53.3333), (10, 45.7778)):
        assert variances_of_square(2.0, k)["leave_one_out"] == pytest.approx(known, abs=1e-4)
        z = 2 + normal(N // k, k, seed=k)
        result = leave_one_out(torch.square, z, log_normal_at, f64(2.0))
        agrees(result, 4.0, known / k, 0.06)
    with pytest.raises(ValueError, match="at least 2"):
        leave_one_out(torch.square, normal(3, 1), log_normal_at, f64(2.0))
    z = 2 + normal(20_000, seed=9)
    result = running_mean(torch.square, z, log_normal_at, f64(2.0))
    agrees(result, 4.0)
    assert 38 < result.var() < 80


def test_gradient_by_the_scale() -> None:
    for mean, path_variance, score_variance in ((2.0, 24.0, 346.0), (1.0, 12.0, 136.0)):
        noise, sigma = normal(N, seed=5), f64(1.0)
        agrees(pathwise(torch.square, lambda s, m=mean, e=noise: m + s * e, sigma, N), 2.0, path_variance)  # type: ignore[misc]

        def log_scale(z: Tensor, s: Tensor, m: float = mean) -> Tensor:
            return log_normal(z, m, 1.0) if s.ndim == 0 else -0.5 * (LOG_2PI + ((z - m) / s) ** 2) - s.log()

        agrees(score(torch.square, mean + noise, log_scale, sigma), 2.0, score_variance, 0.08)


def test_bernoulli() -> None:
    values = f64(1.0, 3.0)
    for baseline, variance in ((0.0, 1.2096), (1.6, 0.1344), (2.4, 0.0)):
        mean, result = bernoulli_moments(values, 0.3, baseline)
        assert (mean, result) == (pytest.approx(0.42), pytest.approx(variance, abs=1e-12))


def test_categorical_and_the_marginals_gradient() -> None:
    """LV-E31: the bound whose q is the prior; the gradient of log p(y) is another vector."""
    logits, p_y = f64(0.0, 1.0, 2.0), f64(0.1, 0.5, 0.8)
    q, values = logits.softmax(0), p_y.log()
    bound, log_p = q @ values, (q @ p_y).log()
    close(f64(bound, log_p), f64(-0.525380, -0.410136))
    mean, variance = categorical_moments(values, logits)
    close(mean, f64(-0.160003, -0.041057, 0.201060))
    close(variance, f64(0.370873, 0.095959, 0.226563))
    close(categorical_moments(values, logits, float(bound))[1], f64(0.210408, 0.022914, 0.095274))
    at = logits.clone().requires_grad_()
    (marginal,) = torch.autograd.grad((at.softmax(0) @ p_y).log(), at)
    close(marginal, f64(-0.076463, -0.060323, 0.136786))


def test_gradient_of_the_bound_where_q_is_right_and_wrong() -> None:
    """x = z + N(0, 1), x = 1.5: posterior N(.75, .5). Variances of five estimators in μ, at two μ."""
    model, x, variance = LinearGaussianPosterior(f64([[1.0]]), 1.0), f64([1.5]), 0.5
    noise = normal(N, seed=11)

    def joint(z: Tensor) -> Tensor:
        return log_normal(z, 0.0, 1.0) + log_normal(x[0], z, 1.0)

    def log_q_at(z: Tensor, m: Tensor) -> Tensor:
        return log_normal(z, m, variance)

    for mean, true, known in ((0.75, 0.0, (6.683257, 0.0, 2.0, 0.5, 0.0)),
                              (0.3, 0.9, (9.865959, 1.62, 2.0, 0.5, 0.0))):  # fmt: skip
        mu, z = f64(mean), mean + math.sqrt(variance) * noise
        weight = joint(z) - log_q_at(z, mu)
        elbo = float(model.elbo(x, f64([mean]), f64([[variance]])))

        def path(m: Tensor) -> Tensor:
            return m + math.sqrt(variance) * noise

        results = [
            score(lambda _z, w=weight: w, z, log_q_at, mu),  # type: ignore[misc]
            score(lambda _z, w=weight: w, z, log_q_at, mu, elbo),  # type: ignore[misc]
        ]
        copies = mu.expand(N).clone().requires_grad_()
        drawn = path(copies)
        results.append(torch.autograd.grad((joint(drawn) - log_q_at(drawn, copies)).sum(), copies)[0])
        copies = mu.expand(N).clone().requires_grad_()
        kl = 0.5 * (variance + copies.square() - 1 - math.log(variance))
        results.append(torch.autograd.grad((log_normal(x[0], path(copies), 1.0) - kl).sum(), copies)[0])
        copies = mu.expand(N).clone().requires_grad_()
        drawn = path(copies)
        results.append(torch.autograd.grad((joint(drawn) - log_q_at(drawn, mu)).sum(), copies)[0])
        names = ("score", "score − ELBO", "sampled log q", "analytic KL", "path only")
        for name, estimate, var in zip(names, results, known, strict=True):
            if name == "sampled log q":
                # with z = μ + σ ε, log q(z; μ) does not move with μ: its path and its parameter cancel
                assert abs(estimate.mean() - true) < 0.02
                assert estimate.var().item() == pytest.approx(var, rel=0.05)
            else:
                agrees(estimate, true, var)


def test_exponential_path() -> None:
    rate = f64(2.0)
    close(exponential_path(f64(0.5, 0.9), rate), f64(0.346574, 1.151293))
    noise = torch.rand(N, generator=seeded(2), dtype=torch.float64)
    agrees(pathwise(lambda z: z, lambda r: exponential_path(noise, r), rate, N), -0.25, 0.0625)
    agrees(pathwise(torch.square, lambda r: exponential_path(noise, r), rate, N), -0.5)
    z = exponential_path(noise, rate)

    def log_exponential(z: Tensor, r: Tensor) -> Tensor:
        return r.log() - r * z

    agrees(score(lambda z: z, z, log_exponential, rate), -0.25, 0.8125)


def test_density_of_a_path() -> None:
    noise, mean, scale = normal(5, 3), f64(0.3, -1.0, 2.0), f64(0.5, 1.5, 0.1)
    z = normal_path(noise, mean, scale)
    exact = log_q(z, mean, 2 * scale.log())
    close(log_density_of_path(noise, scale.log().sum()), exact, 1e-12)
    root = f64([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.3, 0.2, 0.7]])
    full = torch.distributions.MultivariateNormal(mean, scale_tril=root)
    result = log_density_of_path(noise, torch.linalg.slogdet(root).logabsdet)
    close(result, full.log_prob(normal_path_full(noise, mean, root)), 1e-12)


def test_discrete_latents_by_sampling_and_by_enumeration() -> None:
    logits, target = f64(0.3, -0.5, 1.0, 0.0), f64(1.0, -2.0, 0.5, 3.0)

    def f(z: Tensor) -> Tensor:
        return (z @ target).sin() + z.prod(-1)

    exact = bernoulli_vector_gradient(f, logits)
    z = (torch.rand(100_000, 2, 4, generator=seeded(4), dtype=torch.float64) < logits.sigmoid()).double()
    values = f(z)
    others = values.flip(1)  # of two samples the other is the baseline
    for j in range(4):
        estimate = ((values - others) * (z[..., j] - logits[j].sigmoid())).mean(1)
        agrees(estimate, exact[j].item())


# --- importance sampling --------------------------------------------------------------------------

SIMPLE, X15 = LinearGaussianPosterior(f64([[1.0]]), 1.0), f64([1.5])


def weights(
    mean: float,
    variance: float,
    count: int,
    model: LinearGaussianPosterior = SIMPLE,
    x: Tensor = X15,
    seed: int = 0,
) -> Tensor:
    z = mean + math.sqrt(variance) * normal(count, 1, seed=seed)
    return model.log_weights(x, f64([mean]), f64([[variance]]), z)


def test_weights_and_effective_samples() -> None:
    close(SIMPLE.log_prob(X15), -1.828012)
    close(SIMPLE.elbo(X15, f64([0.3]), f64([[0.8]])), -2.095510)
    close(SIMPLE.gap(X15, f64([0.3]), f64([[0.8]])), 0.267498)
    for (mean, variance), sd, share in (
        ((0.0, 1.0), 0.132551, 0.595210), ((0.75, 0.5), 0.0, 1.0), ((0.3, 0.8), 0.087560, 0.771155)
    ):  # fmt: skip
        log_w = weights(mean, variance, N)
        agrees(log_w.exp(), 0.160733)
        close(log_w.exp().std(), sd, 1e-3)
        close(effective_sample_size(log_w) / N, share, 5e-3)


def test_prior_sampling_gets_hopeless_with_dimensions() -> None:
    second = relative_second_moment(2.0, 1.0, 1.0)
    close(second, 1.821599)
    close(second**10 - 1, 401.3, 0.1)
    close((second**20 - 1) / 1e5, 1.618, 1e-3)


def test_bound_grows_with_samples_to_the_evidence() -> None:
    """LV-E12: the naive estimate of log p(x), q = prior, is biased low; L_K climbs to log p."""
    other = LinearGaussianPosterior(f64([[2.0]]), 1.0)
    known = {
        1: (-2.543939, -3.418939), 2: (-2.099515, -2.302251), 5: (-1.909696, -1.932968),
        10: (-1.865017, -1.869874), 50: (-1.834921, -1.832047), 100: (-1.831439, -1.827808),
        500: (-1.828693, -1.824481),
    }  # fmt: skip
    before = (-math.inf, -math.inf)
    for k, values in known.items():
        repeats = max(2_000, 200_000 // k)
        for model, x, value in ((SIMPLE, X15, values[0]), (other, f64([1.0]), values[1])):
            log_w = weights(0.0, 1.0, k * repeats, model, x, seed=k).reshape(k, repeats)
            agrees(log_mean_exp(log_w), value)
        assert values > before
        before = values
    assert before[0] < -1.828012 and before[1] < -1.823657
    close(SIMPLE.elbo(X15, f64([0.0]), f64([[1.0]])), known[1][0])
    gap = bound_gap(f64(0.132551**2), f64(0.160733), 100)
    close(gap, -1.828012 + 1.831439, 1e-4)


def test_the_posterior_has_no_variance_and_no_underflow() -> None:
    close(log_mean_exp(weights(0.75, 0.5, 7)), SIMPLE.log_prob(X15), 1e-12)
    assert log_mean_exp(torch.full((5,), -2000.0)).item() == pytest.approx(-2000.0)


def test_signal_of_the_encoder_falls_and_rises_when_doubly_reparametrised() -> None:
    """LV-E11, [GM] §3.11.3 "higher variance": the variance falls, and the mean faster."""

    def joint(z: Tensor) -> Tensor:
        return log_normal(z, 0.0, 1.0) + log_normal(X15[0], z, 1.0)

    known = {1: (0.902, 1.786, 1.34), 5: (0.122, 0.710, 1.64), 10: (0.0566, 0.479, 2.35)}
    ratios = []
    for k, (mean, sd, doubly) in known.items():
        noise = normal(k, N, seed=k)
        plain = encoder_gradients(joint, 0.3, 0.8, noise)
        twice = encoder_gradients(joint, 0.3, 0.8, noise, doubly=True)
        assert plain.mean().item() == pytest.approx(mean, rel=0.1)
        assert plain.std().item() == pytest.approx(sd, rel=0.1)
        assert twice.mean().item() == pytest.approx(mean, rel=0.1)
        assert (twice.mean() / twice.std()).item() == pytest.approx(doubly, rel=0.1)
        ratios.append((plain.mean() / plain.std()).item())
    assert ratios == sorted(ratios, reverse=True)


def test_q_may_leave_out_what_has_no_weight() -> None:
    """LV-E27, [BB] §6 asks that q(z) = 0 imply p(z) = 0: enough, and more than is needed, p(x|z) p(z) = 0."""
    prior, likelihood = f64(0.5, 0.3, 0.2), f64(0.4, 0.0, 0.9)  # z = 1 cannot show this x
    q = f64(0.6, 0.0, 0.4)
    drawn = torch.multinomial(q, N, replacement=True, generator=seeded(6))
    agrees((prior * likelihood)[drawn] / q[drawn], float(prior @ likelihood))
    narrow = f64(1.0, 0.0, 0.0)  # but what has weight must not be left out
    assert float((prior * likelihood)[0] / narrow[0]) < float(prior @ likelihood) - 0.1


def test_a_learned_baseline_is_unbiased_and_narrows() -> None:
    """b(x) fitted by least squares on other samples of the same x: the gradient's mean stays."""
    x = normal(N, seed=21)
    z = 2 + normal(N, seed=22)

    def f(z: Tensor) -> Tensor:
        return z.square() + 3 * x

    plain = score(f, z, log_normal_at, f64(2.0))
    past = normal(4000, seed=23)
    past_values = (2 + normal(4000, seed=24)).square() + 3 * past
    features = torch.stack([torch.ones_like(past), past], 1)
    w = torch.linalg.lstsq(features, past_values[:, None]).solution[:, 0]
    b = w[0] + w[1] * x
    learned = score(lambda z: f(z) - b, z, log_normal_at, f64(2.0))
    agrees(learned, 4.0, 42.0)
    assert plain.var() > 2 * learned.var()


def test_leave_one_out_is_deaf_to_a_constant() -> None:
    """What is added to every log p(x, z) says nothing about q: the others' mean takes it away exactly."""
    mean, log_var = f64([[0.3, -0.2]]).requires_grad_(), f64([[-0.5, 0.4]]).requires_grad_()
    noise = normal(3, 1, 2)
    plain = surrogate(log_joint, mean, log_var, noise, "score")
    lifted = surrogate(lambda z: log_joint(z) + 100, mean, log_var, noise, "score")
    for a, b in zip(
        torch.autograd.grad(plain, [mean, log_var]), torch.autograd.grad(lifted, [mean, log_var]), strict=True
    ):
        close(a, b, 1e-10)
