r"""Number of components that a density costs: a ring and a cube, by mixtures of K Gaussians, and by a bent
latent.

    mixture   p(x) = Σ_k π_k N(x; μ_k, Σ_k)                                 K places, one by one
    curve     p(x) = 1/G Σ_g N(x; Wᵀ φ(z_g), σ² I),  z_g on a line          all places hang on one W
    bits      p(x) = Π_i Σ_{z_i} ½ N(x_i; μ_{i z_i}, σ_i²)                  d binary latents: 2^d corners

The curve is `modules.latent.gtm`: one latent number, and an E-step that is a sum over G of its values.

References: Bishop, Svensén, Williams 1998 (GTM: the curve by EM); [GM] §3.2.4 (capacity).
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import ink
from modules.latent.elbo import log_normal
from modules.latent.em import CollapseWarning
from modules.latent.gaussians import Covariance
from modules.latent.gtm import GTM
from modules.latent.mixture import GaussianMixture

SIZES = [1, 2, 4, 6, 8, 12, 16, 32]  # K on the plane
EDGE, CELLS, PAD = 1.6, 56, 16  # the window is [-EDGE, EDGE]²
HELD, STEPS, TOLERANCE = 4000, 60, 1e-4
PLACES, STARTS, TRIAL = 80, 3, 8  # of the curve: values of z; starts, and EM steps that each is given
SHOWN = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60]  # EM steps in the film


# --- Data -----------------------------------------------------------------------------------------


def ring(count: int, sigma: float, seed: int) -> Tensor:
    """Points (N, 2) around the unit circle, with noise σ in both coordinates."""
    g = torch.Generator().manual_seed(seed)
    angle = 2 * math.pi * torch.rand(count, generator=g, dtype=torch.float64)
    noise = torch.randn(count, 2, generator=g, dtype=torch.float64)
    return torch.stack([angle.cos(), angle.sin()], 1) + sigma * noise


def drawn(picture: Tensor, count: int, seed: int) -> Tensor:
    """Points (N, 2) spread over the ink of a drawing."""
    return ink.scattered(picture, count, seed).double() * (EDGE / ink.REACH)


def ring_entropy(sigma: float) -> float:
    """Entropy of the ring, nats: p at radius r is e^{−(r² + 1)/2σ²} I₀(r/σ²) / 2πσ²."""
    r = torch.linspace(max(0.0, 1 - 10 * sigma), 1 + 10 * sigma, 20_001, dtype=torch.float64)
    log_p = torch.special.i0e(r / sigma**2).log() - (r - 1) ** 2 / (2 * sigma**2)
    log_p = log_p - math.log(2 * math.pi * sigma**2)
    return float(-torch.trapezoid(2 * math.pi * r * log_p.exp() * log_p, r))


def drawn_entropy(picture: Tensor) -> float:
    """Entropy of `drawn`, nats."""
    return ink.entropy(picture) + 2 * math.log(EDGE / ink.REACH)


def cube(count: int, dimensions: int, sigma: float, seed: int) -> Tensor:
    """Corners of {−1, 1}^d at random, with noise σ: (N, d)."""
    g = torch.Generator().manual_seed(seed)
    corners = 2.0 * torch.randint(2, (count, dimensions), generator=g, dtype=torch.float64) - 1
    return corners + sigma * torch.randn(count, dimensions, generator=g, dtype=torch.float64)


def cube_entropy(sigma: float) -> float:
    """Entropy of the cube in each of its dimensions, nats: ½ N(−1, σ²) + ½ N(1, σ²)."""
    x = torch.linspace(-1 - 12 * sigma, 1 + 12 * sigma, 40_001, dtype=torch.float64)
    log_p = torch.logaddexp(log_normal(x, -1.0, sigma**2), log_normal(x, 1.0, sigma**2)) - math.log(2)
    return float(-torch.trapezoid(log_p.exp() * log_p, x))


def gaussian_log_prob(variance: float) -> float:
    """Mean log-density of data of this variance under their own Gaussian, nats per dimension."""
    return -0.5 * (1 + math.log(2 * math.pi * variance))


def away(value: float, best: float) -> str:
    """Distance of a mean log-density of a sample from −H: by chance it may lie above."""
    return f"{abs(best - value):.3f} nats {'below' if value <= best else 'above'} −H"


# --- Mixtures -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fits:
    """Mixtures of rising size.

    Attributes:
        sizes: K; parameters: how many numbers each has.
        train, held_out: mean log p of the points that were fitted, and of new ones, nats.
        densities: (F, CELLS, CELLS) row = x₂ upwards, of the first two coordinates alone.
        ellipses: (F, P, 2) two standard deviations of each component, NaN between them.
    """

    sizes: list[int]
    parameters: list[int]
    train: Tensor
    held_out: Tensor
    densities: Tensor
    ellipses: Tensor


def mixture(x: Tensor, size: int, covariance: Covariance = "full") -> GaussianMixture:
    """Fitted by EM, the best of three starts."""
    model = GaussianMixture((x.shape[1],), size, covariance, floor=1e-5, restarts=STARTS, trial_steps=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        model.fit(x, STEPS, TOLERANCE, torch.Generator().manual_seed(0))
    return model


@torch.inference_mode()
def fits(
    x: Tensor, held_out: Tensor, sizes: list[int], covariance: Covariance = "full"
) -> Iterator[tuple[float, Fits]]:
    """Mixtures of all sizes; yields the share done and those so far."""
    models: list[GaussianMixture] = []
    parts: list[tuple[Tensor, ...]] = []
    for size in sizes:
        models.append(mixture(x, size, covariance))
        parts.append(summary(models[-1], x, held_out, max(sizes)))
        done, numbers = [m.components for m in models], [m.num_parameters for m in models]
        yield sum(done) / sum(sizes), Fits(done, numbers, *map(torch.stack, zip(*parts, strict=True)))


def summary(model: GaussianMixture, x: Tensor, held_out: Tensor, most: int) -> tuple[Tensor, ...]:
    """The parts of `Fits` of one mixture: both likelihoods, its density and its ellipses."""
    likely = model.log_prob(x).mean(), model.log_prob(held_out).mean()
    return *likely, shadow(model), outlines(model, most)


def window() -> Tensor:
    """Middles of the window's cells, (CELLS²,  2), row by row upwards."""
    axis = (torch.arange(CELLS, dtype=torch.float64) + 0.5) * (2 * EDGE / CELLS) - EDGE
    return torch.cartesian_prod(axis, axis).flip(1)


