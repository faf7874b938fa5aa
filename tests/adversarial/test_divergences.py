"""Divergences and transport against the numbers of the specification, grids, and linear programs."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from modules.adversarial import divergences as dv
from modules.adversarial import transport as tp
from modules.latent.information import kl

LOG2 = math.log(2)


def f64(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


P, Q = f64(0.5, 0.3, 0.2), f64(0.2, 0.2, 0.6)
BARS = f64(5, 3, 2, 1, 8, 7, 5, 9, 2, 1) / 43, f64(4, 10, 1, 1, 4, 6, 3, 2, 0, 1) / 32


def close(value: Tensor | float, expected: float | Tensor | list[float], tolerance: float = 1e-6) -> None:
    torch.testing.assert_close(
        torch.as_tensor(value, dtype=torch.float64), torch.as_tensor(expected, dtype=torch.float64),
        rtol=0, atol=tolerance,
    )  # fmt: skip


def trained(p: Tensor, q: Tensor) -> Tensor:
    """The logits that gradient descent on the game finds, one for each entry of the tables."""
    logits = torch.zeros(p.shape, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.05)
    for _ in range(1000):
        optimizer.zero_grad()
        dv.game_value(p, q, logits.sigmoid()).sum().backward()
        optimizer.step()
    return logits.detach()


# --- The optimal discriminator --------------------------------------------------------------------


def test_the_optimal_discriminator_of_tables() -> None:
    best = dv.optimal_discriminator(P, Q)
    close(best, [0.714286, 0.6, 0.25])
    close(dv.game_value(P, Q, best), 1.205162661, 1e-9)
    close(dv.jensen_shannon(P, Q), 0.090565850, 1e-9)
    close(dv.game_value(P, Q, best), 2 * LOG2 - 2 * dv.jensen_shannon(P, Q), 1e-12)
    close(dv.optimal_discriminator(P, Q, 30, 10), [0.882353, 0.818182, 0.5])
    for mine, real, fake in ((best, 1.0, 1.0), (dv.optimal_discriminator(P, Q, 30, 10), 30.0, 10.0)):
        close(trained(real * P, fake * Q).sigmoid(), mine, 1e-4)


# d: JS, |gradient| of the saturating and of the other loss of the generator at the best discriminator
GAUSSIANS = {
    0.0: (0.0, 0.0, 0.0),
    0.5: (0.030311, 0.235263, 0.2647),
    1.0: (0.111421, 0.397973, 0.6020),
    2.0: (0.336831, 0.449600, 1.5504),
    4.5: (0.659915, 0.083502, 4.4165),
    8.0: (0.693054, 3.92875e-4, 7.9996),
}


@pytest.mark.parametrize("d", [*GAUSSIANS, 12.0])
def test_two_gaussians_of_one_width(d: float) -> None:
    js = dv.gaussian_js(*f64(0, 1, d, 1))
    x = torch.linspace(-14, 14, 20001, dtype=torch.float64) + d / 2
    # real on the right at d, made on the left at 0: the logit is linear
    weight = dv.gaussian_log_density(x, *f64(0, 1)).exp() * (x[1] - x[0])
    logit = d * (x - d / 2)
    saturating, other = d * (weight * logit.sigmoid()).sum(), d * (weight * (-logit).sigmoid()).sum()
    if d == 12:
        assert LOG2 - float(js) == pytest.approx(3.006e-9, rel=1e-3)
        assert float(saturating) == pytest.approx(1.84833e-8, rel=1e-4)
        close(other, 12.0, 1e-6)
        return
    expected = GAUSSIANS[d]
    close(js, expected[0])
    assert float(saturating) == pytest.approx(expected[1], rel=1e-5, abs=1e-9)
    close(other, expected[2], 6e-5)
    shift = f64(d).requires_grad_()
    (slope,) = torch.autograd.grad(2 * dv.gaussian_js(*f64(0, 1), shift, f64(1)).sum(), shift)
    close(slope[0], expected[1])  # saturating = d (2 D_JS) / dd
    p, q = (dv.gaussian_log_density(x, *f64(m, 1)).exp() * (x[1] - x[0]) for m in (d, 0))
    close(dv.jensen_shannon(p, q), expected[0], 1e-6)


def test_a_logistic_regression_finds_the_linear_logit() -> None:
    from sklearn.linear_model import LogisticRegression

    draw = torch.Generator().manual_seed(0)
    x = torch.randn(100_000, generator=draw) + torch.tensor([7.5, 3.0]).repeat_interleave(50_000)
    y = torch.tensor([1, 0]).repeat_interleave(50_000)
    model = LogisticRegression(C=1e6).fit(x[:, None].numpy(), y.numpy())
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    assert slope == pytest.approx(4.5, abs=0.15) and -intercept / slope == pytest.approx(5.25, abs=0.02)
    assert 4.5 * 5.25 == 23.625


def test_a_missing_mode_is_known_to_the_value_but_not_to_moving_samples() -> None:
    x = torch.linspace(-13, 13, 40001, dtype=torch.float64)
    cell = x[1] - x[0]
    means, w = f64(-3.0, 3.0).requires_grad_(), f64(0.9).requires_grad_()

    def mixture() -> Tensor:
        left, right = (dv.gaussian_log_density(x, m, f64(1)).exp() for m in means)
        return (w * left + (1 - w) * right) * cell

    p = sum(dv.gaussian_log_density(x, f64(m), f64(1)).exp() / 2 for m in (-3, 3)) * cell
    q = mixture()
    quality, coverage = dv.jensen_shannon_parts(p, q)
    close(quality.detach(), 0.057872)
    close(coverage.detach(), 0.043400)
    close(dv.jensen_shannon(p, q).detach(), 0.101272)
    by_part = [torch.autograd.grad(2 * part, w, retain_graph=True)[0] for part in (quality, coverage)]
    close(torch.stack(by_part).flatten(), [0.868646, 0.474051])
    best = dv.optimal_discriminator(p, q).detach()
    (value,) = torch.autograd.grad(torch.xlogy(mixture(), 1 - best).sum(), w)
    close(value, [1.342697])
    # D held fixed, samples moved: E_q −D(x) f′(x), the slope of the logit by its own differences
    slope = torch.gradient(torch.logit(best), spacing=(x,))[0]
    for mean, weight, expected in ((-3.0, 0.9, -0.00374), (3.0, 0.1, -0.00165)):
        pull = weight * dv.gaussian_log_density(x, f64(mean), f64(1)).exp() * cell * -best * slope
        close(pull.nan_to_num().sum(), expected, 1e-5)


def test_noise_on_the_inputs_and_softer_labels() -> None:
    close(dv.gaussian_js(*f64(0, 4.5, 4.5, 4.5)), dv.gaussian_js(*f64(0, 1, 1, 1)), 1e-9)
    close(dv.gaussian_js(*f64(0, 4.5, 4.5, 4.5)), 0.111421)
    p, q = f64(0.5), f64(0.2)
    close(dv.smoothed_discriminator(p, q, 0.9), [0.642857])
    close(dv.smoothed_discriminator(p, q, 0.9, 0.1), [0.671429])


# --- Other divergences ------------------------------------------------------------------------------


def test_least_squares_is_a_chi_square_and_the_hinge_a_total_variation() -> None:
    best = dv.least_squares_discriminator(P, Q, -1, 1)
    value = (P * best**2).sum() + (Q * best**2).sum()  # 2 C(G) with c = 0
    close(value, ((P - Q) ** 2 / (P + Q)).sum(), 1e-12)
    close(value, 0.348571)
    close(dv.least_squares_discriminator(P, Q, 0, 1), dv.optimal_discriminator(P, Q), 1e-12)
    hinge = min(
        float((P * (1 - f).clamp(min=0) + Q * (1 + f).clamp(min=0)).sum())
        for f in torch.cartesian_prod(*[torch.linspace(-1.5, 1.5, 31, dtype=torch.float64)] * 3)
    )
    assert hinge == pytest.approx(2 - 2 * float(dv.total_variation(P, Q)), abs=1e-9) == 1.2


F_VALUES = {"KL": 0.360062, "reverse KL": 0.394816, "Pearson": 0.766667, "squared Hellinger": 0.184826,
            "JS": 0.181132, "GAN": -1.205163}  # fmt: skip


@pytest.mark.parametrize("name", dv.F_DIVERGENCES)
def test_the_best_critic_makes_the_bound_of_an_f_divergence_tight(name: str) -> None:
    row, u = dv.F_DIVERGENCES[name], P / Q
    t = row.slope(u)
    close(row.divergence(P, Q), F_VALUES[name])
    close(row.bound(P, Q, t), F_VALUES[name])
    # f* is sup_u ut − f(u): by its slope, and at the end of a fine search
    point = u.clone().requires_grad_()
    (slope,) = torch.autograd.grad(row.f(point).sum(), point)
    close(slope, t, 1e-12)
    fine = torch.logspace(-3, 3, 60001, dtype=torch.float64)
    close(row.conjugate(t), (fine[:, None] * t - row.f(fine)[:, None]).amax(0), 1e-5)
    draw = torch.Generator().manual_seed(0)
    for _ in range(50):  # any other T gives less
        other = row.activation(torch.randn(3, generator=draw, dtype=torch.float64))
        assert float(row.bound(P, Q, other)) < F_VALUES[name]
    brought = row.activation(torch.linspace(-30, 30, 601, dtype=torch.float64))
    assert (brought.diff() >= 0).all() and row.conjugate(brought[:301]).isfinite().all()


def test_kl_of_tables_forbids() -> None:
    p, q = BARS
    assert float(kl(p, q)) == math.inf
    close(kl(q, p), 0.364711)
    close(dv.jensen_shannon(p, q), 0.084178)


def test_a_shift_of_boxes_and_of_gaussians() -> None:
    shift = f64(-3, -1, -0.25, 0, 0.5, 1, 2)
    boxes = dv.box_divergences(shift)
    close(boxes["JS"], LOG2 * shift.abs().clamp(max=1), 1e-12)
    assert boxes["KL"].tolist() == [math.inf] * 3 + [0] + [math.inf] * 3 == boxes["reverse KL"].tolist()
    close(boxes["W1"], shift.abs())
    close(boxes["W2²"], shift.square())
    for a in (-0.25, 0.5):  # the box of 1,000 bins, as tables
        bins = torch.arange(-4000, 5000)
        p, q = ((bins >= 1000 * s) & (bins < 1000 * (s + 1)) for s in (0, a))
        p, q = p.double() / 1000, q.double() / 1000
        close(dv.jensen_shannon(p, q), LOG2 * abs(a), 1e-12)
        close(tp.w1_bins(p, q) / 1000, abs(a), 1e-12)
    gauss = dv.gaussian_divergences(shift)
    close(gauss["KL"], shift**2 / 2, 1e-12)
    close(gauss["reverse KL"], shift**2 / 2, 1e-12)
    close(gauss["W1"], shift.abs(), 1e-12)
    close(gauss["W2²"], shift**2, 1e-12)
    close(gauss["JS"][[4, 5, 6]], [0.030311, 0.111421, 0.336831])


@pytest.mark.parametrize(("sd", "sd2", "a"), [(1.0, 4.0, 0.0), (2.0, 2.0, 0.0), (0.5, 1.5, 1.2)])
def test_gaussian_wasserstein_is_the_distance_of_quantiles(sd: float, sd2: float, a: float) -> None:
    from scipy.stats import norm

    u = (np.arange(400_000) + 0.5) / 400_000
    gap = norm.ppf(u, 0, sd) - norm.ppf(u, a, sd2)
    result = dv.gaussian_divergences(f64(a), sd, sd2)
    close(result["W2²"][0], float((gap**2).mean()), 2e-3)
    close(result["W1"][0], float(np.abs(gap).mean()), 1e-4)
    close(
        result["W2²"][0], a**2 + (sd - sd2) ** 2, 1e-12
    )  # 9 for (1, 4), 0 for (2, 2): the text has 13 and 4
    x = torch.linspace(-60, 60, 60001, dtype=torch.float64)
    p, q = (dv.gaussian_log_density(x, *f64(*m)) for m in ((0, sd), (a, sd2)))
    close(result["KL"][0], float((p.exp() * (p - q)).sum() * 0.002), 1e-6)


def test_drawn_densities_sum_to_one() -> None:
    x = torch.linspace(-8, 8, 401, dtype=torch.float64)
    for mean, sd in ((0.0, 1.0), (3.0, 0.5), (-2.0, 1.2)):
        total = (dv.gaussian_log_density(x, *f64(mean, sd)).exp() * (x[1] - x[0])).sum()
        close(total, 1.0, 1e-3)


def test_a_conditional_game_has_its_best_discriminator_class_by_class() -> None:
    p, q = torch.stack([P, P.flip(0)]), torch.stack([Q, f64(0.1, 0.1, 0.8)])
    best = dv.optimal_discriminator(p, q)
    for c in range(2):
        close(best[c], p[c] / (p[c] + q[c]), 1e-12)
    close(trained(p, q).sigmoid(), best, 1e-4)


# --- Transport --------------------------------------------------------------------------------------


def test_the_constraints_are_those_of_the_problem() -> None:
    a = tp.constraints(4)
    assert a.shape == (8, 16) and a.sum() == 32 and torch.linalg.matrix_rank(a) == 7
    assert torch.equal(a[:4], torch.eye(4, dtype=torch.float64).repeat(1, 4))
    for j in range(4):
        assert a[4 + j].nonzero().flatten().tolist() == list(range(4 * j, 4 * j + 4))
    ten = tp.constraints(10)
    assert ten.shape == (20, 100) and torch.linalg.matrix_rank(ten) == 19
    plan = torch.rand(4, 4, dtype=torch.float64)
    close(a @ plan.T.flatten(), torch.cat([plan.sum(1), plan.sum(0)]), 1e-12)


def test_primal_dual_and_sums_agree_on_the_histograms() -> None:
    p, q = BARS
    cost = tp.distances(10)
    plan, value = tp.primal(p, q, cost)
    source, target, worth = tp.dual(p, q, cost)
    f, slope_value = tp.lipschitz_dual(p, q)
    for result in (value, worth, slope_value, float(tp.w1_bins(p, q))):
        assert result == pytest.approx(1.363372093, abs=1e-8)
    close(plan.sum(1), p, 1e-9)
    close(plan.sum(0), q, 1e-9)
    assert (plan >= -1e-12).all() and (source[:, None] + target <= cost + 1e-9).all()
    assert ((cost - source[:, None] - target)[plan > 1e-9].abs() < 1e-8).all()  # complementary slackness
    assert ((cost - (f[:, None] - f))[plan > 1e-9].abs() < 1e-8).all()
    assert f.diff().abs().max() == 1  # on the boundary, not inside it
    assert tp.lipschitz_dual(p, q, 0.9)[1] == pytest.approx(0.9 * value)


def test_other_costs_need_two_potentials() -> None:
    p, q = BARS
    square = tp.distances(10, 2)
    assert tp.primal(p, q, square).value == pytest.approx(2.956395349, abs=1e-8)
    assert tp.dual(p, q, square).value == pytest.approx(2.956395349, abs=1e-8)
    assert tp.lipschitz_dual(p, q)[1] == pytest.approx(1.363372, abs=1e-6)  # neighbours' squares are 1 too


@pytest.mark.parametrize(
    ("p", "q", "value"),
    [((0.5, 0.5, 0, 0), (0, 0, 0.5, 0.5), 2.0), ((0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1), 1.0)],
)
def test_small_heaps(p: tuple[float, ...], q: tuple[float, ...], value: float) -> None:
    one, other = f64(*p), f64(*q)
    assert tp.primal(one, other, tp.distances(4)).value == pytest.approx(value)
    close(tp.w1_bins(one, other), value)


def test_samples_go_in_their_order_and_clouds_by_assignment() -> None:
    real = torch.from_numpy(np.random.RandomState(0).normal(size=10) + 7.5)
    fake = torch.from_numpy(np.random.RandomState(1).normal(size=10)) + 3
    close(tp.wasserstein_1d(real, fake), 5.335164062, 1e-8)
    close(real.mean() - fake.mean(), 5.335164062, 1e-8)
    state = np.random.RandomState(0)
    a = torch.from_numpy(state.normal(size=(6, 2)))
    b = torch.from_numpy(state.normal(size=(6, 2))) + f64(2, 0)
    order, value = tp.assignment(a, b)
    close(value, 1.679820406, 1e-8)
    even = torch.full((6,), 1 / 6, dtype=torch.float64)
    assert tp.primal(even, even, torch.cdist(a, b)).value == pytest.approx(float(value), abs=1e-8)
    assert sorted(order.tolist()) == list(range(6))
    row = torch.cat([real[:6, None], torch.zeros(6, 1)], 1)
    close(tp.assignment(row, row.flip(0) + f64(1, 0))[1], 1.0, 1e-9)


def test_heaps_of_different_size_are_refused() -> None:
    with pytest.raises(ValueError, match="same sum"):
        tp.primal(f64(0.5, 0.5), f64(0.5, 0.6), tp.distances(2))


# --- edges -------------------------------------------------------------------------------------------

CLOSED = {  # f*(T(v)), by hand
    "KL": lambda v: np.exp(v - 1), "reverse KL": lambda v: v - 1, "Pearson": lambda v: v * v / 4 + v,
    "squared Hellinger": np.expm1, "JS": lambda v: np.logaddexp(0, v) - LOG2,
    "GAN": lambda v: np.logaddexp(0, v),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", dv.F_DIVERGENCES)
def test_the_conjugate_of_a_brought_output_is_its_closed_form(name: str, dtype: torch.dtype) -> None:
    row, info = dv.F_DIVERGENCES[name], torch.finfo(dtype)
    v = torch.cat([torch.linspace(-100, 100, 801), torch.tensor([-1e4, -1e3, 1e3, 1e4])]).to(dtype)
    v.requires_grad_()
    result = row.conjugate_activation(v)
    with np.errstate(over="ignore"):
        truth = torch.from_numpy(CLOSED[name](v.detach().double().numpy()))
    within = truth.abs() < info.max
    assert within.sum() > 700 and not result.isnan().any()
    torch.testing.assert_close(result[within].double(), truth[within], rtol=100 * info.eps, atol=4 * info.eps)
    assert (result[~within] == math.inf).all()
    (slope,) = torch.autograd.grad(result[within].sum(), v)
    assert slope[within].isfinite().all() and (name == "Pearson" or (slope[within] >= 0).all())
    if name in ("reverse KL", "JS", "GAN", "Pearson"):
        assert within.all() and slope.isfinite().all()
    # by its definition: sup_u ut − f(u), over a fine grid of u
    some = torch.linspace(-3, 3, 13, dtype=torch.float64)
    u = torch.logspace(-8, 8, 200_001, dtype=torch.float64)
    for one in some:
        t = row.activation(one)
        if name == "Pearson" and t < -2:
            continue  # u would have to be negative
        supremum = (u * t - row.f(u)).max()
        assert float(row.conjugate_activation(one)) == pytest.approx(float(supremum), abs=1e-5, rel=1e-5)


def test_distances_refuse_what_has_no_answer() -> None:
    five, three = torch.randn(5, 2), torch.randn(3, 2)
    for x, y in ((five, three), (five, five[:, :1])):
        with pytest.raises(ValueError, match="as many points"):
            tp.assignment(x, y)
    with pytest.raises(ValueError, match="5 and 1 points"):
        tp.wasserstein_1d(torch.randn(5), torch.randn(1))
    cost = tp.distances(3)
    for p, q in ((f64(0.5, 0.3, 0.1), f64(0.2, 0.3, 0.5)), (f64(1.2, -0.2, 0.0), f64(0.2, 0.3, 0.5))):
        for asked in (
            partial(tp.dual, cost=cost),
            partial(tp.primal, cost=cost),
            tp.lipschitz_dual,
            tp.w1_bins,
        ):
            with pytest.raises(ValueError, match="same sum"):
                asked(p, q)
    with pytest.raises(ValueError, match="3 bins, q 2"):
        tp.w1_bins(f64(0.5, 0.3, 0.2), f64(0.5, 0.5))


def test_jensen_shannon_of_gaussians_stops_at_log_2() -> None:
    far = torch.logspace(-2, 6, 161, dtype=torch.float64)
    for sd, sd2 in ((1.0, 1.0), (0.1, 0.1), (1e-3, 1.0), (1e3, 1e-3)):
        js = dv.gaussian_js(torch.zeros(()), f64(sd), far, f64(sd2))
        assert (js <= LOG2).all() and (js >= 0).all()
        if sd == sd2:
            assert (js.diff() >= -1e-9).all() and js[-1].item() == pytest.approx(LOG2, abs=1e-12)


def test_a_bin_that_both_leave_empty_counts_for_nothing() -> None:
    p, q = f64(0.5, 0.5, 0.0, 0.0), f64(0.0, 0.25, 0.75, 0.0)
    best = dv.optimal_discriminator(p, q)
    assert best[-1].isnan()
    close(dv.game_value(p, q, best), 2 * LOG2 - 2 * dv.jensen_shannon(p, q), 1e-12)
    full = f64(0.5, 0.25, 0.25, 0.0), f64(0.25, 0.25, 0.5, 0.0)
    for name, row in dv.F_DIVERGENCES.items():
        close(row.divergence(*full), row.divergence(*(t[:3] for t in full)), 1e-12)
        assert name in CLOSED
