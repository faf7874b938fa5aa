r"""Variational autoencoder: a deep latent variable model, trained by a lower bound on its likelihood.

    p(x) = ∫ p(z) p(x|z) dz,   p(z) = N(0, I_K),   p(x|z) = Bernoulli(f(z))  or  N(f(z), σ² I_D)

The encoder answers every x with a Gaussian guess q(z|x) = N(μ(x), diag σ²(x)) at its posterior, and

    log p(x)  ≥  L_S(x)  = E log 1/S Σ_s p(x|z_s) p(z_s) / q(z_s|x)        (importance weighted)
              ≥  ELBO(x) = E_q log p(x|z) − KL(q(z|x) ‖ p(z))  = L_1(x)

Shapes: x (B, *event_shape), flattened to (B, D); z (B, K); several samples in front: (S, B, K).
Likelihoods are summed over D, KL terms over K, in nats. Encoders output (μ, log σ²).

References:
    Kingma & Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114; [GM] §3.7-3.10; [UDL] §17.3-17.7.
    Burda, Grosse & Salakhutdinov 2016, Importance Weighted Autoencoders, arXiv:1509.00519; [GM] §3.11.3.
    Higgins et al. 2017, β-VAE; [UDL] §17.8.4.
    Bowman et al. 2016, KL annealing, arXiv:1511.06349; [GM] §3.11.1.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Independent, Normal

from modules.base import Mean, Module, Split, require
from modules.trace import Step, Trace

LOG_2PI = math.log(2 * math.pi)
CHUNK = 1 << 22  # most numbers (samples × batch × D) that one pass through the decoder may make

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "silu": nn.SiLU,
    "gelu": nn.GELU,
    "softplus": nn.Softplus,
}


# --- Building blocks ----------------------------------------------------------------------------


def gaussian_kl(mean: Tensor, log_var: Tensor) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) of every dimension, in nats; same shape as `mean`.

    ½ (σ² + μ² − 1 − log σ²): [UDL] 17.24 and [GM] 3.65, where the sum runs over the K latent
    dimensions ([GM] prints d, the size of the data). [BB] Ex. 6.8 has the sign of log σ² wrong.
    """
    return 0.5 * (log_var.exp() + mean.square() - 1 - log_var)


