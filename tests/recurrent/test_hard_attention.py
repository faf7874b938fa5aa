"""Hard attention: the specification's tables, by exact sums and by draws; bounds, baselines, both terms."""

import pytest
import torch
from torch import Tensor

from modules.noise import pick
from modules.recurrent.context import SoftAttention
from modules.recurrent.hard_attention import (
    HardContext,
    MovingAverage,
    all_paths,
    log_marginal,
    look,
    lower_bound,
    reward,
    surrogate,
    tighter_bound,
)

F64 = torch.float64
LOGITS = torch.tensor([0.0, 1.0, 2.0], dtype=F64)
P = torch.tensor([0.1, 0.5, 0.8], dtype=F64)
GAMMA1 = torch.tensor([0.3, 0.7], dtype=F64)
GAMMA2 = torch.tensor([[0.6, 0.4], [0.2, 0.8]], dtype=F64)
P1 = torch.tensor([0.9, 0.2], dtype=F64)
P2 = torch.tensor([[0.5, 0.1], [0.3, 0.7]], dtype=F64)


def close(value: Tensor, *numbers: float, at: float = 1e-6) -> None:
    torch.testing.assert_close(value, torch.tensor(numbers, dtype=F64).reshape(value.shape), rtol=0, atol=at)


def one_step(logits: Tensor) -> tuple[Tensor, Tensor]:
    return logits.log_softmax(0), P.log()


def by_paths(of_path, paths: Tensor, *parameters: Tensor) -> list[Tensor]:
    """The estimate of every path alone, by parameter: (N, ...)."""
    each = [torch.autograd.grad(of_path(paths[i : i + 1]).sum(), parameters) for i in range(len(paths))]
    return [torch.stack(rows) for rows in zip(*each, strict=True)]


