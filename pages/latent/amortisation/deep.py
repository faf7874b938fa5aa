"""The same two gaps for a trained VAE: its encoder's answer, and the answer refined digit by digit.

log p(x) is estimated by importance draws from the refined q, biased low; L(q) by fixed draws, the KL in
closed form. The best q is the best that the steps have found, so the approximation gap is an estimate too.
"""

from itertools import pairwise

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import latent, vaes
from modules.importance import log_mean_exp
from modules.latent.bounds import gaussian_kl, reparameterize
from modules.latent.vae import VAE
from modules.latent.variational import amortisation_gaps, local_vi, log_q
from pages.latent.amortisation.lens import Story

INNER = [0, 1, 2, 5, 10, 20, 50]
DRAWS, IMPORTANCE, SAMPLES, RATE = 200, 2000, 8, 0.1


def fits(entry: Experiment) -> bool:
    """Check whether it is a plain VAE of small digits."""
    return vaes.fits(entry) and entry.datamodule == "datamodules.digits.Digits"


@torch.no_grad()
def bound(model: VAE, x: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """L(q) of x (N, D) with q = N(μ, diag σ²), both (N, K), by antithetic draws: (N,)."""
    half = torch.randn(DRAWS // 2, 1, mean.shape[1], generator=torch.Generator().manual_seed(1))
    z = reparameterize(mean, log_var, torch.cat([half, -half]))
    return model.log_likelihood(x, z).mean(0) - gaussian_kl(mean, log_var).sum(-1)


@torch.no_grad()
def evidence(model: VAE, x: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """log p̂(x), (N,), with IMPORTANCE draws from q."""
    noise = torch.randn(IMPORTANCE, *mean.shape, generator=torch.Generator().manual_seed(2))
    z = reparameterize(mean, log_var, noise)
    log_w = model.log_likelihood(x, z) + model.prior.log_prob(z) - log_q(z, mean, log_var)
    return log_mean_exp(log_w)


def story(model: VAE, x: Tensor) -> tuple[Story, Tensor]:
    """Frames of digits x (N, D): the gaps after INNER steps, and (3, N, H, W) x, rebuilt at the encoder's
    mean, and at the refined one."""

    def log_joint(z: Tensor) -> Tensor:
        return model.log_likelihood(x, z) + model.prior.log_prob(z)

    with torch.no_grad():
        start, log_var = model.encode_parameters(x)
    mean, rows = start, [bound(model, x, start, log_var)]
    with torch.enable_grad():
        for before, steps in pairwise(INNER):
            mean, log_var, _ = local_vi(
                log_joint, mean, log_var, steps=steps - before, samples=SAMPLES, lr=RATE,
                generator=torch.Generator().manual_seed(steps),
            )  # fmt: skip
            rows.append(bound(model, x, mean, log_var))
    result = torch.stack(rows)
    best = result.amax(0)
    log_p = torch.maximum(evidence(model, x, mean, log_var), best)
    gaps = amortisation_gaps(log_p, best, result)
    pictures = [latent.pictures_of(model, x), *latent.decoded(model, torch.stack([start, mean]))]
    results = Story(x, log_p, best, result, gaps["approximation"], gaps["amortisation"].clamp(min=0), INNER)
    return results, torch.stack(pictures)


def joined(own: Tensor, others: Tensor) -> Tensor:
    """Rows of pictures (3, N, H, W), the first ones in front."""
    return torch.cat([own, others], 1)


def together(one: Story, others: Story) -> Story:
    """Two stories as one, the first in front."""

    def both(name: str) -> Tensor:
        return torch.cat([getattr(one, name), getattr(others, name)], 0 if name == "x" else -1)

    log_p, best, bounds, family, answer = map(
        both, ("log_p", "best", "bounds", "approximation", "amortisation")
    )
    return Story(both("x"), log_p, best, bounds, family, answer, one.inner)
