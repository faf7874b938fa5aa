r"""β-TCVAE: the KL taken apart, and only the dependence between dimensions paid for.

    E KL(q(z|x) ‖ p(z)) = I_q(x; z) + TC + Σ_j KL(q(z_j) ‖ p(z_j)),   TC = KL(q(z) ‖ Π_j q(z_j))
    loss = −reconstruction + α I_q + β TC + γ Σ_j KL_j

q(z) = 1/N Σ_n q(z|x_n) runs over all data; a mini-batch of B stands for them in one of two ways:

    weighted     1/(N B) Σ_i q(z|x_i)             one formula, and a constant off: −log N at the full batch
    stratified   q(z|x) of its own example 1/N, the others the rest          unbiased for q(z)

[UDL] §17.8.4 says the total-correlation VAE maximises mutual information with a subset, which fits InfoGAN:
the cited decomposition keeps I_q at weight 1, as a penalty. And not the posterior becomes "less correlated",
which is diagonal to begin with, but the aggregated one.

Shapes: z, means, log variances (B, K).

References: Chen, Li, Grosse & Duvenaud 2018, Isolating Sources of Disentanglement in VAEs, arXiv:1802.04942;
[UDL] §17.8.4.
"""

import math
from typing import Any, Literal

import torch
from torch import Tensor

from modules.base import require
from modules.latent.aggregated import stratified_weights
from modules.latent.bounds import ElboTerms, gaussian_log_prob
from modules.latent.vae import VAE

Sampler = Literal["weighted", "stratified"]


def batch_log_weights(batch: int, total: int, sampler: Sampler) -> Tensor:
    """log of the share that each example of a mini-batch has in each other's q(z), (B, B), row: whose z."""
    if sampler == "weighted":
        return torch.full((batch, batch), -math.log(batch * total))
    own, other = stratified_weights(batch, total)[:2].tolist()
    weights = torch.full((batch, batch), other, dtype=torch.float64).fill_diagonal_(own)
    return weights.log()


def log_aggregated(z: Tensor, mean: Tensor, log_var: Tensor, log_share: Tensor) -> tuple[Tensor, Tensor]:
    """log q(z_i) (B,) and log q(z_ij) of each dimension (B, K), with shares (B, B) or a constant."""
    each = gaussian_log_prob(z[:, None], mean[None], log_var[None])  # (B of z, B of x, K)
    log_share = log_share.to(each)
    return (each.sum(-1) + log_share).logsumexp(1), (each + log_share[..., None]).logsumexp(1)


class TCVAE(VAE):
    """A `VAE` with a price for each part of the KL.

    Args:
        alpha, beta, gamma: weights of I_q, TC and the dimension-wise KL.
        sampler: "weighted" or "stratified".
        data_size: N, the number of training examples.
        model: as of `VAE`.

    Example:
        >>> TCVAE(event_shape=(64,), latent_dim=4, hidden=[8], beta=6.0, data_size=1297).beta
        6.0
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        gamma: float = 1.0,
        sampler: Sampler = "stratified",
        data_size: int = 50_000,
        **model: Any,
    ) -> None:
        super().__init__(**model)
        if sampler not in ("weighted", "stratified"):
            raise ValueError(f"sampler is {sampler!r}: choose weighted or stratified.")
        if self.free_bits:
            raise ValueError("Its three terms take the place of the KL: leave free_bits out.")
        require(0, alpha=alpha, gamma=gamma)
        require(1, data_size=data_size)
        self.alpha, self.gamma = alpha, gamma
        self.sampler, self.data_size = sampler, data_size

    def kl_split(self, z: Tensor, mean: Tensor, log_var: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Estimates of I_q, TC and Σ_j KL_j from one mini-batch, (B,) each; their sum is exact."""
        log_share = batch_log_weights(len(z), max(self.data_size, len(z)), self.sampler)
        joint, marginals = log_aggregated(z, mean, log_var, log_share)
        product = marginals.sum(1)
        own = gaussian_log_prob(z, mean, log_var).sum(1)
        prior = gaussian_log_prob(z, 0 * z, 0 * z).sum(1)
        return own - joint, joint - product, product - prior

    def objective(self, x: Tensor, parts: ElboTerms, **given: Any) -> Tensor:
        if len(x) < 2:  # alone, an example tells nothing of the others
            return super().objective(x, parts, **given)
        information, correlation, marginal = self.kl_split(parts.z[0], parts.mean, parts.log_var)
        price = self.alpha * information + self.current_weight * correlation + self.gamma * marginal
        return (price - parts.reconstruction).mean()
