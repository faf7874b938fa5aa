r"""Priors that are learned: a mixture of Gaussians, and the VampPrior.

    mixture      p(z) = Σ_c π_c N(z; m_c, diag s_c²)                    m, s, π learned
    VampPrior    p(z) = 1/C Σ_c q(z|u_c)                                pseudo-inputs u learned

A better prior than N(0, I) is the aggregated posterior 1/N Σ_n q(z|x_n): for given q it makes the bound as
large as it can be. With all data as pseudo-inputs the VampPrior is it, and overfits; some hundred u_c stand
for them.

The KL to a mixture has no closed form: it is estimated from the same draws as the reconstruction, so KL_j of
a single dimension does not exist, and `kl` has one column, (B, 1).

Shapes: z (..., K); components C; u (C, D).

References: Tomczak & Welling 2018, VAE with a VampPrior, arXiv:1705.07120; Dilokthanakul et al. 2016
(mixture prior for clustering), arXiv:1611.02648; [GM] §3.8.1.
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from modules.base import require
from modules.latent.bounds import PosteriorSample, gaussian_log_prob, reparameterize
from modules.latent.vae import VAE
from modules.noise import normal


class LearnedPriorVAE(VAE):
    """A `VAE` with a mixture as prior.

    Args:
        kind: "mixture" or "vamp".
        components: C.
        spread: standard deviation of the mixture's means, and mean blackness of the pseudo-inputs, at the
            start.
        model: as of `VAE`.

    Example:
        >>> vae = LearnedPriorVAE(event_shape=(64,), latent_dim=2, hidden=[8], components=5)
        >>> vae.prior.log_prob(torch.zeros(3, 2)).shape
        torch.Size([3])
    """

    def __init__(
        self,
        *,
        kind: Literal["mixture", "vamp"] = "mixture",
        components: int = 10,
        spread: float = 0.5,
        **model: Any,
    ) -> None:
        super().__init__(**model)
        if kind not in ("mixture", "vamp"):
            raise ValueError(f"kind is {kind!r}: choose mixture or vamp.")
        require(1, components=components)
        require(0, spread=spread)
        self.kind, self.components = kind, components
        if kind == "mixture":
            self.means = nn.Parameter(spread * torch.randn(components, self.latent_dim))
            self.log_vars = nn.Parameter(torch.zeros(components, self.latent_dim))
            self.logits = nn.Parameter(torch.zeros(components))
        else:
            self.raw_inputs = nn.Parameter(torch.full((components, self.event_dim), spread))
            with torch.no_grad():
                self.raw_inputs.add_(0.1 * torch.randn_like(self.raw_inputs))

    @property
    def pseudo_inputs(self) -> Tensor:
        """u (C, D), in [0, 1]."""
        return self.raw_inputs.clamp(0, 1) if self.likelihood == "bernoulli" else self.raw_inputs

    def mixture(self) -> tuple[Tensor, Tensor, Tensor]:
        """log π (C,), means (C, K) and log variances (C, K) of the components."""
        if self.kind == "mixture":
            return self.logits.log_softmax(0), self.means, self.log_vars
        mean, log_var = self.encode_parameters(self.pseudo_inputs)
        return mean.new_zeros(len(mean)).log_softmax(0), mean, log_var

    @property
    def prior(self) -> MixtureSameFamily:  # type: ignore[override]
        """p(z), with event shape (K,)."""
        log_pi, mean, log_var = self.mixture()
        return MixtureSameFamily(
            Categorical(logits=log_pi), Independent(Normal(mean, (0.5 * log_var).exp()), 1)
        )

    def prior_log_prob(self, z: Tensor) -> Tensor:
        """log p(z), (...,), nats; z (..., K)."""
        log_pi, mean, log_var = self.mixture()
        each = gaussian_log_prob(z.unsqueeze(-2), mean, log_var).sum(-1)  # (..., C)
        return (log_pi + each).logsumexp(-1)

    def responsibilities(self, z: Tensor) -> Tensor:
        """p(c|z) of every component, (..., C): the mixture's clusters."""
        log_pi, mean, log_var = self.mixture()
        return (log_pi + gaussian_log_prob(z.unsqueeze(-2), mean, log_var).sum(-1)).softmax(-1)

    def sample_posterior(self, x: Tensor, noise: Tensor, **given: Any) -> PosteriorSample:
        mean, log_var = self.encode_parameters(x, **given)
        z = reparameterize(mean, log_var, noise)
        log_ratio = self.prior_log_prob(z) - gaussian_log_prob(z, mean, log_var).sum(-1)
        return PosteriorSample(z, log_ratio, -log_ratio.mean(0)[:, None], mean, log_var)

    def sample_prior(
        self, n: int, *, temperature: float = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """A component for each of n draws, then z from it; `temperature` scales the spread inside it."""
        log_pi, mean, log_var = self.mixture()
        pi = log_pi.exp() if generator is None else log_pi.exp().to(generator.device)
        which = torch.multinomial(pi, n, replacement=True, generator=generator).to(mean.device)  # (n,)
        noise = normal(n, self.latent_dim, like=self.decoder_log_var, generator=generator)
        return reparameterize(mean[which], log_var[which], temperature * noise)
