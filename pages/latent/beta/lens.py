"""Trade of a β-VAE: for each price β of a nat of KL, how much the code says and how well it is rebuilt.

    R = E KL(q(z|x) ‖ p(z))  (rate),   D = −E log p(x|z)  (distortion),   −ELBO = D + R,   trained on D + β R

On the plane of R and D the models of all β bend round a corner; of all points on a line D + R = constant the
bound cannot tell one from another, and β picks the one where the curve has the slope −β.

References: Higgins et al. 2017, β-VAE; Alemi et al. 2018, Fixing a Broken ELBO, arXiv:1711.00464.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from modules.latent.vae import VAE

DRAWS = 8  # of the noise, for D
VALUES = (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)  # of a dimension that is turned
TURNED = 5  # dimensions that are
PLAIN = "vae-bits-digits"


def fits(entry: Experiment) -> bool:
    """Check whether it is the plain VAE of black and white small digits but for β: only then is all that is
    seen β's."""
    return (
        surfaces.keeps(entry, VAE, "networks", "prior", "objective")
        and surfaces.of_digits(entry, "threshold")
        and surfaces.alike(
            entry, PLAIN, "latent_dim", "hidden", "activation", "decoder", "warmup_epochs", "free_bits"
        )
    )


@dataclass(frozen=True)
class Bought:
    """One model on held-out digits.

    Attributes:
        beta: its price of a nat.
        kl: (K,) mean KL of each dimension, nats, largest first; their sum is the rate.
        order: (K,) the dimensions in that order.
        distortion: −E log p(x|z), nats.
        active: dimensions whose mean moves with the digit.
    """

    beta: float
    kl: Tensor
    order: list[int]
    distortion: float
    active: int

    @property
    def rate(self) -> float:
        return self.kl.sum().item()

    @property
    def cost(self) -> float:
        """−ELBO, nats."""
        return self.distortion + self.rate

    @property
    def objective(self) -> float:
        """Objective that it was trained on."""
        return self.distortion + self.beta * self.rate


@torch.no_grad()
def bought(model: VAE, x: Tensor) -> Bought:
    """Rate and distortion of a model over x (N, D); the rate is exact, the distortion from `DRAWS` draws."""
    noise = latent.normal_noise(DRAWS, model.latent_dim, 0).to(x).expand(-1, len(x), -1)
    parts = model.elbo_terms(x, noise=noise)
    kl = parts.kl.mean(0)
    order = kl.argsort(descending=True).tolist()
    active = int(latent.active_units(parts.mean).sum())
    return Bought(model.beta, kl[order], order, -parts.reconstruction.mean().item(), active)


@torch.no_grad()
def sheet(model: VAE, own: Tensor, others: Tensor, order: list[int]) -> Tensor:
    """(2 + TURNED, V, 8, 8) pictures: V digits, `own` (1, D) and `others` (V − 1, D), as they are rebuilt
    from their mean codes, and the own one with its `TURNED` most costly dimensions turned one at a time."""
    x = torch.cat([own, others])
    codes = latent.codes(model, x)
    turned = latent.traverse(codes[0], VALUES, order[:TURNED])
    rows = torch.cat([codes[None], turned])
    return torch.cat([latent.pictures_of(model, x)[None], latent.decoded(model, rows)])


def best(results: list[Bought]) -> Bought:
    """The one with the best bound."""
    return min(results, key=lambda one: one.cost)
