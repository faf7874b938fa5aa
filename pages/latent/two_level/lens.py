"""Two layers of codes: what changes in a picture when one of them is drawn anew and the other stays.

A ladder's picture is made by z₁ alone, and z₁ by z₂ and noise of its own:

    z₂ = ε₂,   z₁ = μ(z₂) + σ(z₂) ε₁,   x ~ p(x|z₁)

so that (ε₁, ε₂) says all. "Keep the top" holds ε₂ and draws ε₁; "keep the bottom" holds ε₁ and draws ε₂. A
digit's own noise is what its codes come from, ε₁ = (z₁ − μ(z₂)) / σ(z₂). Between two draws a and b the noise
walks on the arc cos t · a + sin t · b, which is standard normal for every t.

References: Sønderby et al. 2016, Ladder Variational Autoencoders, arXiv:1602.02282; [UDL] §17.8.2.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from modules.latent.ladder import LadderVAE

COUNT = 5  # draws side by side
STEPS = 25  # of the walk


def fits(entry: Experiment) -> bool:
    """Check whether it is a ladder of two layers on black and white small digits."""
    return (
        surfaces.is_a(entry, LadderVAE)
        and surfaces.of_digits(entry, "threshold")
        and len(surfaces.option(entry, "latent_dims")) == 2
    )


@torch.no_grad()
def noise_of(model: LadderVAE, z: Tensor) -> Tensor:
    """The noise (N, K) that the prior makes the codes z (N, K) of: the inverse of `from_noise`."""
    lower, upper = model.levels(z)
    mean, log_var = model.prior_parameters(0, upper)
    return torch.cat([(lower - mean) * (-0.5 * log_var).exp(), upper], -1)


@torch.no_grad()
def walked(model: LadderVAE, own: Tensor, level: int, seed: int) -> Tensor:
    """Pictures (STEPS, COUNT, H, W) of noise whose part `level` (0: bottom, 1: top) walks from draw to draw,
    and
    whose other part stays that of `own` (K,)."""
    generator = torch.Generator().manual_seed(seed)
    a, b = torch.randn(2, COUNT, model.latent_dim, generator=generator).to(own)
    t = torch.linspace(0, math.pi / 2, STEPS).to(own)[:, None, None]
    noise = t.cos() * a + t.sin() * b  # (STEPS, COUNT, K)
    lower = model.latent_dims[0]
    kept = slice(lower, None) if level == 0 else slice(0, lower)
    noise[..., kept] = own[kept]
    return latent.decoded(model, model.from_noise(noise))


@dataclass(frozen=True)
class Change:
    """Effect of a redrawn layer on many digits.

    Attributes:
        pixels: mean absolute change of a pixel against the digit rebuilt from its own codes.
        kept: share of the pictures that a classifier gives the same class as before.
    """

    pixels: float
    kept: float


@torch.no_grad()
def changes(model: LadderVAE, reader: Any, x: Tensor, seed: int) -> list[Change]:
    """Over digits x (N, D), each with one draw: with the bottom redrawn, and with the top redrawn."""
    own = noise_of(model, model.encode(x))
    fresh = torch.randn(own.shape, generator=torch.Generator().manual_seed(seed)).to(own)
    lower = model.latent_dims[0]
    before = latent.decoded(model, model.from_noise(own))
    results = []
    for level in range(2):
        redrawn = torch.cat([(fresh if level == part else own)[:, cut] for part, cut in
                             enumerate((slice(0, lower), slice(lower, None)))], 1)  # fmt: skip
        after = latent.decoded(model, model.from_noise(redrawn))
        classes = [reader.predict(p[:, None]).argmax(1) for p in (before, after)]
        kept = (classes[0] == classes[1]).float().mean().item()
        results.append(Change((after - before).abs().mean().item(), kept))
    return results


@torch.no_grad()
def layers(model: LadderVAE, x: Tensor, draws: int = 8) -> tuple[float, Tensor]:
    """−E log p(x|z₁) and KL of each layer (2,), lowest first, means over x (N, D), nats."""
    noise = latent.normal_noise(draws, model.latent_dim, 0).to(x).expand(-1, len(x), -1)
    parts = model.elbo_terms(x, noise=noise)
    return -parts.reconstruction.mean().item(), parts.kl.mean(0)
