r"""A flow as the posterior of a latent variable model: it bends where a diagonal Gaussian cannot.

    z_0 = μ + σ ⊙ ε,  z_l = f_l(z_{l−1}; context),  log q(z_L) = log q_0(z_0) − Σ_l log |det J_{f_l}(z_{l−1})|
    ELBO = E_ε [log p(x, z_L) − log q(z_L)] ≤ log p(x)

The sign before the sum is that of a generative map ([GM] 3.87; as in 3.82 the other sign gives a "bound"
above log p(x)). Only the fast direction of an IAF is used. A diagonal q leaves at least −½ ln(1 − ρ²) on a
posterior of correlation ρ; one affine autoregressive layer takes it away. With two modes a flow trained
directly may keep one (a gap of ln 2, which importance sampling does not notice); with the likelihood annealed
(`reverse_kl.fit(anneal=…, start=toy.log_prior)`) it finds both.

The diagonal Gaussian itself is a flow: log q(z|x) = log N(ε) − Σ_j log σ_j ([GM] 3.69-74).

Shapes: z (B, D), context (B, E).
References: Rezende & Mohamed 2015, arXiv:1505.05770; Kingma et al. 2016, arXiv:1606.04934; [GM] 3.10, 3.11.2,
3.12.4; [UDL] 16.5.3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.flow.layer import FlowLayer, ValueAndLogDet


def gaussian_start(mean: Tensor, log_sigma: Tensor, noise: Tensor) -> ValueAndLogDet:
    """z_0 = μ + σ ε and log q_0(z_0), summed over the last dimension."""
    log_noise = -0.5 * (noise.square() + math.log(2 * math.pi)).sum(-1)
    return mean + log_sigma.exp() * noise, log_noise - log_sigma.sum(-1)


def flow_posterior(
    flow: FlowLayer, mean: Tensor, log_sigma: Tensor, noise: Tensor, context: Tensor | None = None
) -> ValueAndLogDet:
    """z_L (B, D) and log q(z_L) (B,) for noise ε (B, D)."""
    z, log_q = gaussian_start(mean, log_sigma, noise)
    z, ladj = flow.generate(z, context)
    return z, log_q - ladj


def elbo(
    log_joint: Callable[[Tensor], Tensor],
    flow: FlowLayer,
    mean: Tensor,
    log_sigma: Tensor,
    noise: Tensor,
    context: Tensor | None = None,
) -> Tensor:
    """(B,) terms log p(x, z) − log q(z), whose mean over the noise is the bound."""
    z, log_q = flow_posterior(flow, mean, log_sigma, noise, context)
    return log_joint(z) - log_q


@dataclass(frozen=True)
class Toy:
    """z ~ N(0, I_2), x | z ~ N(g(z), σ²): a posterior whose shape is known and can be drawn.

    Attributes:
        g: (..., 2) -> (...).
        x, sigma: the observation and its noise.
    """

    g: Callable[[Tensor], Tensor]
    x: float
    sigma: float = 0.3

    def log_prior(self, z: Tensor) -> Tensor:
        """log p(z) of z (..., 2)."""
        return -0.5 * z.square().sum(-1) - math.log(2 * math.pi)

    def log_joint(self, z: Tensor) -> Tensor:
        """log p(x, z) of z (..., 2)."""
        off = (self.x - self.g(z)) / self.sigma
        return self.log_prior(z) - 0.5 * off**2 - math.log(self.sigma) - 0.5 * math.log(2 * math.pi)

    def log_evidence(self, reach: float = 8.0, cells: int = 1601) -> float:
        """log p(x) by the rectangle rule."""
        axis = torch.linspace(-reach, reach, cells, dtype=torch.float64)
        rows = [self.log_joint(part) for part in torch.cartesian_prod(axis, axis).split(200_000)]
        return float(torch.cat(rows).logsumexp(0)) + 2 * math.log(2 * reach / (cells - 1))


TOYS = {
    "correlated": Toy(lambda z: z[..., 0] + z[..., 1], 1.0),
    "banana": Toy(lambda z: z[..., 1] + z[..., 0] ** 2 - 1, 0.5),
    "two modes": Toy(lambda z: z[..., 0] ** 2, 1.5),
}
