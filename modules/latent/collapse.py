r"""Posterior collapse: what shows it, and what is done against it.

A decoder that explains x alone leaves q(z|x) = p(z): KL = 0, and the bound can be as good as any other's.
Its cures change the KL's price in training; what is reported is always the bound, at full price.

    annealing     reconstruction − w(t) β KL,   w from 0 to 1, once or in cycles
    free bits     reconstruction − Σ_j max(λ, KL_j),   KL_j the mean over the mini-batch, or per datum

[GM] §3.11.1 prints the hinge per datum and calls λ nats "guaranteed". It is no guarantee: below λ the KL has
no gradient, so nothing pushes it down, but nothing lifts it either where the decoder ignores z. The cited
paper takes the mini-batch mean inside the hinge.

Shapes: KL (B, K) nats of each example and dimension; means (B, K) of q(z|x).

References:
    Bowman et al. 2016, Generating Sentences from a Continuous Space (annealing), arXiv:1511.06349.
    Fu et al. 2019, Cyclical Annealing Schedule, arXiv:1903.10145.
    Kingma et al. 2016, Improved Variational Inference with IAF (free bits), arXiv:1606.04934.
    Burda, Grosse & Salakhutdinov 2016 (active units), arXiv:1509.00519; [GM] §3.11.1; [UDL] notes of ch. 17.
"""

from typing import Literal

import torch
from torch import Tensor
from torchmetrics import Metric

ACTIVE = 0.01  # Var_x μ_j(x) above which a unit counts as in use


def kl_weight(beta: float, epoch: int, warmup_epochs: int, cycles: int = 1) -> float:
    """β of this epoch: rises linearly from 0 in epoch 0 to β in epoch `warmup_epochs`, then stays.

    With several cycles it stays as long as it rose, then falls to 0 and rises again; after the last it stays.
    """
    if warmup_epochs <= 0:
        return beta
    period = 2 * warmup_epochs
    if epoch < period * cycles:
        epoch %= period
    return beta * min(1.0, epoch / warmup_epochs)


def free_bits(kl: Tensor, least: float, per: Literal["batch", "datum"] = "batch") -> Tensor:
    """Σ_j max(λ, KL_j), the KL that training pays for, a scalar: kl (B, K), λ = `least` per dimension."""
    kl = kl.mean(0) if per == "batch" else kl
    return kl.clamp(min=least).sum(-1).mean()


def active_units(means: Tensor, threshold: float = ACTIVE) -> Tensor:
    """(K,) bool: dimensions whose posterior mean moves with x: means (N, K)."""
    return means.var(0, unbiased=False) > threshold


class ActiveUnits(Metric):
    """Number of units in use over a whole split; fed with means (B, K) of q(z|x)."""

    count: Tensor
    total: Tensor
    square: Tensor

    def __init__(self, units: int) -> None:
        super().__init__()
        # in double, as far from 0 the two terms of the variance cancel; Apple's GPUs have none
        dtype = torch.float32 if torch.backends.mps.is_available() else torch.float64
        self.add_state("count", torch.tensor(0.0, dtype=dtype), dist_reduce_fx="sum")
        self.add_state("total", torch.zeros(units, dtype=dtype), dist_reduce_fx="sum")
        self.add_state("square", torch.zeros(units, dtype=dtype), dist_reduce_fx="sum")

    def update(self, means: Tensor) -> None:
        means = means.detach().to(self.total)
        self.count += len(means)
        self.total += means.sum(0)
        self.square += means.square().sum(0)

    def compute(self) -> Tensor:
        mean = self.total / self.count
        return (self.square / self.count - mean.square() > ACTIVE).sum().float()
