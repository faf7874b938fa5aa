"""Fate of α on long sequences: without scaling it is exactly 0 after some hundred steps."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.latent.hmm import HMM


@dataclass(frozen=True)
class Long:
    """x repeated to T observations.

    Attributes:
        log_p: (T,) log p(x_1..t), scaled.
        plain, single: (T,) Σ α_t as it is in float64 and in float32: 0 where it has underflowed.
    """

    log_p: Tensor
    plain: Tensor
    single: Tensor

    def tens(self) -> dict[str, Tensor]:
        """log₁₀ p(x_1..t) by each road, NaN where all is 0; taken here, since figures are of float32."""
        sums = {"float64": self.plain, "float32": self.single.double()}
        logs = {name: torch.where(s > 0, s.log10(), torch.nan) for name, s in sums.items()}
        return {"scaled": self.log_p / math.log(10), **logs}

    @staticmethod
    def end(sums: Tensor) -> int | None:
        """The first t, from 1, at which every α is exactly 0; None if none is."""
        zero = (sums == 0).nonzero()
        return int(zero[0]) + 1 if len(zero) else None


def repeated(model: HMM, x: Tensor, length: int = 2000) -> Long:
    """Forward without scaling, in both precisions, and with it."""
    many = x.repeat(-(-length // len(x)))[:length]
    log_b = model.log_emissions(many[None])
    sums = {}
    for kind in (torch.float64, torch.float32):
        b, rows = log_b[0].exp().to(kind), model.transition.to(kind)
        alpha = model.initial.to(kind) * b[0]
        results = [alpha.sum()]
        for t in range(1, length):
            alpha = (alpha @ rows) * b[t]
            results.append(alpha.sum())
        sums[kind] = torch.stack(results)
    return Long(model.filtered(many[None])[1][0].cumsum(0), sums[torch.float64], sums[torch.float32])
