r"""A Gaussian decoder that says how sure it is: one noise for each pixel, or for each pixel of each picture.

    log p(x|z) = −½ Σ_d [ log 2πσ_d² + (x_d − f_d(z))² / σ_d² ]

    "pixel"     σ_d learned; the optimum is each pixel's own root mean squared error
    "network"   σ_d(z), a second output of the decoder

Where a pixel is always the same (the margin of a digit), its error goes to 0, and the density of real numbers
has no upper end: −log p falls without limit while nothing is learned. `min_sigma` is the floor that stops
it.

Shapes: x (B, ...), flat (B, D); z (..., K); log σ² (D,) or (..., D).

References: Kingma & Welling 2014, arXiv:1312.6114, appendix C.2; [UDL] §17.2; [GM] §3.8; Rybkin et al. 2021,
Simple and Effective VAE Training with Calibrated Decoders, arXiv:2006.13202.
"""

import math
from typing import Any, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import in_rows, require
from modules.latent.bounds import gaussian_log_prob
from modules.latent.vae import VAE
from modules.mlp import mlp
from modules.noise import normal
from modules.trace import Step


class VarianceVAE(VAE):
    """A Gaussian `VAE` with a noise of its own for each pixel.

    Args:
        variance: "pixel" or "network".
        min_sigma: floor of every σ_d.
        sigma: their start.
        model: as of `VAE`; the decoder is Gaussian.

    Example:
        >>> VarianceVAE(event_shape=(64,), latent_dim=2, hidden=[8]).sigma(torch.zeros(3, 2)).shape
        torch.Size([3, 64])
    """

    def __init__(
        self,
        *,
        variance: Literal["pixel", "network"] = "pixel",
        min_sigma: float = 0.01,
        sigma: float = 1.0,
        decoder: Literal["gaussian"] = "gaussian",
        learn_sigma: bool = True,
        **model: Any,
    ) -> None:
        if variance not in ("pixel", "network"):
            raise ValueError(f"variance is {variance!r}: choose pixel or network.")
        if decoder != "gaussian" or not learn_sigma:
            raise ValueError("A noise of each pixel is learned, and by a Gaussian decoder alone.")
        require(0, below=sigma, min_sigma=min_sigma)
        self.variance = variance
        super().__init__(decoder=decoder, sigma=sigma, **model)
        self.least_log_var = 2 * math.log(max(min_sigma, 1e-6))
        # softplus⁻¹ of the start's height above the floor
        start = math.log(math.expm1(2 * math.log(sigma) - self.least_log_var))
        if variance == "pixel":
            self.raw = nn.Parameter(torch.full((self.event_dim,), start))
        else:
            last = cast(nn.Linear, cast(nn.Sequential, self.decoder)[-1])
            with torch.no_grad():
                last.bias[self.event_dim :] += start

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        encoder, decoder = super().networks(hidden, activation)
        if self.variance == "network":  # twice as many outputs
            decoder = mlp([self.latent_dim, *reversed(hidden), 2 * self.event_dim], activation)
        return encoder, decoder

    def mean_and_log_var(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., K) -> mean (..., D), and log σ² (D,) or (..., D)."""
        mean, raw = self.decoder(z), getattr(self, "raw", None)
        if raw is None:
            mean, raw = mean.chunk(2, -1)
        return mean, self.least_log_var + F.softplus(raw)

    def sigma(self, z: Tensor) -> Tensor:
        """σ of every pixel, (..., D)."""
        mean, log_var = self.mean_and_log_var(z)
        return (0.5 * log_var).exp().expand_as(mean)

    def outputs(self, z: Tensor, **given: Any) -> Tensor:
        return self.mean_and_log_var(z)[0]

    def pixel_log_likelihood(self, x: Tensor, z: Tensor, **given: Any) -> Tensor:
        return gaussian_log_prob(in_rows(x), *self.mean_and_log_var(z))

    def observation_step(
        self, z: Tensor, x_mean: Tensor, generator: torch.Generator | None, **given: Any
    ) -> Step:
        sigma = self.sigma(z).reshape(x_mean.shape)
        x = x_mean + sigma * normal(*x_mean.shape, like=self.decoder_log_var, generator=generator)
        return Step(
            "Add each pixel's own noise.", {"x": x, "sigma": sigma}, r"x_d=f_d(z)+\sigma_d\varepsilon_d"
        )
