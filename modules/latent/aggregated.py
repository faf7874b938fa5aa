r"""The aggregated posterior: the codes of all data, as one distribution.

    q(z) = 1/N Σ_n q(z|x_n),    pick n, then draw from q(z|x_n)
    mean = average of μ_n,      covariance = average of Σ_n + covariance of μ_n
    E KL(q(z|x) ‖ p(z)) = I_q(x; z) + KL(q(z) ‖ Π_j q(z_j)) + Σ_j KL(q(z_j) ‖ p(z_j))
                          information     total correlation       dimension by dimension

Samples of the prior miss it where it is not the prior; samples from it are what a decoder was trained on.
β-VAE weighs the whole KL, β-TCVAE the total correlation alone: with weight 1 on I_q, which is a penalty
([UDL] §17.8.4 says that it maximises an information; that is InfoGAN). It is q(z) whose dimensions are to
be independent: each q(z|x) is diagonal already.

Over a mini-batch of M of N data, log q(z) is estimated by weighing each by 1/(NM): at the full batch it is
the exact one less log N, a known offset. Stratified sampling gives z's own datum the weight 1/N and the M −
1 others the rest, and averaged over the choice of these it is exact.

Shapes: μ, log σ² (N, K); z (S, K); log densities (S,), nats.

References: Hoffman, Johnson 2016; Chen, Li, Grosse, Duvenaud 2018, arXiv:1802.04942 (appendix C); Higgins
et al. 2017; [UDL] §17.8.2, 17.8.4; [GM] problem 3.1(a).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.noise import normal

LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True)
class AggregatedPosterior:
    """q(z) of N diagonal Gaussians: `mean` μ and `log_var` log σ², (N, K)."""

    mean: Tensor
    log_var: Tensor

    def sample(self, n: int, *, generator: torch.Generator | None = None) -> Tensor:
        """Codes (n, K): each of a datum picked at random."""
        chosen = torch.randint(len(self.mean), (n,), generator=generator)
        noise = normal(n, self.mean.shape[1], like=self.mean, generator=generator, dtype=torch.float64)
        return self.mean[chosen] + (0.5 * self.log_var[chosen]).exp() * noise

    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean (K,) and covariance (K, K), exact."""
        mean = self.mean.mean(0)
        centred = self.mean - mean
        return mean, self.log_var.exp().mean(0).diag() + centred.T @ centred / len(self.mean)

    def log_conditionals(self, z: Tensor) -> Tensor:
        """log q(z_sj | x_n), (S, N, K)."""
        squares = (z[:, None] - self.mean).square() * (-self.log_var).exp()
        return -0.5 * (LOG_2PI + self.log_var + squares)

    def log_prob(self, z: Tensor) -> Tensor:
        """log q(z), (S,), over all N."""
        return self.log_conditionals(z).sum(2).logsumexp(1) - math.log(len(self.mean))

    def log_marginals(self, z: Tensor) -> Tensor:
        """log q(z_j) of each dimension, (S, K)."""
        return self.log_conditionals(z).logsumexp(1) - math.log(len(self.mean))

    def decomposition(
        self, samples: int = 1000, generator: torch.Generator | None = None
    ) -> dict[str, Tensor]:
        """The three parts of E KL(q(z|x) ‖ N(0, I)), by `samples` draws; `rate` is their sum."""
        chosen = torch.randint(len(self.mean), (samples,), generator=generator)
        noise = normal(samples, self.mean.shape[1], like=self.mean, generator=generator, dtype=torch.float64)
        z = self.mean[chosen] + (0.5 * self.log_var[chosen]).exp() * noise
        squares = (z - self.mean[chosen]).square() * (-self.log_var[chosen]).exp()
        own = -0.5 * (LOG_2PI + self.log_var[chosen] + squares).sum(1)
        each = self.log_conditionals(z)
        joint, margins = (part.logsumexp(1) - math.log(len(self.mean)) for part in (each.sum(2), each))
        prior = -0.5 * (LOG_2PI + z.square())
        return {
            "information": (own - joint).mean(),
            "total_correlation": (joint - margins.sum(1)).mean(),
            "dimensions": (margins - prior).mean(0),
            "rate": (own - prior.sum(1)).mean(),
        }


def weighted_log_q(mean: Tensor, log_var: Tensor, z: Tensor, data: int) -> Tensor:
    """log q(z) (S,) by a mini-batch of M codes out of `data` = N: log 1/(NM) Σ_m q(z|x_m)."""
    batch = AggregatedPosterior(mean, log_var)
    return batch.log_conditionals(z).sum(2).logsumexp(1) - math.log(data * len(mean))


def stratified_weights(batch: int, data: int) -> Tensor:
    """Weights (M,) of z's own datum, first, and of the others of a mini-batch of M of N; their sum is 1."""
    if batch < 2:
        raise ValueError("A stratified mini-batch needs at least 2 data.")
    own = 1 / data
    return torch.tensor([own] + [(1 - own) / (batch - 1)] * (batch - 1), dtype=torch.float64)


def stratified_q(mean: Tensor, log_var: Tensor, z: Tensor, data: int) -> Tensor:
    """q(z) (S,) by a mini-batch whose first datum is the one that z was drawn for; the others are any."""
    each = AggregatedPosterior(mean, log_var).log_conditionals(z).sum(2).exp()
    return each @ stratified_weights(len(mean), data).to(each)


def gaussian_decomposition(noise: Tensor, covariance: Tensor) -> dict[str, Tensor]:
    """The parts for a code that is normal as a whole: z = A x + noise of diagonal variances, x normal.

    Args:
        noise: its variances (K,).
        covariance: of q(z) = N(0, C), (K, K).
    """
    variances = covariance.diagonal()
    log_det = torch.logdet(covariance)
    return {
        "information": 0.5 * (log_det - noise.log().sum()),
        "total_correlation": 0.5 * (variances.log().sum() - log_det),
        "dimensions": 0.5 * (variances - 1 - variances.log()),
    }