def moments(estimates: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    mean = torch.tensordot(q, estimates, 1)
    return mean, torch.tensordot(q, estimates.square(), 1) - mean.square()


# --- One step ------------------------------------------------------------------------------------------


def test_bounds_of_one_step_and_their_gap() -> None:
    log_q, log_p = one_step(LOGITS)
    close(lower_bound(log_q, log_p), -0.525380)
    close(log_marginal(log_q, log_p), -0.410136)
    close(log_marginal(log_q, log_p) - lower_bound(log_q, log_p), 0.115244)
    for draws, value in ((1, -0.525380), (2, -0.447897), (5, -0.422164), (8, -0.417334)):
        close(tighter_bound(log_q, log_p, draws), value)
    same = torch.full((3,), 0.4, dtype=F64).log()  # the gap is 0 where p is constant on q's support
    close(log_marginal(log_q, same) - lower_bound(log_q, same), 0.0, at=1e-12)
    certain = torch.tensor([0.0, 1.0, 0.0], dtype=F64).log()
    impossible = torch.tensor([0.0, 0.5, 0.0], dtype=F64).log()
    close(lower_bound(certain, impossible), -0.693147)


def test_gradient_of_the_bound_is_another_than_that_of_the_likelihood() -> None:
    logits = LOGITS.clone().requires_grad_()
    (bound,) = torch.autograd.grad(lower_bound(*one_step(logits)), logits)
    close(bound, -0.160003, -0.041057, 0.201060)
    close(bound.sum(), 0.0, at=1e-12)
    (exact,) = torch.autograd.grad(log_marginal(*one_step(logits)), logits)
    close(exact, -0.076463, -0.060323, 0.136786)
    h = 1e-5
    for i in range(3):
        step = h * torch.eye(3, dtype=F64)[i]
        slope = (lower_bound(*one_step(LOGITS + step)) - lower_bound(*one_step(LOGITS - step))) / (2 * h)
        close(slope, float(bound[i]), at=1e-9)


def test_a_posterior_of_its_own_makes_the_bound_exact() -> None:
    """[DGM] finds no KL term because q is prior and posterior at once."""
    log_q, log_p = one_step(LOGITS)
    posterior = (log_q + log_p).softmax(0)
    close(posterior, 0.013568, 0.184406, 0.802027)
    close((posterior * (log_p + log_q - posterior.log())).sum(), -0.410136)
    assert log_p.argmax() == 2  # and the best single term is not the sum: P(y | c) P(c | x) is no P(y | x)
    assert abs(float((log_q + log_p).max()) + 0.410136) > 0.1


@pytest.mark.parametrize(
    ("baseline", "variances", "total"),
    [
        (0.0, (0.370873, 0.095959, 0.226563), 0.693395),
        (-0.525380, (0.210408, 0.022914, 0.095274), 0.328596),
        (-0.971999, None, 0.230965),
    ],
)
def test_a_baseline_keeps_the_mean_and_cuts_the_variance(baseline, variances, total) -> None:
    logits, paths = LOGITS.clone().requires_grad_(), torch.arange(3)[:, None]

    def of_path(path: Tensor) -> Tensor:
        return surrogate(P.log()[path], logits.log_softmax(0)[path], baseline)

    (estimates,) = by_paths(of_path, paths, logits)
    mean, variance = moments(estimates, LOGITS.softmax(0))
    close(mean, -0.160003, -0.041057, 0.201060)
    if variances:
        close(variance, *variances, at=2e-6)
    close(variance.sum(), total, at=2e-6)


def test_a_million_draws_hit_the_mean() -> None:
    logits = LOGITS.clone().requires_grad_()
    u = torch.rand(1_000_000, generator=torch.Generator().manual_seed(0), dtype=F64)
    path = pick(LOGITS.softmax(0).expand(len(u), -1), u)[:, None]
    loss = surrogate(P.log()[path], logits.log_softmax(0)[path]).mean()
    close(torch.autograd.grad(loss, logits)[0], -0.160003, -0.041057, 0.201060, at=0.002)


# --- Two steps: the second draw looks from where the first has led ---------------------------------------


def two_steps(paths: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """log p and log q of paths (N, 2), each (N, 2)."""
    a, b = paths.unbind(1)
    log_p = torch.stack([P1.log()[a], P2.log()[a, b]], 1)
    return log_p, torch.stack([first.log_softmax(0)[a], second.log_softmax(1)[a, b]], 1)


FIRST, SECOND = GAMMA1.log(), GAMMA2.log()


def test_bounds_and_gradient_of_two_steps() -> None:
    first, second = FIRST.clone().requires_grad_(), SECOND.clone().requires_grad_()
    log_p, log_q = two_steps(all_paths(2, 2), first, second)
    bound = lower_bound(log_q.sum(1), log_p.sum(1))
    close(bound, -1.927586)
    close(log_marginal(log_q.sum(1), log_p.sum(1)), -1.722607)
    by_first, by_second = torch.autograd.grad(bound, (first, second))
    close(by_first, 0.145591, -0.145591)
    close(by_second, 0.115880, -0.115880, -0.094897, 0.094897)


@pytest.mark.parametrize(
    ("to_go", "variances"), [(False, (0.255418, 0.786793)), (True, (0.229451, 0.123724))]
)
def test_reward_to_go_keeps_the_mean_and_cuts_the_variance(to_go: bool, variances) -> None:
    first, second = FIRST.clone().requires_grad_(), SECOND.clone().requires_grad_()

    def of_path(path: Tensor) -> Tensor:
        return surrogate(*two_steps(path, first, second), to_go=to_go)

    paths = all_paths(2, 2)
    by_first, by_second = by_paths(of_path, paths, first, second)
    q = two_steps(paths, FIRST, SECOND)[1].sum(1).exp()
    close(moments(by_first, q)[0], 0.145591, -0.145591)
    mean, variance = moments(by_second, q)
    close(mean, 0.115880, -0.115880, -0.094897, 0.094897)
    close(variance[:, 0], *variances, at=2e-6)


def test_draws_of_two_steps_agree_within_four_standard_errors() -> None:
    """A sampler that feeds the expected context into the state draws its second location elsewhere."""
    u = torch.rand(200_000, 2, generator=torch.Generator().manual_seed(1), dtype=F64)
    a = pick(GAMMA1.expand(len(u), -1), u[:, 0])
    for gamma2, agrees in ((GAMMA2[a], True), ((GAMMA1 @ GAMMA2).expand(len(u), -1), False)):
        path = torch.stack([a, pick(gamma2, u[:, 1])], 1)
        log_p, _ = two_steps(path, FIRST, SECOND)
        row = log_p.sum(1)[:, None] * (torch.eye(2, dtype=F64)[path[:, 1]] - GAMMA2[a])  # reward times score
        estimates = torch.stack([row[:, 0] * (a == 0), row[:, 0] * (a == 1)], 1)
        off = (estimates.mean(0) - torch.tensor([0.115880, -0.094897], dtype=F64)).abs()
        assert bool((off < 4 * estimates.std(0) / len(u) ** 0.5).all()) == agrees


def test_an_entropy_bonus_is_a_reward_of_the_draws_before_it() -> None:
    first, second = FIRST.clone().requires_grad_(), SECOND.clone().requires_grad_()
    weight, paths = 0.3, all_paths(2, 2)

    def entropies(path: Tensor) -> Tensor:
        gammas = torch.stack([first.expand(len(path), -1), second[path[:, 0]]], 1)  # (N, 2, 2)
        log = gammas.log_softmax(-1)
        return -(log.exp() * log).sum(-1)

    log_p, log_q = two_steps(paths, first, second)
    exact = torch.autograd.grad(
        lower_bound(log_q.sum(1), log_p.sum(1) + weight * entropies(paths).sum(1)), (first, second)
    )
    q = two_steps(paths, FIRST, SECOND)[1].sum(1).exp()
    for to_go in (True, False):
        estimates = by_paths(
            lambda path, to_go=to_go: surrogate(
                *two_steps(path, first, second), 0.5, to_go, entropies(path), weight
            ),
            paths, first, second,
        )  # fmt: skip
        for estimate, gradient in zip(estimates, exact, strict=True):
            torch.testing.assert_close(moments(estimate, q)[0], gradient, rtol=0, atol=1e-10)


# --- Contexts --------------------------------------------------------------------------------------------


def test_the_expected_context_is_the_soft_one_until_something_bends() -> None:
    z, q = torch.tensor([[1, 0], [0, 1], [2, 2]], dtype=F64), LOGITS.softmax(0)
    close(q @ z, 1.420512, 1.575210)
    linear = torch.tensor([0.3, -0.7], dtype=F64)
    close((q @ z) @ linear - q @ (z @ linear), 0.0, at=1e-12)
    close((q @ z).tanh().sum(), 1.807556)
    close(q @ z.tanh().sum(1), 1.537572)


def test_a_hard_context_is_one_place_of_the_memory_drawn_from_the_weights_of_the_soft_one() -> None:
    torch.manual_seed(0)
    soft, n = SoftAttention(2, 2, "additive", 3).double(), 20_000
    z, mask = (
        torch.tensor([[1, 0], [0, 1], [2, 2], [9, 9]], dtype=F64),
        torch.tensor([True, True, True, False]),
    )
    state = torch.tensor([[3.0, -2.0]], dtype=F64)
    hard = HardContext(soft, generator=torch.Generator().manual_seed(0))
    masks = mask.expand(n, -1)
    memory = hard.remember(z.expand(n, -1, -1), masks)
    expected, gamma = soft(state.expand(n, -1), memory, masks)
    context, weights = hard(state.expand(n, -1), memory, masks)
    assert torch.equal(context, weights @ z) and torch.equal(weights.sum(1), torch.ones(n, dtype=F64))
    assert torch.equal(weights.max(1).values, weights.sum(1)) and not weights[:, 3].any()
    assert ((weights.mean(0) - gamma[0]).abs() <= 4 * (gamma[0] * (1 - gamma[0]) / n).sqrt()).all()
    assert ((context.mean(0) - expected[0]).abs() < 4 * context.std(0) / n**0.5).all()  # E ĉ = c
    context, weights = HardContext(soft, "argmax")(state, tuple(m[:1] for m in memory), masks[:1])
    assert weights.argmax() == gamma[0].argmax() and torch.equal(context[0], z[gamma[0].argmax()])
    with pytest.raises(ValueError, match="location is 'mean': it must be sample or argmax"):
        HardContext(soft, "mean")  # type: ignore[arg-type]


def test_rewards_paths_and_averages() -> None:
    log_p = torch.tensor([[-1.0, -2.0, -4.0]])
    assert reward(log_p).tolist() == [[-7, -6, -4]] and reward(log_p, to_go=False).tolist() == [[-7, -7, -7]]
    assert all_paths(2, 3).tolist() == [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    assert len(all_paths(4, 6)) == 4096 and all_paths(3, 0).shape == (1, 0)
    with pytest.raises(ValueError, match=r"16 locations in 4 steps are 65536 paths"):
        all_paths(16, 4)
    with pytest.raises(ValueError, match="take fewer draws"):
        tighter_bound(torch.zeros(100), torch.zeros(100), 4)
    assert look(torch.arange(12.0).reshape(2, 3, 2), torch.tensor([2, 0])).tolist() == [[4, 5], [6, 7]]
    baseline, words = MovingAverage(), torch.tensor([[True, True, False]])
    baseline.update(torch.tensor(-2.0))
    baseline.update(torch.tensor(-3.0))
    assert float(baseline.average) == pytest.approx(-0.48)  # .9 · (.1 · −2) + .1 · −3
    torch.testing.assert_close(baseline(words), torch.tensor([[-0.96, -0.48, 0.0]]))
    torch.testing.assert_close(baseline(words, to_go=False), torch.full((1, 3), -0.96))


def test_of_one_path_the_bound_is_the_likelihood_in_double_precision() -> None:
    log_p = torch.tensor([-0.3], dtype=torch.float64)
    for draws in (2, 3, 5):
        bound = tighter_bound(torch.zeros_like(log_p), log_p, draws)
        assert float(bound) == pytest.approx(-0.3, abs=1e-15)
