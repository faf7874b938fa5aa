r"""Variational autoencoder: a deep latent variable model, trained by a lower bound on its likelihood.

    p(x) = ∫ p(z) p(x|z) dz,   p(z) = N(0, I_K),   p(x|z) = Bernoulli(f(z))  or  N(f(z), σ² I_D)

The encoder answers every x with a Gaussian approximation q(z|x) = N(μ(x), diag σ²(x)) to its posterior, and

    log p(x)  ≥  ELBO(x) = E_q log p(x|z) − KL(q(z|x) ‖ p(z))        see `modules.latent.bounds`

Shapes: x (B, *event_shape), flattened to (B, D); z (B, K); several samples in front: (S, B, K).
Likelihoods are summed over D, KL terms over K, in nats. Encoders output (μ, log σ²).

References:
    Kingma & Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114; [GM] §3.7-3.10; [UDL] §17.3-17.7.
    Burda, Grosse & Salakhutdinov 2016, Importance Weighted Autoencoders, arXiv:1509.00519; [GM] §3.11.3.
    Higgins et al. 2017, β-VAE; [UDL] §17.8.4.
    KL annealing and free bits: see `collapse`.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.distributions import Independent, Normal
from torchmetrics import Metric

from modules.base import Mean, Module, Split, in_rows, require
from modules.former import former
from modules.latent.bounds import (
    ElboTerms,
    PosteriorSample,
    VariationalBounds,
    bernoulli_log_prob,
    gaussian_kl,
    gaussian_log_prob,
    reparameterize,
)  # fmt: skip
from modules.latent.collapse import ActiveUnits, free_bits, kl_weight
from modules.mlp import mlp
from modules.noise import bernoulli, normal
from modules.trace import Step, Trace

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "silu": nn.SiLU,
    "gelu": nn.GELU,
    "softplus": nn.Softplus,
}


class AnyLeading(nn.Module):
    """A network of flat batches (N, K) -> (N, ...), for any leading dimensions: (..., K) -> (..., D)."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, z: Tensor) -> Tensor:
        out = self.network(z.reshape(-1, z.shape[-1]))  # (N, K) -> (N, ...)
        return out.reshape(*z.shape[:-1], math.prod(out.shape[1:]))


