r"""Bounds on log p(x) from a posterior that is only approximate: the ELBO, and the importance-weighted ones.

    log p(x)  ≥  L_S(x)  = E log 1/S Σ_s p(x|z_s) p(z_s) / q(z_s|x)        (importance weighted)
              ≥  ELBO(x) = E_q log p(x|z) − KL(q(z|x) ‖ p(z))  = L_1(x)

Shapes: x (B, *event_shape), flattened to (B, D); z (B, K); several samples in front: (S, B, K).
Likelihoods are summed over D, KL terms over K, in nats.

References:
    Kingma & Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114; [GM] §3.7-3.10; [UDL] §17.3-17.7.
    Burda, Grosse & Salakhutdinov 2016, Importance Weighted Autoencoders, arXiv:1509.00519; [GM] §3.11.3.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.noise import normal

LOG_2PI = math.log(2 * math.pi)
CHUNK = 1 << 22  # most numbers (samples × batch × D) that one pass through the decoder may make


# --- Terms ----------------------------------------------------------------------------------------


def gaussian_kl(mean: Tensor, log_var: Tensor) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) of every dimension, in nats; same shape as `mean`.

    ½ (σ² + μ² − 1 − log σ²): [UDL] 17.24 and [GM] 3.65, where the sum runs over the K latent
    dimensions ([GM] prints d, the size of the data). [BB] Ex. 6.8 has the sign of log σ² wrong.
    """
    return 0.5 * (log_var.exp() + mean.square() - 1 - log_var)