def shadow(model: GaussianMixture) -> Tensor:
    """The density of the first two coordinates on the window, (CELLS, CELLS)."""
    if model.n == 2:
        return model.log_prob(window()).exp().reshape(CELLS, CELLS)
    flat = GaussianMixture((2,), model.components)
    flat.set_parameters(model.weights, model.gaussians.means[:, :2], model.gaussians.matrices[:, :2, :2])
    return flat.log_prob(window()).exp().reshape(CELLS, CELLS)


def outlines(model: GaussianMixture, most: int) -> Tensor:
    """Two standard deviations of each component in two coordinates, (24 most, 2), the rest NaN."""
    angle = torch.linspace(0, 2 * math.pi, 23, dtype=torch.float64)
    circle = torch.stack([angle.cos(), angle.sin()])
    result = torch.full((most, 24, 2), torch.nan, dtype=torch.float64)
    roots = torch.linalg.cholesky(model.gaussians.matrices[:, :2, :2])
    result[: model.components, :23] = model.gaussians.means[:, None, :2] + 2 * (roots @ circle).mT
    return result.reshape(-1, 2)


# --- One bent latent ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Course:
    """A curve in the making, at the steps SHOWN of EM.

    Attributes:
        lines: (F, PLACES, 2); sigmas (F,); train, held_out (F,) nats; densities (F, CELLS, CELLS).
    """

    parameters: int
    lines: Tensor
    sigmas: Tensor
    train: Tensor
    held_out: Tensor
    densities: Tensor


@torch.inference_mode()
def course(x: Tensor, held_out: Tensor, bumps: int, seed: int) -> Course:
    """EM of a curve, from the likeliest of STARTS starts after TRIAL steps; step 0 is that start."""
    model = GTM((2,), bumps, PLACES)
    generator = torch.Generator().manual_seed(seed)
    starts = []
    for _ in range(STARTS):
        model.initialize(x, generator)
        first = model.weights.clone(), model.variance.clone()
        for _ in range(TRIAL):
            model.em_step(x)
        starts.append((float(model.log_prob(x).mean()), first))
    _, (weights, variance) = max(starts, key=lambda one: one[0])
    model.weights.copy_(weights)
    model.variance.copy_(variance)
    frames = []
    for step in range(SHOWN[-1] + 1):
        if step in SHOWN:
            values = model.log_prob(x).mean(), model.log_prob(held_out).mean()
            density = model.log_prob(window()).exp().reshape(CELLS, CELLS)
            frames.append((model.curve.clone(), model.variance.sqrt(), *values, density))
        model.em_step(x)
    return Course(model.num_parameters, *(torch.stack(part) for part in zip(*frames, strict=True)))


# --- The cube by bits -----------------------------------------------------------------------------


def bits(x: Tensor, held_out: Tensor) -> tuple[int, float]:
    """One binary latent a dimension, each fitted by EM: how many numbers, and mean log p held out, nats."""
    models = [mixture(column[:, None], 2) for column in x.T]
    total = sum(float(m.log_prob(c[:, None]).mean()) for m, c in zip(models, held_out.T, strict=True))
    return sum(model.num_parameters for model in models), total