class VAE(VariationalBounds, Module):
    """VAE with multilayer perceptrons and a Bernoulli or Gaussian decoder.

    In cards and logs, bounds are losses like `nll`: `test/elbo` = −ELBO and `test/iwae` = −L_S are
    both positive for binary data and both at least the true NLL. `kl` and `rec` split `elbo`; `active`
    counts the dimensions in use.

    Subclasses have other networks (`networks`), another likelihood (`pixel_log_likelihood`), another
    posterior (`sample_posterior`), another prior (`sample_prior`) or another objective, and share the rest.
    What they are conditioned on goes by name through every method, `y=...`, with one row per example.

    Args:
        event_shape: shape of one x; D is its product.
        latent_dim: K.
        hidden: widths of the encoder's hidden layers; the decoder has them in reverse.
        activation: "relu", "tanh", "silu", "gelu" or "softplus".
        decoder: "bernoulli" (x binary) or "gaussian" (one σ for all of x).
        sigma: a Gaussian decoder's noise σ; where it is learned, its start.
        learn_sigma: learn σ (its optimum is the root mean squared error per entry).
        beta: weight of the KL in training. What is reported is the bound, at β = 1.
        warmup_epochs: epochs over which the weight rises from 0 to β, against posterior collapse.
        warmup_cycles: how often it rises; see `kl_weight`.
        free_bits: λ, nats per dimension that training does not pay for; see `collapse.free_bits`.
        free_bits_per: "batch" or "datum".
        iwae_samples: S of `test/iwae`, which stands beside it as `test/iwae_samples`.

    Example:
        >>> vae = VAE(event_shape=(784,), latent_dim=20)
        >>> vae.num_parameters
        652824
    """

    MEASURES: tuple[str, ...] = ("elbo", "rec", "kl", "iwae", "iwae_samples")

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
        warmup_cycles: int = 1,
        free_bits: float = 0.0,
        free_bits_per: Literal["batch", "datum"] = "batch",
        **training: Any,
    ) -> None:
        require(1, latent_dim=latent_dim)
        metrics: dict[str, Metric] = {name: Mean() for name in self.MEASURES}
        super().__init__(_measures=metrics | {"active": ActiveUnits(latent_dim)}, **training)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation is {activation!r}: choose one of {', '.join(ACTIVATIONS)}.")
        if decoder not in ("bernoulli", "gaussian"):
            raise ValueError(f"decoder is {decoder!r}: choose bernoulli or gaussian.")
        if not 0 < sigma < math.inf or not 0 <= beta < math.inf:
            raise ValueError(f"sigma is {sigma} and beta is {beta}: sigma must be above 0, beta not below 0.")
        if decoder == "bernoulli" and (sigma != 1 or learn_sigma):
            raise ValueError("A Bernoulli decoder has no noise: leave sigma and learn_sigma out.")
        require(1, event_shape=event_shape, hidden=[1, *hidden], iwae_samples=iwae_samples)
        require(1, warmup_cycles=warmup_cycles)
        require(0, warmup_epochs=warmup_epochs, free_bits=free_bits)
        if free_bits_per not in ("batch", "datum"):
            raise ValueError(f"free_bits_per is {free_bits_per!r}: choose batch or datum.")
        self.event_shape, self.latent_dim = tuple(event_shape), latent_dim
        self.event_dim = math.prod(self.event_shape)
        self.likelihood = decoder
        self.beta, self.warmup_epochs, self.iwae_samples = beta, warmup_epochs, iwae_samples
        self.warmup_cycles, self.free_bits, self.free_bits_per = warmup_cycles, free_bits, free_bits_per
        self.encoder, self.decoder = self.networks(list(hidden), ACTIVATIONS[activation])
        log_var = torch.tensor(2 * math.log(sigma))
        if decoder == "gaussian" and learn_sigma:
            self.decoder_log_var = nn.Parameter(log_var)
        else:
            self.register_buffer("decoder_log_var", log_var, persistent=False)

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        """Encoder x (B, D) -> (μ, log σ²) (B, 2K), and decoder z (..., K) -> logits or mean (..., D)."""
        encoder = mlp([self.event_dim, *hidden, 2 * self.latent_dim], activation)
        return encoder, mlp([self.latent_dim, *reversed(hidden), self.event_dim], activation)

    def extra_repr(self) -> str:
        return f"event_shape={self.event_shape}, latent_dim={self.latent_dim}, decoder={self.likelihood!r}"

    # --- Surfaces: Latent -----------------------------------------------------------------------

    @property
    def prior(self) -> Independent:
        """p(z) = N(0, I_K)."""
        zeros = self.decoder_log_var.new_zeros(self.latent_dim)
        return Independent(Normal(zeros, torch.ones_like(zeros)), 1)

    def flatten(self, x: Tensor) -> Tensor:
        """x (B, ...) -> (B, D).

        Raises:
            ValueError: its examples have another size.
        """
        flat = in_rows(x)
        if flat.shape[1] != self.event_dim:
            raise ValueError(
                f"x has {flat.shape[1]} numbers per example, the model {self.event_dim} {self.event_shape}."
            )
        return flat

    def encode_parameters(self, x: Tensor, **given: Any) -> tuple[Tensor, Tensor]:
        """x (B, ...) -> μ (B, K), log σ² (B, K) of q(z|x)."""
        mean, log_var = self.encoder(self.flatten(x)).chunk(2, dim=-1)
        return mean, log_var

    def posterior(self, x: Tensor, **given: Any) -> Independent:
        """q(z|x), a distribution with batch shape (B,) and event shape (K,)."""
        mean, log_var = self.encode_parameters(x, **given)
        return Independent(Normal(mean, (0.5 * log_var).exp()), 1)

    def encode(self, x: Tensor, **given: Any) -> Tensor:
        """x (B, ...) -> z (B, K), the mean of q(z|x)."""
        return self.encode_parameters(x, **given)[0]

    def outputs(self, z: Tensor, **given: Any) -> Tensor:
        """Outputs of the decoder for z (..., K): logits or mean, (..., D)."""
        return cast(Tensor, self.decoder(z))

    def decode(self, z: Tensor, **given: Any) -> Tensor:
        """z (..., K) -> mean of p(x|z), (..., *event_shape): for Bernoulli the probability of each 1."""
        outputs = self.outputs(z, **given)
        mean = outputs.sigmoid() if self.likelihood == "bernoulli" else outputs
        return mean.reshape(*z.shape[:-1], *self.event_shape)

    # --- Bounds ---------------------------------------------------------------------------------

    def pixel_log_likelihood(self, x: Tensor, z: Tensor, **given: Any) -> Tensor:
        """log p(x_d|z) of each entry. x (B, ...), z (..., B, K) -> (..., B, D)."""
        flat, outputs = in_rows(x), self.outputs(z, **given)  # (B, D), (..., B, D)
        if self.likelihood == "bernoulli":
            return bernoulli_log_prob(flat, outputs)
        return gaussian_log_prob(flat, outputs, self.decoder_log_var)

    def sample_posterior(self, x: Tensor, noise: Tensor, **given: Any) -> PosteriorSample:
        """Draws from q(z|x): noise (S, B, K) standard normal."""
        mean, log_var = self.encode_parameters(x, **given)
        z = reparameterize(mean, log_var, noise)
        # log p(z) − log q(z|x): the 2π cancels, and (z − μ)/σ is the noise itself
        log_ratio = 0.5 * (noise.square() + log_var - z.square()).sum(-1)
        return PosteriorSample(z, log_ratio, gaussian_kl(mean, log_var), mean, log_var)

    # --- Sampling ----------------------------------------------------------------------

    @former("n", "temperature", "mean", "generator", "seed")
    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        mean: bool = False,
    ) -> Tensor:
        """n draws of x, (n, *event_shape): z from the prior, then x from p(x|z).

        Args:
            temperature: factor of the prior's standard deviation.
            mean: leave the decoder's noise out, which looks better and is not a sample of the model
                ([UDL] §17.8.2).
        """
        return self._trace(n, temperature, mean, generator).result

    @former("n", "temperature", "mean", "generator", "seed")
    def sample_trace(
        self,
        n: int = 1,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        mean: bool = False,
    ) -> Trace:
        """`sample` as steps: prior draw, every layer of the decoder, mean of x, x."""
        return self._trace(n, temperature, mean, generator)

    def sample_prior(
        self, n: int, *, temperature: float = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        return temperature * normal(n, self.latent_dim, like=self.decoder_log_var, generator=generator)

    def _trace(
        self, n: int, temperature: float, mean: bool, generator: torch.Generator | None, **given: Any
    ) -> Trace:
        with torch.no_grad():
            z = self.sample_prior(n, temperature=temperature, generator=generator)
            steps = [Step(f"Draw z from the prior, {z.shape[-1]} numbers.", {"z": z}, r"z\sim p(z)")]
            steps += self.layer_steps(z, **given)
            x_mean = self.decode(z, **given)
            steps.append(Step("The decoder answers with the mean of x.", {"mean": x_mean}, r"f(z)"))
            if not mean:
                steps.append(self.observation_step(z, x_mean, generator, **given))
        return Trace(steps, steps[-1].values["mean" if mean else "x"])

    def layer_steps(self, z: Tensor, **given: Any) -> list[Step]:
        """A step for each hidden layer of the decoder, where it is a chain of layers."""
        steps: list[Step] = []
        h = z
        for layer in list(self.decoder)[:-1] if isinstance(self.decoder, nn.Sequential) else []:
            h = layer(h)
            if not isinstance(layer, nn.Linear):
                caption = f"Hidden layer {len(steps) + 1}: {h.shape[-1]} units."
                steps.append(Step(caption, {"h": h}, r"h=a(Wh+b)"))
        return steps

    def observation_step(
        self, z: Tensor, x_mean: Tensor, generator: torch.Generator | None, **given: Any
    ) -> Step:
        """The draw of x from p(x|z), whose mean is known."""
        if self.likelihood == "bernoulli":
            x = bernoulli(x_mean, generator)
            return Step("Toss one coin a pixel.", {"x": x}, r"x_d\sim\mathrm{Bernoulli}(f_d(z))")
        sigma = (0.5 * self.decoder_log_var).exp()
        x = x_mean + sigma * normal(*x_mean.shape, like=self.decoder_log_var, generator=generator)
        return Step(
            "Add the decoder's noise.", {"x": x}, rf"x=f(z)+\sigma\varepsilon,\ \sigma={float(sigma):.3f}"
        )

    # --- Training -------------------------------------------------------------------------------

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        """x of a batch, and what the model is conditioned on."""
        return (batch[0] if isinstance(batch, (tuple, list)) else batch), {}

    def step(self, batch: Any, split: Split) -> Tensor:
        x, given = self.unpack(batch)
        parts = self.elbo_terms(x, **given)
        self.log_metric(split, "elbo", -parts.elbo())
        self.log_metric(split, "rec", -parts.reconstruction)
        self.log_metric(split, "kl", parts.kl.sum(-1))
        self.log_metric(split, "active", parts.mean)
        if split == "test":  # S decoder passes per example: in the test alone
            self.log_metric(split, "iwae", -self.iwae(x, self.iwae_samples, **given))
            self.log_metric(split, "iwae_samples", self.iwae_samples)
        return self.objective(x, parts, **given) if split == "train" else -parts.elbo().mean()

    @property
    def current_weight(self) -> float:
        """The KL's weight in this epoch."""
        return kl_weight(self.beta, self.current_epoch, self.warmup_epochs, self.warmup_cycles)

    def objective(self, x: Tensor, parts: ElboTerms, **given: Any) -> Tensor:
        """Loss of training, a scalar: −reconstruction + weight · max(free bits, KL)."""
        kl = free_bits(parts.kl, self.free_bits, self.free_bits_per)
        return self.current_weight * kl - parts.reconstruction.mean()