def gaussian_log_prob(x: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """log N(x; μ, σ²) of every dimension, with the log 2πσ² that squared error alone forgets."""
    return -0.5 * (LOG_2PI + log_var + (x - mean).square() * (-log_var).exp())


def bernoulli_log_prob(x: Tensor, logits: Tensor) -> Tensor:
    """log Bernoulli(x; σ(l)) of every entry, x·l − log(1 + eˡ): x (B, D), logits (..., B, D)."""
    # no probability is formed, so nothing underflows
    return -F.binary_cross_entropy_with_logits(logits, x.expand_as(logits), reduction="none")


def reparameterize(mean: Tensor, log_var: Tensor, noise: Tensor) -> Tensor:
    """z = μ + σ ε: the noise comes from outside, so gradients reach μ and σ ([UDL] §17.7)."""
    return mean + (0.5 * log_var).exp() * noise  # [BB] Ex. 6.8 prints ε σ²: the scale is σ


@dataclass(frozen=True)
class PosteriorSample:
    """Draws from q(z|x), and what they cost.

    Attributes:
        z: (S, B, K).
        log_ratio: (S, B) log p(z) − log q(z|x).
        kl: (B, K) KL(q(z_j|x) ‖ p(z_j)) of each dimension, exact; where there is no such form (B, G), of
            G groups of dimensions, from the same draws.
        mean, log_var: (B, K) of q(z|x), or of what it starts from.
    """

    z: Tensor
    log_ratio: Tensor
    kl: Tensor
    mean: Tensor
    log_var: Tensor


@dataclass(frozen=True)
class ElboTerms:
    """The ELBO split into what it sums, per example.

    Attributes:
        reconstruction: (B,) E_q log p(x|z), estimated from the samples.
        kl, mean, log_var, z: as in `PosteriorSample`.
    """

    reconstruction: Tensor
    kl: Tensor
    mean: Tensor
    log_var: Tensor
    z: Tensor

    def elbo(self, beta: float = 1.0) -> Tensor:
        """(B,) reconstruction − β KL. A bound on log p(x) for β ≥ 1 alone: below 1 it can exceed it."""
        return self.reconstruction - beta * self.kl.sum(-1)


# --- Bounds ---------------------------------------------------------------------------------------


class VariationalBounds:
    """Mixin of models with an approximate posterior: the bounds follow from three methods.

    Subclasses implement `sample_posterior`, `sample_prior` and `pixel_log_likelihood`. What they are
    conditioned on goes by name through every method, `y=...`, with one row per example.

    Attributes:
        event_dim, latent_dim: D and K.
        decoder_log_var: log σ² of a Gaussian decoder; noise is drawn in its precision and on its device.
    """

    event_dim: int
    latent_dim: int
    decoder_log_var: Tensor

    def sample_posterior(self, x: Tensor, noise: Tensor, **given: Any) -> PosteriorSample:
        """Draws from q(z|x): noise (S, B, K) standard normal."""
        raise NotImplementedError

    def sample_prior(
        self, n: int, *, temperature: float = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """n draws of z from the prior, (n, K), their spread times `temperature`."""
        raise NotImplementedError

    def pixel_log_likelihood(self, x: Tensor, z: Tensor, **given: Any) -> Tensor:
        """log p(x_d|z) of each entry. x (B, ...), z (..., B, K) -> (..., B, D)."""
        raise NotImplementedError

    def _noise(self, samples: int, batch: int, generator: torch.Generator | None) -> Tensor:
        """Standard normal noise of the posterior's draws, (S, B, K)."""
        return normal(samples, batch, self.latent_dim, like=self.decoder_log_var, generator=generator)

    def log_likelihood(self, x: Tensor, z: Tensor, **given: Any) -> Tensor:
        """log p(x|z) summed over D. x (B, ...), z (..., B, K) -> (..., B)."""
        return self.pixel_log_likelihood(x, z, **given).sum(-1)

    def elbo_terms(
        self,
        x: Tensor,
        samples: int = 1,
        generator: torch.Generator | None = None,
        noise: Tensor | None = None,
        **given: Any,
    ) -> ElboTerms:
        """The ELBO's terms: KL in closed form, the reconstruction from `samples` draws of z.

        x (B, ...). `noise` (S, B, K), where given, is used instead of fresh draws. This is one of two
        unbiased estimators; log p(x,z) − log q(z|x) averaged over the same draws (the mean of
        `log_weights`) is the other, and its gradient has more variance.
        """
        if noise is None:
            noise = self._noise(samples, len(x), generator)
        q = self.sample_posterior(x, noise, **given)
        reconstruction = self.log_likelihood(x, q.z, **given).mean(0)
        return ElboTerms(reconstruction, q.kl, q.mean, q.log_var, q.z)

    def elbo(
        self, x: Tensor, samples: int = 1, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        """(B,) estimate of the ELBO, at most log p(x) in expectation. Always β = 1."""
        return self.elbo_terms(x, samples, generator, **given).elbo()

    def log_weights(
        self,
        x: Tensor,
        samples: int,
        generator: torch.Generator | None = None,
        proposal: Literal["encoder", "prior"] = "encoder",
        **given: Any,
    ) -> Tensor:
        """(S, B) log w_s = log p(x|z_s) + log p(z_s) − log q(z_s|x), z_s drawn from q, or from the prior.

        The decoder sees at most `CHUNK` numbers at once, so memory stays bounded for any S and B
        (when no gradient is asked for).
        """
        columns = [self.decoder_log_var.new_zeros(samples, 0, device=x.device)]
        size = max(1, CHUNK // self.event_dim)
        for first in range(0, len(x), size):
            rows = x[first : first + size]
            known = {name: values[first : first + size] for name, values in given.items()}
            parts = []
            for s in chunks(samples, max(1, CHUNK // (len(rows) * self.event_dim))):
                if proposal == "prior":
                    z = self.sample_prior(s * len(rows), generator=generator).unflatten(0, (s, -1))
                    parts.append(self.log_likelihood(rows, z, **known))
                else:
                    q = self.sample_posterior(rows, self._noise(s, len(rows), generator), **known)
                    parts.append(self.log_likelihood(rows, q.z, **known) + q.log_ratio)
            columns.append(torch.cat(parts))
        return torch.cat(columns, dim=1)

    def log_prob_is(
        self,
        x: Tensor,
        samples: int = 500,
        generator: torch.Generator | None = None,
        proposal: Literal["encoder", "prior"] = "encoder",
        **given: Any,
    ) -> Tensor:
        """(B,) log 1/S Σ_s w_s, importance sampling's answer for log p(x).

        Biased low by Jensen, never a plain "estimate of log p(x)" ([GM] §3.3.2 and [BB] leave the bias out):
        with the prior as proposal hopelessly so in many dimensions. `effective_sample_size` of the
        `log_weights` tells how many of the draws counted (`modules.importance`).
        """
        if samples < 1:
            raise ValueError(f"samples is {samples}: it must be at least 1.")
        return self.log_weights(x, samples, generator, proposal, **given).logsumexp(0) - math.log(samples)

    def iwae(
        self, x: Tensor, samples: int = 500, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        """(B,) L_S, the importance-weighted bound: `log_prob_is` with the encoder as proposal.

        In expectation ELBO = L_1 ≤ L_2 ≤ ... → log p(x).
        """
        return self.log_prob_is(x, samples, generator, **given)


def chunks(total: int, size: int) -> Iterator[int]:
    """`total` as pieces of at most `size`."""
    for start in range(0, total, size):
        yield min(size, total - start)
