r"""Fit a flow to a density that can be evaluated but not sampled, up to a constant; distil one into another.

    KL(p_flow ‖ q/Z) = E_z [log p_Z(z) − ladj_generate(z) − log q(f(z))] + log Z,    z ~ N(0, I)

No inverse is evaluated, no data are needed; Z, or a factor κ on q, shifts the loss and nothing else. It
seeks modes: where q is small the flow must not be, the other way round it may. Without ladj the minimum is a
single point of highest q. [UDL] 16.25-26 starts from the divergence of a sum of points, which is infinite.

Distillation is the same with q the density of a trained teacher: a MAF scores in one pass and samples in D,
its student, an IAF, samples in one (Parallel WaveNet). How well it did is read from weights
w = q(x) / p_flow(x): log Z ≈ log mean w, and the effective sample size (Σ w)² / Σ w². Both are blind to
a mode that the flow never visits.

Targets of Rezende & Mohamed, with log Z by quadrature: `ring` (U1) 1.8775, `sine` 2.0201.
References: Rezende & Mohamed 2015, arXiv:1505.05770; van den Oord et al. 2018, arXiv:1711.10433; Noé et al.
2019 (Boltzmann generators); [UDL] 16.5.3, problem 16.11.
"""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from modules.flow.flow import Flow
from modules.flow.layer import FlowLayer
from modules.importance import effective_sample_size, log_mean_exp

LogDensity = Callable[[Tensor], Tensor]  # (B, D) -> (B,), up to a constant


# --- Targets ------------------------------------------------------------------------------------


def ring(x: Tensor) -> Tensor:
    """U1: a ring of radius 2 with two lobes."""
    lobes = [-0.5 * ((x[..., 0] + side) / 0.6) ** 2 for side in (-2.0, 2.0)]
    return -0.5 * ((x.norm(dim=-1) - 2) / 0.4) ** 2 + torch.logaddexp(*lobes)


def sine(x: Tensor) -> Tensor:
    """A band around x_2 = sin(π x_1 / 2), with x_1 about 3 wide."""
    wave = (0.5 * math.pi * x[..., 0]).sin()
    return -0.5 * ((x[..., 1] - wave) / 0.4) ** 2 - 0.5 * (x[..., 0] / 3) ** 2


def banana(x: Tensor) -> Tensor:
    """N(0, 1) bent: x_2 about x_1² − 1."""
    return -0.5 * x[..., 0] ** 2 - 0.5 * ((x[..., 1] - x[..., 0] ** 2 + 1) / 0.3) ** 2


def double_well(x: Tensor) -> Tensor:
    """exp(−(x_1² − 1)² / 0.3 − ½ x_2²): two states with a barrier."""
    return -((x[..., 0] ** 2 - 1) ** 2) / 0.3 - 0.5 * x[..., 1] ** 2


TARGETS: dict[str, LogDensity] = {"ring": ring, "sine": sine, "banana": banana, "double well": double_well}


def log_normaliser(log_q: LogDensity, reach: float = 16.0, cells: int = 1601) -> float:
    """log Z of a density of the plane, by the rectangle rule on [−reach, reach]²."""
    axis = torch.linspace(-reach, reach, cells, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    parts = torch.cat([log_q(part) for part in grid.split(200_000)])
    return float(parts.logsumexp(0)) + 2 * math.log(2 * reach / (cells - 1))


# --- The loss and what it reached -----------------------------------------------------------------


def reverse_kl(
    flow: FlowLayer, z: Tensor, log_q: LogDensity, context: Tensor | None = None, with_ladj: bool = True
) -> Tensor:
    """KL(flow ‖ q) up to log Z, estimated from z (B, D) of the base N(0, I); (B,) terms of the mean.

    `with_ladj=False` leaves the log-determinant out, to show the collapse.
    """
    x, ladj = flow.generate(z, context)
    log_base = -0.5 * (z.square().sum(-1) + z.shape[-1] * math.log(2 * math.pi))
    return log_base - (ladj if with_ladj else 0.0) - log_q(x)


@torch.no_grad()
def importance_estimates(flow: FlowLayer, z: Tensor, log_q: LogDensity) -> dict[str, float]:
    """`kl` up to log Z, `log_z` by importance sampling, and `ess`, the effective share of the samples."""
    log_w = -reverse_kl(flow, z, log_q)
    log_z = log_mean_exp(log_w)
    ess = effective_sample_size(log_w) / len(log_w)
    return {"kl": float(-log_w.mean()), "log_z": float(log_z), "ess": float(ess)}


def fit_steps(
    flow: Flow,
    target: Callable[[int], LogDensity],
    steps: int,
    batch: int,
    lr: float,
    with_ladj: bool = True,
    seed: int = 0,
    before: Callable[[torch.Generator], Tensor] | None = None,
    first: int = 0,
) -> Iterator[float]:
    """Adam on `reverse_kl` against `target(step)` with a cosine rate; yields the loss of every step.

    Args:
        before: another loss, for the first `first` steps.
    """
    generator = torch.Generator().manual_seed(seed)
    parameters = list(flow.parameters())
    optimizer = torch.optim.Adam(parameters, lr=lr, foreach=True)  # the same numbers, sooner
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for number in range(steps):
        with torch.enable_grad():
            if before is not None and number < first:
                loss = before(generator)
            else:
                z = flow.noise(batch, generator=generator)
                loss = reverse_kl(flow.stack, z, target(number), with_ladj=with_ladj).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        scheduler.step()
        yield float(loss.detach())


def fit(
    flow: Flow,
    log_q: LogDensity,
    steps: int = 1000,
    batch: int = 256,
    lr: float = 3e-3,
    with_ladj: bool = True,
    anneal: int = 0,
    seed: int = 0,
    start: LogDensity | None = None,
) -> list[float]:
    """`fit_steps` to one density; the losses of every step.

    Distillation: `log_q` is a trained teacher's `log_prob`, which must not require gradients.

    Args:
        anneal: steps over which log q counts from 1 % to fully: reaches modes that lie apart.
        start: has the share that log q has not yet; without, nothing has it. Where q is p(x, z) of a latent z
            and this is the prior p(z), the likelihood alone is annealed.
    """

    def tempered(number: int) -> LogDensity:
        share = min(1.0, 0.01 + number / anneal) if anneal else 1.0
        if start is None or share == 1:
            return lambda x: share * log_q(x)
        return lambda x: share * log_q(x) + (1 - share) * start(x)

    return list(fit_steps(flow, tempered, steps, batch, lr, with_ladj, seed))
