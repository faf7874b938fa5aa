r"""Likelihood by the probability-flow ODE: noising without noise, and what it stretches on the way.

    dx/dt = u(x, t) = f x − ½ g² s(x, t)                             t from 0 (DATA) to 1 (NOISE)
    log p_0(x_0) = log π(x_1) + ∫_0^1 ∇·u(x_t, t) dt                 change of variables along the path

Not a bound: the log-density of what this ODE makes of π = N(0, I), up to the solver's tolerance, so it
integrates to 1. With the true p_1 in the place of π it is log p_0 itself; the difference of the two is the
prior's mismatch, and no solver helps against it.

The divergence takes D derivatives; or one, with Hutchinson's εᵀ (∂u/∂x) ε, right on average. ε is drawn
once for a whole solve: else the path that is integrated would be one of no field. Several probes are
several solves, and what is averaged is log p.

Where [UDL] fig. 14.3 says of diffusion "only a lower bound": that is `bound.py`; this is the model's own.
Shapes: x (B, D) or (B, ...), a log-density (B,) nats.
References: Song et al. 2021, arXiv:2011.13456; Grathwohl et al. 2019, arXiv:1810.01367; Chen et al. 2018,
arXiv:1806.07366. Groundwork: [UDL] 16 (change of variables). Beyond the texts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.diffusion.sde import SDE, Score, flow_field, prior_log_prob
from modules.flow.cnf import Norm, Solver, State, solve
from modules.flow.tangent import probes

Field = Callable[[Tensor, float], Tensor]


def divergence(field: Field, x: Tensor, t: float, probe: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Field u(x, t) and its divergence (B,): exact by D derivatives, or εᵀ (∂u/∂x) ε of a probe ε (B,
    ...)."""
    with torch.enable_grad():
        point = x.detach().requires_grad_()
        value = field(point, t)
        if probe is not None:
            (pulled,) = torch.autograd.grad(value, point, probe)
            return value.detach(), (pulled * probe).flatten(1).sum(1)
        flat, total = value.flatten(1), x.new_zeros(len(x))
        for d in range(flat.shape[1]):  # examples do not see each other: one call gives all rows d
            (row,) = torch.autograd.grad(flat[:, d].sum(), point, retain_graph=d + 1 < flat.shape[1])
            total = total + row.flatten(1)[:, d]
    return value.detach(), total


@dataclass(frozen=True)
class Likelihood:
    """Log-density by the ODE, in its parts.

    Attributes:
        end: x_1, of the shape of x.
        prior: log π(x_1), (B,).
        stretch: ∫ ∇·u dt, (B,).
        calls: of the field.
    """

    end: Tensor
    prior: Tensor
    stretch: Tensor
    calls: int

    @property
    def log_prob(self) -> Tensor:
        """(B,)"""
        return self.prior + self.stretch


def likelihood(
    sde: SDE,
    score: Score,
    x: Tensor,
    since: float = 0.0,
    tolerance: float = 1e-5,
    probe: Tensor | None = None,
    solver: Solver = "dopri5",
    steps: int = 100,
    record: Callable[[float, State], None] | None = None,
    norm: Norm = "max",
) -> Likelihood:
    """Log-density log p_since of x (B, ...) in nats, in its parts.

    Args:
        since: the time whose density is meant; 0 is the data's.
        probe: ε of Hutchinson's estimate, of the shape of x; None computes the divergence.
        steps: of a solver with fixed ones.
        norm: "max" holds every number's error under the tolerance, "rms" the root of their mean square.
        record: called with t and (x_t, ∫ so far) after every step that is kept.
    """

    def derivative(t: float, state: State) -> State:
        return divergence(lambda y, s: flow_field(sde, score, y, s), state[0], t, probe)

    begin = (x, x.new_zeros(len(x)))
    (end, stretch), calls = solve(derivative, begin, since, 1.0, solver, steps, tolerance, record, norm)
    return Likelihood(end, prior_log_prob(sde, end).to(x), stretch, calls)


def rademacher(x: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Rademacher probes ε of ±1, of the shape of x."""
    return probes(x.flatten(1), 1, "rademacher", generator).reshape(x.shape)
