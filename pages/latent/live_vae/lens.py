"""A VAE of the plane in training, small enough that its log p is known: an integral over a grid of codes.

    log p(x) = log ∫ N(z; 0, I) N(x; f(z), σ² I) dz ≥ ELBO = reconstruction − KL(q(z|x) ‖ p(z))

Training minimises −reconstruction + β KL; σ² is set, not learned. Both may be turned in mid-run.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from datamodules import points
from lab.lenses import plane, rewind
from modules.latent.vae import VAE

REACH, CELLS = 4.0, 48
FAR = 4.0  # codes beyond are left out: 6e-5 of the prior's mass a dimension
NODES = {1: 401, 2: 41}  # of the integral, a dimension of the code
TRAIN, TEST, DRAWN = 10_000, 500, 300
SHAPES = ("moons", "eight_gaussians", "rings", "spirals", "sine")


@lru_cache(maxsize=16)
def split(shape: points.Shape, part: int) -> tuple[Tensor, Tensor]:
    """Points and their classes, to train on (part 1) and to judge by (part 3)."""
    return points.sample(shape, TRAIN if part == 1 else TEST, part)


@dataclass(frozen=True)
class VAERecipe(rewind.OfOneLoss):
    """A VAE with `k` latent numbers and two hidden layers of `width` units each way."""

    shape: points.Shape
    k: int
    width: int
    seed: int
    stride: int = 15

    def build(self) -> VAE:
        return VAE((2,), self.k, (self.width, self.width), activation="tanh", decoder="gaussian")

    def loss(self, model: VAE, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """−reconstruction + β KL of a batch, one draw of z each."""
        model.decoder_log_var.fill_(math.log(knobs["var"]))
        x = split(self.shape, 1)[0]
        batch = x[torch.randint(len(x), (int(knobs["batch"]),), generator=generator)]
        parts = model.elbo_terms(batch, generator=generator)
        return knobs["beta"] * parts.kl.sum(-1).mean() - parts.reconstruction.mean()

    def look(self, model: VAE, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """map (CELLS, CELLS): log p from LOWEST to 0 as 0 to 255; samples (DRAWN, 2); codes (DRAWN, 2): of
        two numbers the means of q(z|x), of one its mean and its σ; costs (4,): −log p, −ELBO,
        −reconstruction, KL, nats of a new point."""
        model.decoder_log_var.fill_(math.log(knobs["var"]))
        x = split(self.shape, 3)[0]
        generator = torch.Generator().manual_seed(self.seed)
        parts = model.elbo_terms(x, samples=8, generator=generator)
        reconstruction, kl = float(parts.reconstruction.mean()), float(parts.kl.sum(-1).mean())
        costs = [-float(log_prob(model, x).mean()), kl - reconstruction, -reconstruction, kl]
        mean = parts.mean[:DRAWN]
        codes = mean if self.k == 2 else torch.cat([mean, (0.5 * parts.log_var[:DRAWN]).exp()], 1)
        log_p = log_prob(model, grid()).view(CELLS, CELLS)
        return {
            "map": plane.levels(log_p),
            "samples": model.sample(DRAWN, generator=generator).numpy(),
            "codes": codes.numpy(),
            "costs": np.array(costs, np.float32),
        }


@lru_cache(maxsize=1)
def grid() -> Tensor:
    """The middles of the window's cells, row by row: (CELLS², 2)."""
    return plane.middles(REACH, CELLS, torch.float32).flatten(0, 1)


@torch.no_grad()
def log_prob(model: VAE, x: Tensor) -> Tensor:
    """log p(x) of x (N, 2), (N,), nats: the rectangle rule over the codes."""
    axis = torch.linspace(-FAR, FAR, NODES[model.latent_dim])
    z = torch.cartesian_prod(*[axis] * model.latent_dim).reshape(-1, model.latent_dim)  # (M, K)
    log_weight = (-0.5 * z.square()).sum(1).log_softmax(0)  # (M,)
    var = float(model.decoder_log_var.exp())
    square = torch.cdist(x, model.decode(z), compute_mode="donot_use_mm_for_euclid_dist").square()
    return (log_weight - square / (2 * var)).logsumexp(1) - math.log(2 * math.pi * var)


def captions(frames: Sequence, knobs: Sequence[Mapping[str, float]], recipe: VAERecipe) -> list[str]:
    """Caption of each frame."""
    texts = []
    for number, (frame, turned) in enumerate(zip(frames, knobs, strict=True)):
        log_p, elbo, rec, kl = map(float, frame["costs"])
        texts.append(
            f"After {number * recipe.stride} steps, β = {turned['beta']:g}, σ² = {turned['var']:g}: "
            f"−ELBO {elbo:.3f} = {rec:.3f} + KL {kl:.3f} nats; −log p {log_p:.3f}."
        )
    return texts
