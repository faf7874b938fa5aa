r"""Latent diffusion: an autoencoder makes pictures small, and a diffusion model learns the law of the codes.

    first     a VAE with a small weight β on its KL, so that codes keep nearly all of x; then it is frozen
    then      u = (z − centre) / spread,  z ~ q(z|x):  L = E ‖ε − ε̂(√ᾱ u + √(1−ᾱ) ε, t, y)‖² / K
    sample    u by DDIM, x = decode(centre + spread u): the decoder is called once, the small network S times

A VAE alone samples z ~ N(0, I), where its codes are not when β is small: diffusion replaces that prior. The
whole still has a bound: log p(x) ≥ E_q [log p(x|z) − log q(z|x)] + ELBO(z), with diffusion's own bound on
log p(z) last.

Centre and spread are running means of each dimension, so that u has unit variance (Rombach et al. take one
number for all). Of several devices they are those of the whole batch.

Shapes: x (B, *event_shape), z and u (B, K), y (B,) int64.
References: Rombach et al. 2022, arXiv:2112.10752; Vahdat, Kreis, Kautz 2021, arXiv:2106.05931 (the bound);
[GM] §3.12 names Stable Diffusion.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import Split, require
from modules.diffusion.denoisers import MLPDenoiser
from modules.diffusion.learned import Diffusion
from modules.diffusion.samplers import Draws, gaussian, of_each
from modules.latent.vae import VAE
from modules.trace import Trace

PACE = 0.02  # of the running means
REACH = 4.0  # no |û_0| beyond: u has unit variance, and under pure noise û_0 = u_t/√ᾱ − … is hundreds


class LatentDDPM(Diffusion):
    """
    Args:
        event_shape: of x. latent_dim: K. hidden: of the VAE, whose decoder is Gaussian with a learned σ.
        beta: weight of the VAE's KL. autoencoder_epochs: for which it alone is trained.
        width, blocks, embedding: of the denoiser, see `MLPDenoiser`.
    """

    FIXED = ("shift", "scale", "clip", "levels")
    center: Tensor
    spread: Tensor

    def __init__(
        self, event_shape: Sequence[int] = (64,), latent_dim: int = 8, hidden: Sequence[int] = (256,),
        beta: float = 0.1, autoencoder_epochs: int = 50, width: int = 128, blocks: int = 3,
        embedding: int = 64, num_classes: int | None = None, **training: Any,
    ) -> None:  # fmt: skip
        require(1, latent_dim=latent_dim, autoencoder_epochs=autoencoder_epochs)
        super().__init__((latent_dim,), num_classes=num_classes, clip=REACH, **training)
        self.autoencoder = VAE(
            event_shape, latent_dim, hidden, "silu", "gaussian", sigma=0.3, learn_sigma=True, beta=beta
        )
        self.event_shape, self.event_dim = self.autoencoder.event_shape, self.autoencoder.event_dim
        self.autoencoder_epochs = autoencoder_epochs
        outputs = latent_dim * self.channels_said
        self.net = MLPDenoiser(latent_dim, width, blocks, embedding, self.num_classes, outputs)
        self.register_buffer("center", torch.zeros(latent_dim))
        self.register_buffer("spread", torch.ones(latent_dim))

    def inside(self, x: Tensor) -> Tensor:
        """Codes z as the denoiser sees them, u."""
        return (x - self.center) / self.spread

    def outside(self, x: Tensor) -> Tensor:
        """u as codes z."""
        return x * self.spread + self.center

    @property
    def log_unit(self) -> float:
        return -float(self.spread.log().sum())

    @property
    def compressing(self) -> bool:
        """Whether it is the autoencoder that is being trained."""
        return self._trainer is not None and self.current_epoch < self.autoencoder_epochs

    def unused_parameters(self) -> list[nn.Parameter]:
        return list((self.net if self.compressing else self.autoencoder).parameters())

    def step(self, batch: Any, split: Split) -> Tensor:
        x, *rest = batch if isinstance(batch, list | tuple) else (batch,)
        generator = None if split == "train" else of_each(x)
        if split == "train" and self.compressing:
            parts = self.autoencoder.elbo_terms(x)
            z = parts.z[0].detach()
            count = self.all_reduce_sum(z.new_tensor(float(len(z))))
            mean = self.all_reduce_sum(z.sum(0)) / count
            spread = (self.all_reduce_sum((z - mean).square().sum(0)) / count).sqrt()
            self.center.lerp_(mean, PACE)
            self.spread.lerp_(spread.clamp(min=1e-3), PACE)
            self.log_metric(split, "mse", torch.ones(len(x)))  # ε̂ = 0 as yet
            return -parts.elbo(self.autoencoder.beta).mean() / self.autoencoder.event_dim
        y = rest[0] if self.num_classes else None
        with torch.no_grad():
            guess = self.autoencoder.sample_posterior(x, self.start(len(x), generator)[None])
            u = self.inside(guess.z[0])
        t = self.drawn_times(len(u), split, generator)
        seen = y if y is None or split != "train" else self.without_some(y)
        loss, _ = self.losses(u, t, gaussian(u, generator), seen)
        self.log_metric(split, "mse", loss.detach())
        if split != "train":
            self.log_metric(split, "elbo", -self.elbo(x, y, generator, self.draws[split]))
        return loss.mean()

    @torch.no_grad()
    def elbo(
        self, x: Tensor, y: Tensor | None = None, generator: Draws = None,
        draws: int | None = None,
    ) -> Tensor:  # fmt: skip
        """A lower bound on log p(x), nats, (B,), from one code; `draws` as in `bound`."""
        guess = self.autoencoder.sample_posterior(x, self.start(len(x), generator)[None])
        z = guess.z[0]
        log_q = self.autoencoder.posterior(x).base_dist.log_prob(z).sum(1)  # torch's own fails of no examples
        log_p = self.log_unit - self.bound(self.inside(z), y, draws, generator).total
        return self.autoencoder.log_likelihood(x, guess.z)[0] - log_q + log_p

    @torch.no_grad()
    def sample(
        self, n: int, steps: int | None = None, eta: float = 0.0, guidance: float = 0.0,
        label: int | None = None, generator: torch.Generator | None = None, seed: int | None = None,
    ) -> Tensor:  # fmt: skip
        """n means of x, (n, *event_shape), of codes drawn by DDIM; see `Diffusion.sample`."""
        return self.autoencoder.decode(super().sample(n, steps, eta, guidance, label, generator, seed))

    @torch.no_grad()
    def sample_trace(
        self, n: int = 1, steps: int = 20, eta: float = 0.0, guidance: float = 0.0,
        label: int | None = None, seed: int = 0,
    ) -> Trace:  # fmt: skip
        """`sample` as steps, one a hop: values x, x0 and eps (n, K), codes in the denoiser's units."""
        found = super().sample_trace(n, steps, eta, guidance, label, seed)
        return Trace(found.steps, self.autoencoder.decode(found.result))

    @torch.no_grad()
    def encode(self, x: Tensor, steps: int = 100, y: Tensor | None = None) -> Tensor:
        """x -> noise (B, K): the mean code, taken up by DDIM."""
        return super().encode(self.autoencoder.encode(x), steps, y)

    @torch.no_grad()
    def decode(self, z: Tensor, steps: int = 100, y: Tensor | None = None) -> Tensor:
        """Noise (B, K) -> x."""
        return self.autoencoder.decode(super().decode(z, steps, y))