def gaussian_log_prob(x: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """log N(x; μ, σ²) of every dimension, with the log 2πσ² that squared error alone forgets."""
    return -0.5 * (LOG_2PI + log_var + (x - mean).square() * (-log_var).exp())


def reparameterize(mean: Tensor, log_var: Tensor, noise: Tensor) -> Tensor:
    """z = μ + σ ε: the noise comes from outside, so gradients reach μ and σ ([UDL] §17.7)."""
    return mean + (0.5 * log_var).exp() * noise  # [BB] Ex. 6.8 prints ε σ²: the scale is σ


def kl_weight(beta: float, epoch: int, warmup_epochs: int) -> float:
    """β of this epoch: rises linearly from 0 in epoch 0 to β in epoch `warmup_epochs`, then stays."""
    return beta if warmup_epochs <= 0 else beta * min(1.0, epoch / warmup_epochs)


def mlp(sizes: Sequence[int], activation: type[nn.Module]) -> nn.Sequential:
    """Linear layers of the given sizes with an activation after each but the last."""
    layers: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers.append(nn.Linear(inputs, outputs))
        if i < len(sizes) - 2:
            layers.append(activation())
    return nn.Sequential(*layers)


@dataclass(frozen=True)
class ElboParts:
    """The ELBO split into what it sums, per example.

    Attributes:
        reconstruction: (B,) E_q log p(x|z), estimated from the samples.
        kl: (B, K) KL(q(z_j|x) ‖ p(z_j)) of each latent dimension, exact.
        mean, log_var: (B, K) of q(z|x).
    """

    reconstruction: Tensor
    kl: Tensor
    mean: Tensor
    log_var: Tensor

    def elbo(self, beta: float = 1.0) -> Tensor:
        """(B,) reconstruction − β KL. A bound on log p(x) for β ≥ 1 alone: below 1 it can exceed it."""
        return self.reconstruction - beta * self.kl.sum(-1)


# --- The model ----------------------------------------------------------------------------------


class VAE(Module):
    """VAE with multilayer perceptrons and a Bernoulli or Gaussian decoder.

    In cards and logs, bounds are losses like `nll`: `test/elbo` = −ELBO and `test/iwae` = −L_S are
    both positive for binary data and both at least the true NLL. `kl` and `rec` split `elbo`.

    Args:
        event_shape: shape of one x; D is its product.
        latent_dim: K.
        hidden: widths of the encoder's hidden layers; the decoder has them in reverse.
        activation: "relu", "tanh", "silu", "gelu" or "softplus".
        decoder: "bernoulli" (x binary) or "gaussian" (one σ for all of x).
        sigma: decoder noise σ; where it is learned, its start.
        learn_sigma: learn σ (its optimum is the root mean squared error per entry).
        beta: weight of the KL in training. What is reported is the bound, at β = 1.
        warmup_epochs: epochs over which the weight rises from 0 to β, against posterior collapse.
        iwae_samples: S of `test/iwae`, which stands beside it as `test/iwae_samples`.

    Example:
        >>> vae = VAE(event_shape=(784,), latent_dim=20)
        >>> vae.num_parameters
        652824
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        latent_dim: int = 20,
        hidden: Sequence[int] = (400,),
        activation: str = "relu",
        decoder: Literal["bernoulli", "gaussian"] = "bernoulli",
        sigma: float = 1.0,
        learn_sigma: bool = False,
        beta: float = 1.0,
        warmup_epochs: int = 0,
        iwae_samples: int = 500,
        **training: Any,
    ) -> None:
        names = ("elbo", "rec", "kl", "iwae", "iwae_samples")
        super().__init__(metrics={name: Mean() for name in names}, **training)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation is {activation!r}: choose one of {', '.join(ACTIVATIONS)}.")
        if decoder not in ("bernoulli", "gaussian"):
            raise ValueError(f"decoder is {decoder!r}: choose bernoulli or gaussian.")
        if not 0 < sigma < math.inf or not 0 <= beta < math.inf:
            raise ValueError(f"sigma is {sigma} and beta is {beta}: sigma must be above 0, beta not below 0.")
        require(
            1, event_shape=event_shape, hidden=[1, *hidden], latent_dim=latent_dim, iwae_samples=iwae_samples
        )
        require(0, warmup_epochs=warmup_epochs)
        self.event_shape, self.latent_dim = tuple(event_shape), latent_dim
        self.event_dim = math.prod(self.event_shape)
        self.likelihood = decoder
        self.beta, self.warmup_epochs, self.iwae_samples = beta, warmup_epochs, iwae_samples
        layer, hidden = ACTIVATIONS[activation], list(hidden)
        self.encoder = mlp([self.event_dim, *hidden, 2 * latent_dim], layer)  # -> (μ, log σ²)
        self.decoder = mlp([latent_dim, *reversed(hidden), self.event_dim], layer)  # -> logits or mean
        log_var = torch.tensor(2 * math.log(sigma))
        if decoder == "gaussian" and learn_sigma:
            self.decoder_log_var = nn.Parameter(log_var)
        else:
            self.register_buffer("decoder_log_var", log_var, persistent=False)

    # --- Surfaces: Latent -----------------------------------------------------------------------

    @property
    def prior(self) -> Independent:
        """p(z) = N(0, I_K)."""
        zeros = self.decoder_log_var.new_zeros(self.latent_dim)
        return Independent(Normal(zeros, torch.ones_like(zeros)), 1)

    def encode_parameters(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, ...) -> μ (B, K), log σ² (B, K) of q(z|x)."""
        flat = x.reshape(len(x), -1)  # (B, D)
        if flat.shape[1] != self.event_dim:
            raise ValueError(
                f"x has {flat.shape[1]} numbers an example, the model {self.event_dim} {self.event_shape}."
            )
        mean, log_var = self.encoder(flat).chunk(2, dim=-1)
        return mean, log_var

    def posterior(self, x: Tensor) -> Independent:
        """q(z|x), a distribution with batch shape (B,) and event shape (K,)."""
        mean, log_var = self.encode_parameters(x)
        return Independent(Normal(mean, (0.5 * log_var).exp()), 1)

    def encode(self, x: Tensor) -> Tensor:
        """x (B, ...) -> z (B, K), the mean of q(z|x)."""
        return self.encode_parameters(x)[0]

    def decode(self, z: Tensor) -> Tensor:
        """z (..., K) -> mean of p(x|z), (..., *event_shape): for Bernoulli the probability of each 1."""
        outputs = self.decoder(z)
        mean = outputs.sigmoid() if self.likelihood == "bernoulli" else outputs
        return mean.reshape(*z.shape[:-1], *self.event_shape)

    # --- Bounds ---------------------------------------------------------------------------------

    def log_likelihood(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x|z) summed over D. x (B, ...), z (..., B, K) -> (..., B)."""
        return self.pixel_log_likelihood(x, z).sum(-1)

    def pixel_log_likelihood(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x_d|z) of each entry. x (B, ...), z (..., B, K) -> (..., B, D)."""
        flat, outputs = x.reshape(len(x), -1), self.decoder(z)  # (B, D), (..., B, D)
        if self.likelihood == "bernoulli":
            # x·l − log(1 + eˡ), l the logit: no probability is formed, so nothing underflows
            target = flat.expand_as(outputs)
            return -F.binary_cross_entropy_with_logits(outputs, target, reduction="none")
        return gaussian_log_prob(flat, outputs, self.decoder_log_var)

    def elbo_parts(
        self,
        x: Tensor,
        samples: int = 1,
        generator: torch.Generator | None = None,
        noise: Tensor | None = None,
    ) -> ElboParts:
        """The ELBO's parts: KL in closed form, the reconstruction from `samples` draws of z.

        x (B, ...). `noise` (S, B, K), where given, is used instead of fresh draws. This is one of two
        unbiased estimators; log p(x,z) − log q(z|x) averaged over the same draws (the mean of
        `log_weights`) is the other, and its gradient has more variance.
        """
        mean, log_var = self.encode_parameters(x)
        if noise is None:
            noise = self._noise((samples, *mean.shape), generator)  # (S, B, K)
        z = reparameterize(mean, log_var, noise)
        return ElboParts(self.log_likelihood(x, z).mean(0), gaussian_kl(mean, log_var), mean, log_var)

    def elbo(self, x: Tensor, samples: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """(B,) estimate of the ELBO, at most log p(x) in expectation. Always β = 1."""
        return self.elbo_parts(x, samples, generator).elbo()

    def log_weights(self, x: Tensor, samples: int, generator: torch.Generator | None = None) -> Tensor:
        """(S, B) log w_s = log p(x|z_s) + log p(z_s) − log q(z_s|x), with z_s drawn from q(z|x).

        The decoder sees at most `CHUNK` numbers at once, so memory stays bounded for any S and B
        (when no gradient is asked for).
        """
        columns = []
        for rows in x.split(max(1, CHUNK // self.event_dim)):
            mean, log_var = self.encode_parameters(rows)
            parts = []
            for s in chunks(samples, max(1, CHUNK // (len(rows) * self.event_dim))):
                noise = self._noise((s, *mean.shape), generator)  # (s, b, K)
                z = reparameterize(mean, log_var, noise)
                # log p(z) − log q(z|x): the 2π cancels, and (z − μ)/σ is the noise itself
                log_ratio = 0.5 * (noise.square() + log_var - z.square()).sum(-1)
                parts.append(self.log_likelihood(rows, z) + log_ratio)
            columns.append(torch.cat(parts))
        return torch.cat(columns, dim=1)

    def iwae(self, x: Tensor, samples: int = 500, generator: torch.Generator | None = None) -> Tensor:
        """(B,) L_S = log 1/S Σ_s w_s: the importance-weighted bound with `samples` draws of the encoder.

        In expectation ELBO = L_1 ≤ L_2 ≤ ... → log p(x). Biased low by Jensen, never a plain
        "estimate of log p(x)" ([GM] §3.3.2 and [BB] leave the bias out).
        """
        if samples < 1:
            raise ValueError(f"samples is {samples}: it must be at least 1.")
        return self.log_weights(x, samples, generator).logsumexp(0) - math.log(samples)

    # --- Surfaces: Sampler ----------------------------------------------------------------------

    def sample(
        self,
        n: int,
        temperature: float = 1.0,
        mean: bool = False,
        generator: torch.Generator | None = None,
        seed: int | None = None,
    ) -> Tensor:
        """n draws of x, (n, *event_shape): z from the prior, then x from p(x|z), or its mean.

        `temperature` scales the prior's standard deviation; `mean` leaves the decoder's noise out,
        which looks better and is not a sample of the model ([UDL] §17.8.2).
        """
        return self.sample_trace(n, temperature, mean, generator, seed).result

    def sample_trace(
        self,
        n: int = 1,
        temperature: float = 1.0,
        mean: bool = False,
        generator: torch.Generator | None = None,
        seed: int | None = None,
    ) -> Trace:
        """`sample` as steps: prior draw, every layer of the decoder, mean of x, x."""
        if seed is not None:
            generator = torch.Generator(self.device).manual_seed(seed)
        with torch.no_grad():
            z = temperature * self._noise((n, self.latent_dim), generator)
            steps = [Step(f"Draw z from the prior, {self.latent_dim} numbers.", {"z": z}, r"z\sim N(0,I)")]
            h = z
            for i, layer in enumerate(list(self.decoder)[:-1]):
                h = layer(h)
                if not isinstance(layer, nn.Linear):
                    steps.append(
                        Step(f"Hidden layer {i // 2 + 1}: {h.shape[-1]} units.", {"h": h}, r"h=a(Wh+b)")
                    )
            x_mean = self.decode(z)
            steps.append(Step("The decoder answers with the mean of x.", {"mean": x_mean}, r"f(z)"))
            x = x_mean
            if not mean and self.likelihood == "bernoulli":
                x = torch.bernoulli(x_mean, generator=generator)
                steps.append(Step("Toss one coin a pixel.", {"x": x}, r"x_d\sim\mathrm{Bernoulli}(f_d(z))"))
            elif not mean:
                sigma = (0.5 * self.decoder_log_var).exp()
                x = x_mean + sigma * self._noise(x_mean.shape, generator)
                equation = rf"x=f(z)+\sigma\varepsilon,\ \sigma={float(sigma):.3f}"
                steps.append(Step("Add the decoder's noise.", {"x": x}, equation))
        return Trace(steps, x)

    def _noise(self, shape: Sequence[int], generator: torch.Generator | None) -> Tensor:
        """Standard normal noise on the model's device, in its precision."""
        return torch.randn(*shape, generator=generator, device=self.device, dtype=self.dtype)

    # --- Training -------------------------------------------------------------------------------

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, (tuple, list)) else batch
        parts = self.elbo_parts(x)
        self.log_metric(split, "elbo", -parts.elbo())
        self.log_metric(split, "rec", -parts.reconstruction)
        self.log_metric(split, "kl", parts.kl.sum(-1))
        if split == "test":  # S decoder passes an example: in the test alone
            self.log_metric(split, "iwae", -self.iwae(x, self.iwae_samples))
            self.log_metric(split, "iwae_samples", self.iwae_samples)
        beta = kl_weight(self.beta, self.current_epoch, self.warmup_epochs) if split == "train" else 1.0
        return -parts.elbo(beta).mean()


def chunks(total: int, size: int) -> Iterator[int]:
    """`total` as pieces of at most `size`."""
    for start in range(0, total, size):
        yield min(size, total - start)
