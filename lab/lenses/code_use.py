"""Use that a VAE makes of its code: what the code costs and saves, after a training and over it.

use of z   −E log p(x|z′) + E log p(x|z), z′ the code of another example: 0 where nobody listens to z
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import latent
from modules.latent.bounds import ElboTerms
from modules.latent.vae import VAE


@dataclass(frozen=True)
class Swap:
    """Costs and savings of a code, means over held-out data in nats.

    Attributes:
        own: −E log p(x|z) with the example's own code; other: with another example's.
        kl: (K,) of each dimension.
        active: dimensions whose mean moves with x.
    """

    own: float
    other: float
    kl: Tensor
    active: int

    @property
    def paid(self) -> float:
        return self.kl.sum().item()

    @property
    def saved(self) -> float:
        """Nats that the own code saves against another's."""
        return self.other - self.own

    @property
    def cost(self) -> float:
        """−ELBO."""
        return self.own + self.paid


def swap(model: VAE, x: Tensor, generator: torch.Generator) -> tuple[Swap, ElboTerms]:
    """Over x (N, D), each with one draw of its code, and with its neighbour's: the data have no order."""
    parts = model.elbo_terms(x, generator=generator)
    shuffled = parts.z.roll(1, dims=1)
    own, other = (-model.log_likelihood(x, z).mean().item() for z in (parts.z, shuffled))
    return Swap(own, other, parts.kl.mean(0), int(latent.active_units(parts.mean).sum())), parts


@dataclass(frozen=True)
class Course:
    """Validation over a training: `rec` and `kl`, one number an epoch."""

    rec: list[float]
    kl: list[float]

    def at(self, epoch: int) -> tuple[float, float]:
        """The values of an epoch, of the last one where it has ended before."""
        i = min(epoch, len(self.rec) - 1)
        return self.rec[i], self.kl[i]
