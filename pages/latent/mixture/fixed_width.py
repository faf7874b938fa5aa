"""EM with one width σ that is held, and k-means, its limit for σ → 0.

References: [UDL] §14.1; Lloyd 1982.
"""

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.latent.em import CollapseWarning
from modules.latent.kmeans import KMeans
from modules.latent.mixture import GaussianMixture

SIGMAS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5]


@dataclass(frozen=True)
class Limit:
    """EM with equal weights and one σ that is held, beside k-means from the same start.

    Attributes:
        r: (S, N, K), means (S, K, 2), of every σ; entropy (S,) of r, nats per point.
        centres: (K, 2) of k-means; distance (S,): the farthest of a mean from its centre.
    """

    r: Tensor
    means: Tensor
    entropy: Tensor
    centres: Tensor
    distance: Tensor


def limit(x: Tensor, k: int, seed: int, steps: int = 40) -> Limit:
    """`steps` steps of EM at every one of SIGMAS, and as many of k-means."""
    if len(x) < k:
        raise ValueError(f"{k} centres need at least {k} points: there are {len(x)}. Click some.")
    lloyd = KMeans(components=k)
    lloyd.initialize(x, torch.Generator().manual_seed(seed))
    start = lloyd.centres.clone()
    lloyd.fit(x, steps)
    model, even = GaussianMixture(components=k, covariance="spherical"), torch.full((k,), 1 / k)
    result, means = [], []
    for sigma in SIGMAS:
        held = torch.full((k,), sigma**2)
        model.set_parameters(even, start, held)
        for _ in range(steps):
            before = model.gaussians.means.clone()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CollapseWarning)
                model.m_step(model.e_step(x))
            model.set_parameters(even, model.gaussians.means, held)
            if float((model.gaussians.means - before).abs().max()) < 1e-4:
                break
        result.append(model.responsibilities(x))
        means.append(model.gaussians.means.clone())
    r, m = torch.stack(result), torch.stack(means)
    entropy = -torch.xlogy(r, r).sum(2).mean(1)
    return Limit(r, m, entropy, lloyd.centres, (m - lloyd.centres).norm(dim=2).amax(1))
