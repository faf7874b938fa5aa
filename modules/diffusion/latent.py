r"""Latent diffusion: an autoencoder makes pictures small, and a diffusion model learns the distribution
of the codes.

    first     a VAE with a small weight β on its KL, so that codes keep nearly all of x; then it is frozen
    then      u = (z − m) / s,  z ~ q(z|x):  L = E ‖ε − ε̂(√ᾱ u + √(1−ᾱ) ε, t, y)‖² / K
    sample    u by DDIM, x = decode(m + s u): the decoder is called once, the small network S times

A VAE alone samples z ~ N(0, I), where its codes are not when β is small: diffusion replaces that prior. The
whole still has a bound: log p(x) ≥ E_q [log p(x|z) − log q(z|x)] + ELBO(z), with diffusion's own bound on
log p(z) last.

m and s, `latent_mean` and `latent_std`, are running means per dimension, so that u has unit variance (Rombach
et al. take one number for all). Of several devices they are those of the whole batch.

Shapes: x (B, *event_shape), z and u (B, K), y (B,) int64.
References: Rombach et al. 2022, arXiv:2112.10752; Vahdat, Kreis, Kautz 2021, arXiv:2106.05931 (the bound);
[GM] §3.12 names Stable Diffusion.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from modules.base import Split, require
from modules.diffusion.denoisers import MLPDenoiser
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.latent.vae import VAE
from modules.noise import Generators, normal_like, per_example

MOMENTUM = 0.02  # of the running means
CLIP = 4.0  # no |û_0| beyond: u has unit variance, and under pure noise û_0 = u_t/√ᾱ − … is hundreds


class LatentDDPM(GaussianDiffusion):
    """Diffusion model of the codes of a VAE.

    Args:
        event_shape: of x. latent_dim: K. hidden: of the VAE, whose decoder is Gaussian with a learned σ.
        beta: weight of the VAE's KL. autoencoder_epochs: for which it alone is trained.
        width, blocks, embedding: of the denoiser, see `MLPDenoiser`.
    """

    FIXED = ("shift", "scale", "clip", "levels")
    FORMER_TENSORS: ClassVar = {"center": "latent_mean", "spread": "latent_std"}
    latent_mean: Tensor
    latent_std: Tensor

    def __init__(
        self, event_shape: Sequence[int] = (64,), latent_dim: int = 8, hidden: Sequence[int] = (256,),
        beta: float = 0.1, autoencoder_epochs: int = 50, width: int = 128, blocks: int = 3,
        embedding: int = 64, num_classes: int | None = None, **training: Any,
    ) -> None:  # fmt: skip
        require(1, latent_dim=latent_dim, autoencoder_epochs=autoencoder_epochs)
        super().__init__((latent_dim,), num_classes=num_classes, clip=CLIP, **training)
        self.autoencoder = VAE(
            event_shape, latent_dim, hidden, "silu", "gaussian", sigma=0.3, learn_sigma=True, beta=beta
        )
        self.event_shape, self.event_dim = self.autoencoder.event_shape, self.autoencoder.event_dim
        self.autoencoder_epochs = autoencoder_epochs
        outputs = latent_dim * self.output_factor
        self.net = MLPDenoiser(latent_dim, width, blocks, embedding, self.num_classes, outputs)
        self.register_buffer("latent_mean", torch.zeros(latent_dim))
        self.register_buffer("latent_std", torch.ones(latent_dim))

    def preprocess(self, x: Tensor) -> Tensor:
        """Standardised u of codes z."""
        return (x - self.latent_mean) / self.latent_std

    def postprocess(self, x: Tensor) -> Tensor:
        """Codes z of u."""
        return x * self.latent_std + self.latent_mean

    @property
    def log_unit(self) -> float:
        return -float(self.latent_std.log().sum())

    @property
    def training_autoencoder(self) -> bool:
        """True while it is the autoencoder that is trained."""
        return self._trainer is not None and self.current_epoch < self.autoencoder_epochs

    def unused_parameters(self) -> list[nn.Parameter]:
        return list((self.net if self.training_autoencoder else self.autoencoder).parameters())

    def step(self, batch: Any, split: Split) -> Tensor:
        x, *rest = batch if isinstance(batch, list | tuple) else (batch,)
        generator = None if split == "train" else per_example(x)
        if split == "train" and self.training_autoencoder:
            parts = self.autoencoder.elbo_terms(x)
            z = parts.z[0].detach()
            count = self.all_reduce_sum(z.new_tensor(float(len(z))))
            mean = self.all_reduce_sum(z.sum(0)) / count
            std = (self.all_reduce_sum((z - mean).square().sum(0)) / count).sqrt()
            self.latent_mean.lerp_(mean, MOMENTUM)
            self.latent_std.lerp_(std.clamp(min=1e-3), MOMENTUM)
            self.log_metric(split, "mse", torch.ones(len(x)))  # ε̂ = 0 as yet
            return -parts.elbo(self.autoencoder.beta).mean() / self.autoencoder.event_dim
        y = rest[0] if self.num_classes else None
        with torch.no_grad():
            u = self.preprocess(
                self.autoencoder.sample_posterior(x, self.start(len(x), generator)[None]).z[0]
            )
        t = self.sample_timesteps(len(u), split, generator)
        kept = y if y is None or split != "train" else self.drop_labels(y)
        loss, _ = self.losses(u, t, normal_like(u, generator), kept)
        self.log_metric(split, "mse", loss.detach())
        if split != "train":
            self.log_metric(split, "elbo", -self.elbo(x, y, generator=generator, draws=self.draws[split]))
        return loss.mean()

    @torch.no_grad()
    def elbo(
        self, x: Tensor, y: Tensor | None = None, *, generator: Generators = None, draws: int | None = None
    ) -> Tensor:
        """Lower bound on log p(x), nats, (B,), from one code; `draws` as in `bound`."""
        drawn = self.autoencoder.sample_posterior(x, self.start(len(x), generator)[None])
        z = drawn.z[0]
        log_q = self.autoencoder.posterior(x).base_dist.log_prob(z).sum(1)  # torch's own fails of no examples
        log_p = self.log_unit - self.bound(self.preprocess(z), y, draws=draws, generator=generator).total
        return self.autoencoder.log_likelihood(x, drawn.z)[0] - log_q + log_p

    def to_event(self, x: Tensor) -> Tensor:
        """Means of x, (n, *event_shape), of standardised codes (n, K)."""
        return self.autoencoder.decode(self.postprocess(x))

    @torch.no_grad()
    def encode(self, x: Tensor, *, y: Tensor | None = None, steps: int = 100) -> Tensor:
        """Noise (B, K) of x: its mean code, taken up by DDIM inversion."""
        return super().encode(self.autoencoder.encode(x), y=y, steps=steps)

    @torch.no_grad()
    def decode(self, z: Tensor, *, y: Tensor | None = None, steps: int = 100) -> Tensor:
        """x of noise (B, K)."""
        return self.autoencoder.decode(super().decode(z, y=y, steps=steps))
