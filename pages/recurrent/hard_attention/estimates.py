r"""Estimates of the bound's gradient by one draw, listed, and clouds of means of M draws.

    ĝ = (1/M) Σ_m Σ_t (R_t − b_t) ∂ log γ_{t,c_t},    E ĝ = ∂𝓛,    Var ĝ = Var(one draw) / M

The tables of p do not depend on the scores, so the first of the two terms of ∂𝓛 is 0 here.

Shapes: N paths; the scores (1 + L, L); F numbers of draws M.

References: Xu et al. 2015, arXiv:1502.03044, section 4.1; Williams 1992.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from modules.recurrent.hard_attention import log_marginal, lower_bound, reward, surrogate
from pages.recurrent.hard_attention.lens import Table, table
from pages.recurrent.hard_attention.room import BEST, DRAWS, HALF, MEAN, NONE, ROWS, STATE, TO_GO

CLOUD = 200  # estimates of M draws each


# --- By one draw -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """An estimate of ∂𝓛 by one draw, as a distribution over what it can be.

    Attributes:
        chance: (N,), or one more. values: (N, 1 + L, L), by all scores.
    """

    name: str
    chance: Tensor
    values: Tensor

    @property
    def mean(self) -> Tensor:
        return torch.tensordot(self.chance, self.values, 1)

    @property
    def variance(self) -> float:
        """Variance of one draw, summed over all scores."""
        return float((torch.tensordot(self.chance, self.values.square(), 1) - self.mean.square()).sum())


def expected_reward(q: Tensor, rewards: Tensor) -> Tensor:
    """E[R_t | c_<t], which a baseline b(s_{t−1}) can learn: (N, T)."""
    N, T = rewards.shape
    places = round(N ** (1 / T))
    columns = []
    for t in range(T):
        weights = q.reshape(places**t, -1)  # paths with the same beginning stand together
        means = (weights * rewards[:, t].reshape(weights.shape)).sum(1) / weights.sum(1)
        columns.append(means.repeat_interleave(weights.shape[1]))
    return torch.stack(columns, 1)


def estimates(known: Table) -> Iterator[Estimate]:
    """The estimates by one draw, in the order of METHODS; in one step the reward-to-go is the reward."""
    paths = known.paths
    log_p, log_q = known.along(paths)
    q, whole = log_q.sum(1).exp(), log_p.sum(1)

    def of_paths(baseline: Tensor | float, to_go: bool) -> Tensor:
        def values(scores: Tensor) -> Tensor:
            return surrogate(*known.along(paths, scores), baseline=baseline, to_go=to_go)

        return jacobian(values, known.scores, vectorize=True)

    score = jacobian(lambda scores: known.along(paths, scores)[1].sum(1), known.scores, vectorize=True)
    weight = q * score.square().sum((1, 2))
    baselines = {
        NONE: (0.0, False),
        MEAN: (lower_bound(log_q.sum(1), whole), False),  # where a moving average of the reward stands
        BEST: ((weight * whole).sum() / weight.sum(), False),
        TO_GO: (0.0, True),
        STATE: (expected_reward(q, reward(log_p)), True),
    }
    for name, (baseline, to_go) in baselines.items():
        if known.steps > 1 or not to_go:
            yield Estimate(name, q, of_paths(baseline, to_go))
    soft = jacobian(known.soft, known.scores)
    yield Estimate(HALF, torch.cat([q, q.new_ones(1)]) / 2, torch.cat([of_paths(0.0, False), soft[None]]))


@dataclass(frozen=True)
class Estimated:
    """
    Attributes:
        all: the estimates by one draw. one: the chosen.
        exact, likelihood: (L,), gradients of 𝓛 and of log p(y | x) by one row of the scores.
        row: that row.
        clouds: name -> (F, CLOUD, 2), means of M draws, by the first and the last place of the row.
    """

    all: list[Estimate]
    one: Estimate
    exact: Tensor
    likelihood: Tensor
    row: int
    clouds: dict[str, Tensor]

    @property
    def is_biased(self) -> bool:
        return not torch.allclose(self.one.mean[self.row], self.exact, rtol=0, atol=1e-9)

    def covariance(self, name: str) -> Tensor:
        """Covariance of one draw by the first and the last place of the row, (2, 2)."""
        one = next(each for each in self.all if each.name == name)
        ends = one.values[:, self.row][:, [0, -1]]
        from_mean = ends - one.chance @ ends
        return (one.chance[:, None] * from_mean).T @ from_mean


def estimated(
    steps: int, e: Tensor, later: Tensor, p: Tensor, p_later: Tensor, method: str, by: str, seed: int
) -> Estimated:
    """All estimates by listing, the exact gradient, and clouds of means of M draws."""
    known = table(steps, e, later, p, p_later)
    every, row = list(estimates(known)), ROWS.index(by) if steps > 1 else 0
    one = next(each for each in every if each.name == method)

    def of(function: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        def value(scores: Tensor) -> Tensor:
            log_p, log_q = known.along(known.paths, scores)
            return function(log_q.sum(1), log_p.sum(1))

        return jacobian(value, known.scores)[row]

    clouds = {each.name: cloud(each, row, seed) for each in every if each.name in {NONE, method}}
    return Estimated(every, one, of(lower_bound), of(log_marginal), row, clouds)


def cloud(one: Estimate, row: int, seed: int) -> Tensor:
    """Means of the first M of many draws, (F, CLOUD, 2): plain draws of paths, no Markov chain."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.multinomial(one.chance, CLOUD * DRAWS[-1], replacement=True, generator=generator)
    sums = one.values[drawn, row][:, [0, -1]].reshape(CLOUD, DRAWS[-1], 2).cumsum(1)
    return torch.stack([sums[:, M - 1] / M for M in DRAWS])


# --- What is said of it ----------------------------------------------------------------------------


def draws_captions(found: Estimated) -> list[str]:
    """What the cloud of the chosen estimate does at each M."""
    texts = []
    for M, dots in zip(DRAWS, found.clouds[found.one.name], strict=True):
        mean, sd = dots.mean(0), dots.var(0).sum().sqrt()
        due = (found.covariance(found.one.name).trace() / M).sqrt()
        texts.append(
            f"M = {M}: {CLOUD} estimates have mean ({mean[0]:z.3f}, {mean[1]:z.3f}), "
            f"standard deviation {sd:.3f}; exact {due:.3f}."
        )
    return texts


def draws_equations(found: Estimated) -> list[str]:
    """Exact mean beside the exact gradient, and the variance at each M, LaTeX."""
    mean, exact = (vector(v) for v in (found.one.mean[found.row], found.exact))
    sign = r"\ne" if found.is_biased else "="
    return [
        rf"\mathrm{{E}}\,\hat g={mean}\;{sign}\;\partial\mathcal{{L}}="
        + (exact if found.is_biased else r"\mathrm{E}\,[(R-b)\,\partial\,\log\,q]")
        + rf",\qquad \mathrm{{Var}}\,\hat g=\frac{{{found.one.variance:.3f}}}{{{M}}}"
        rf"={found.one.variance / M:.3g}"
        for M in DRAWS
    ]


def plain(values: Tensor) -> str:
    return "(" + ", ".join(f"{v:z.3f}" for v in values.tolist()) + ")"


def vector(values: Tensor) -> str:
    return "(" + ",\\ ".join(f"{v:z.3f}" for v in values.tolist()) + ")"
