r"""FactorVAE: total correlation measured by a classifier that learns to tell q(z) from the product of its
marginals.

    loss_VAE = −ELBO + γ E_q(z) log D(z)/(1 − D(z)),     log D/(1 − D) → log q(z) / Π_j q(z_j)
    loss_D   = −½ E_q(z) log D(z) − ½ E_perm log(1 − D(z'))

z' has each of its dimensions from another example of the batch: a permutation per dimension makes draws of
Π_j q(z_j). The two losses have an optimiser each; one must not move the other's weights.

Shapes: z (B, K); D's logit (B,).

References: Kim & Mnih 2018, Disentangling by Factorising, arXiv:1802.05983; [UDL] §17.8.4.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import BatchShard, Split, require
from modules.latent.bounds import ElboTerms, reparameterize
from modules.latent.vae import VAE
from modules.mlp import mlp
from modules.noise import normal


def permute_dims(z: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """z (B, K) with every column in an order of its own: draws of the product of marginals."""
    keys = torch.rand(z.shape, generator=generator, device=z.device)
    return z.gather(0, keys.argsort(0))


class Discriminator(nn.Module):
    """log D/(1 − D), (B,), of z (B, K)."""

    def __init__(self, latent_dim: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.network = mlp([latent_dim, *hidden, 1], nn.LeakyReLU)

    def forward(self, z: Tensor) -> Tensor:
        return cast(Tensor, self.network(z)).squeeze(-1)

    def loss(self, z: Tensor, shuffled: Tensor) -> Tensor:
        """Mean binary cross-entropy of telling z from `shuffled`, nats."""
        # log(1 + e^−l) for the true ones, log(1 + e^l) for the others
        return 0.5 * (F.softplus(-self(z)).mean() + F.softplus(self(shuffled)).mean())


class FactorVAE(VAE):
    """A `VAE` that pays for total correlation, as its discriminator sees it.

    `val/tc` is that estimate, nats.

    Args:
        gamma: γ.
        discriminator: widths of its hidden layers.
        discriminator_rate: of its Adam (β₁ = ½, β₂ = 0.9, as in the paper).
        model: as of `VAE`.
    """

    MEASURES = (*VAE.MEASURES, "tc")

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        discriminator: Sequence[int] = (100, 100),
        discriminator_rate: float = 1e-3,
        **model: Any,
    ) -> None:
        super().__init__(**model)
        require(0, gamma=gamma, discriminator_rate=discriminator_rate)
        require(1, discriminator=[1, *discriminator])
        self.gamma, self.discriminator_rate = gamma, discriminator_rate
        self.discriminator = Discriminator(self.latent_dim, discriminator)
        self.automatic_optimization = False

    def objective(self, x: Tensor, parts: ElboTerms, **given: Any) -> Tensor:
        return super().objective(x, parts, **given) + self.gamma * self.discriminator(parts.z[0]).mean()

    def step(self, batch: Any, split: Split) -> Tensor:
        loss = super().step(batch, split)
        if split != "train":
            x, _ = self.unpack(batch)
            mean, log_var = self.encode_parameters(x)
            z = reparameterize(mean, log_var, normal(*mean.shape, like=self.decoder_log_var))
            self.log_metric(split, "tc", self.discriminator(z))
        return loss

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        theirs, judge = cast(list, self.optimizers())
        loss = super().training_step(batch, batch_idx)
        theirs.zero_grad()
        self.backward_for(loss, self.parameter_groups())
        theirs.step()
        x, _ = self.unpack(batch.batch if isinstance(batch, BatchShard) else batch)
        with torch.no_grad():
            mean, log_var = self.encode_parameters(x)
            z = reparameterize(mean, log_var, normal(*mean.shape, like=self.decoder_log_var))
        judge.zero_grad()
        weight = batch.weight if isinstance(batch, BatchShard) else 1.0  # of this process among all
        self.backward_for(
            self.discriminator.loss(z, permute_dims(z)) * weight, list(self.discriminator.parameters())
        )
        judge.step()
        if self.lr_interval == "step":
            self.schedule()
        return loss.detach()

    def on_train_epoch_end(self) -> None:
        if self.lr_interval == "epoch":
            self.schedule()

    def schedule(self) -> None:
        scheduler = self.lr_schedulers()
        if scheduler is not None:  # Lightning leaves it to whoever steps the optimisers by hand
            cast(torch.optim.lr_scheduler.LRScheduler, scheduler).step()

    def parameter_groups(self) -> list[nn.Parameter]:
        return [p for name, p in self.named_parameters() if not name.startswith("discriminator.")]

    def configure_optimizers(self) -> Any:
        theirs = super().configure_optimizers()
        judge = torch.optim.Adam(
            self.discriminator.parameters(), lr=self.discriminator_rate, betas=(0.5, 0.9)
        )
        return (theirs if isinstance(theirs, dict) else {"optimizer": theirs}), {"optimizer": judge}
