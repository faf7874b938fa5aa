r"""Wasserstein's distance: the least work that turns one heap of earth into another.

    primal   min_P Σ C_ij P_ij,   Σ_j P_ij = p_i,  Σ_i P_ij = q_j,  P ≥ 0        as  min cᵀx,  Ax = b,  x ≥ 0
    dual     max_f,h Σ f_i p_i + Σ h_j q_j,   f_i + h_j ≤ C_ij                    as  max bᵀy,  Aᵀy ≤ c
    of the distance on a line   max_f Σ f_i (p_i − q_i),  |f_{i+1} − f_i| ≤ 1  =  Σ |cumsum(p − q)|

Both programs have the same value, and P_ij > 0 only where f_i + h_j = C_ij. [UDL] starts §15.2.4 from a
general cost C, but its 15.10 and 15.12–15.13 hold for |i − j| alone; and the bound on the slope is ≤ 1, not
< 1 (15.13, 15.17): the maximum lies on the boundary.

Equal numbers of points: the plan is an assignment; on a line, the sorted points in pairs.

Shapes: p, q (K,), entries sum to 1; cost and plan (K, K), row = where it is taken from; float64.

References: Kantorovich 1942; Villani 2009, Optimal transport; [UDL] §15.2.4–15.2.5, problem 15.3.
"""

from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import csr_array
from torch import Tensor


class Plan(NamedTuple):
    """Transport plan: the mass moved from each place to each other one, plan (K, K), and its cost."""

    plan: Tensor
    value: float


class Potentials(NamedTuple):
    """Prices of the dual: f (K,) at the source, h (K,) at the target, and their worth."""

    source: Tensor
    target: Tensor
    value: float


def distances(size: int, power: float = 1.0) -> Tensor:
    """C_ij = |i − j|^power of `size` bins, (K, K) float64."""
    place = torch.arange(size, dtype=torch.float64)
    return (place[:, None] - place).abs() ** power


def constraints(size: int) -> Tensor:
    """A (2K, K²) of the program whose unknown is P column by column: row sums first, then column sums.

    Its rank is 2K − 1: both halves of b sum to the same mass, so one row is redundant.
    """
    one = torch.eye(size, dtype=torch.float64)
    every = torch.ones(1, size, dtype=torch.float64)
    return torch.cat([torch.kron(every, one), torch.kron(one, every)])


def _solved(result: object, what: str) -> object:
    if not result.success:  # type: ignore[attr-defined]
        raise ValueError(f"The {what} has no solution: p and q must be at least 0 and have the same sum.")
    return result


def _balanced(p: Tensor, q: Tensor) -> None:
    """Refuse two heaps between which nothing can be moved.

    Raises:
        ValueError: they have different sums or numbers of bins, or a negative entry.
    """
    if p.shape[-1] != q.shape[-1]:
        raise ValueError(f"p has {p.shape[-1]} bins, q {q.shape[-1]}: both need the same.")
    p, q = p.detach(), q.detach()
    masses = p.double().sum(-1), q.double().sum(-1)
    room = 1e-5 if torch.float32 in (p.dtype, q.dtype) else 1e-7
    if (
        not bool(((masses[0] - masses[1]).abs() <= room * masses[0].abs()).all())
        or min((float(t.min()) for t in (p, q) if t.numel()), default=0.0) < -room
    ):
        raise ValueError("p and q must be at least 0 and have the same sum, or nothing can be moved.")


def primal(p: Tensor, q: Tensor, cost: Tensor) -> Plan:
    """The cheapest plan.

    Raises:
        ValueError: p and q have different sums, or a negative entry.
    """
    _balanced(p, q)
    matrix = csr_array(constraints(len(p)).numpy())
    mass = torch.cat([p, q]).double().numpy()
    c = cost.double().T.reshape(-1).numpy()  # column by column
    result = _solved(linprog(c, A_eq=matrix, b_eq=mass, bounds=(0, None), method="highs"), "plan")
    plan = torch.from_numpy(np.asarray(result.x)).reshape(len(q), len(p)).T  # type: ignore[attr-defined]
    return Plan(plan, float(result.fun))  # type: ignore[attr-defined]


def dual(p: Tensor, q: Tensor, cost: Tensor) -> Potentials:
    """The best prices, f_i + h_j ≤ C_ij; where they stay undetermined, h_1 = 0 fixes their common constant.

    Raises:
        ValueError: p and q have different sums, or a negative entry.
    """
    _balanced(p, q)
    size = len(p)
    matrix = csr_array(constraints(size).T.numpy())
    worth = torch.cat([p, q]).double().numpy()
    bounds = [(None, None)] * size + [(0, 0)] + [(None, None)] * (size - 1)
    c = cost.double().T.reshape(-1).numpy()
    result = _solved(linprog(-worth, A_ub=matrix, b_ub=c, bounds=bounds, method="highs"), "dual")
    y = torch.from_numpy(np.asarray(result.x))  # type: ignore[attr-defined]
    return Potentials(y[:size], y[size:], -float(result.fun))  # type: ignore[attr-defined]


def lipschitz_dual(p: Tensor, q: Tensor, bound: float = 1.0) -> tuple[Tensor, float]:
    """max Σ f_i (p_i − q_i) with neighbours at most `bound` apart: f (K,), f_1 = 0, and the value.

    Solved by hand: Σ f_i (p_i − q_i) = −Σ_i (f_{i+1} − f_i) cumsum(p − q)_i, so that each step is of full
    size and against the sign of the earth that is carried across it.
    """
    _balanced(p, q)
    carried = (p - q).double().cumsum(0)[:-1]
    steps = -bound * carried.sign()
    f = torch.cat([torch.zeros(1, dtype=torch.float64), steps.cumsum(0)])
    return f, float((f * (p - q)).sum())


def w1_bins(p: Tensor, q: Tensor) -> Tensor:
    """W₁ of tables on a line whose bins are 1 apart, Σ |cumsum(p − q)|: (..., K) -> (...)."""
    _balanced(p, q)
    return (p - q).cumsum(-1).abs().sum(-1)


def wasserstein_1d(x: Tensor, y: Tensor, power: float = 1.0) -> Tensor:
    """E |x − y|^power of the best coupling of two samples of equal size on a line: the sorted ones in pairs.

    Shapes:
        x, y: (..., N) -> (...)

    Raises:
        ValueError: the samples have different sizes.
    """
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"The samples have {x.shape[-1]} and {y.shape[-1]} points: take as many of each.")
    return (x.sort(-1).values - y.sort(-1).values).abs().pow(power).mean(-1)


def assignment(x: Tensor, y: Tensor, power: float = 1.0) -> tuple[Tensor, Tensor]:
    """The best coupling of two clouds of equal size: which y each x goes to (N,), and the mean ‖x − y‖^power.

    Shapes:
        x, y: (N, D)

    Raises:
        ValueError: the clouds have different sizes or dimensions.
    """
    if x.shape != y.shape:
        raise ValueError(
            f"The clouds are {tuple(x.shape)} and {tuple(y.shape)}: take as many points of as many numbers."
        )
    cost = torch.cdist(x.double(), y.double(), compute_mode="donot_use_mm_for_euclid_dist") ** power
    reduced = cost.detach() - cost.detach().min(0).values  # prices that change no order of the plans,
    reduced = reduced - reduced.min(1, keepdim=True).values  # and spare a third of the search
    row, column = linear_sum_assignment(reduced.numpy())
    order = torch.from_numpy(column)
    return order, cost[torch.from_numpy(row), order].mean()
