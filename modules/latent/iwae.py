r"""Importance weighted autoencoder: a VAE trained by the tighter bound of K draws of its encoder.

    L_K(x) = E log 1/K Σ_k w_k,   w_k = p(x|z_k) p(z_k) / q(z_k|x),   z_k = μ(x) + σ(x) ε_k
    ELBO = L_1 ≤ L_2 ≤ … → log p(x)

Its gradient weighs every draw by its share w̃_k = w_k / Σ_j w_j. For the encoder it has two forms, equal in
the mean. ∂ is the derivative along the path z_k(φ) alone, with q's parameters held fixed in log q:

    plain     Σ w̃_k  d log w_k / dφ            signal over noise falls as 1/√K
    doubly    Σ w̃_k² ∂ log w_k / ∂z_k dz_k/dφ   doubly reparametrised: rises with K

[GM] §3.11.3 blames the plain form's "higher variance"; it falls with K, but the mean falls faster.

A draw of little weight hardly counts, but its way back through the decoder costs as much as any other's: with
`resampled` = M draws are picked by their shares, and M < K of them go back. The gradient's mean stays.

Shapes: x (B, D), z (K, B, latent), log w and w̃ (K, B).

References:
    Burda, Grosse & Salakhutdinov 2016, Importance Weighted Autoencoders, arXiv:1509.00519; [GM] §3.11.3.
    Rainforth et al. 2018, Tighter Variational Bounds are Not Necessarily Better, arXiv:1802.04537.
    Tucker, Lawson, Gu & Maddison 2019, Doubly Reparameterized Gradient Estimators, arXiv:1810.04152.
    Douc, Cappé & Moulines 2005, Comparison of Resampling Schemes (systematic), arXiv:cs/0507025.
"""

import math
from typing import Any, Literal

import torch
from torch import Tensor

from modules.base import Split, require
from modules.latent.bounds import ElboTerms, gaussian_log_prob, reparameterize
from modules.latent.vae import VAE


def systematic_resampling(shares: Tensor, picks: int, start: Tensor) -> Tensor:
    """Systematic resampling: numbers of draws (picks, B), draw k picked picks · shares_k times in the mean.

    shares (K, B) sum to 1; start (B,) uniform in [0, 1): the comb of equally spaced teeth begins there.
    """
    teeth = (torch.arange(picks, device=shares.device, dtype=shares.dtype)[:, None] + start) / picks
    edges = shares.cumsum(0).T.contiguous()  # (B, K)
    numbers = torch.searchsorted(edges, teeth.T.contiguous(), right=True)
    return numbers.clamp(max=len(shares) - 1).T  # rounding may leave the last edge below the last tooth


def scale_gradient(z: Tensor, shares: Tensor) -> Tensor:
    """z (K, B, latent) itself; the gradient that comes back through it is multiplied by its share (K, B)."""
    if z.requires_grad:
        z.register_hook(lambda gradient: shares[..., None] * gradient)
    return z


class IWAE(VAE):
    """A `VAE` with the bound L_K as its objective.

    `val/bound` and `test/bound` are −L_K with the K of training.

    Args:
        train_samples: K.
        gradient: "plain" or "doubly", of the encoder; the decoder's is the same in both.
        resampled: M, how many draws go back through the decoder, by their shares; None: all. For "doubly".
        elbo_epochs: epochs of the ELBO before, at a tenth of the price: Burda et al. (table 2) go on from a
            trained VAE and end where training from scratch does.
        model: as of `VAE`; `beta` has no place in L_K, and `warmup_epochs` only within `elbo_epochs`.

    Example:
        >>> IWAE(event_shape=(784,), latent_dim=20, train_samples=50).num_parameters
        652824
    """

    MEASURES = (*VAE.MEASURES, "bound")

    def __init__(
        self,
        *,
        train_samples: int = 50,
        gradient: Literal["plain", "doubly"] = "plain",
        resampled: int | None = None,
        elbo_epochs: int = 0,
        **model: Any,
    ) -> None:
        super().__init__(**model)
        require(1, train_samples=train_samples)
        require(0, elbo_epochs=elbo_epochs)
        if gradient not in ("plain", "doubly"):
            raise ValueError(f"gradient is {gradient!r}: choose plain or doubly.")
        if resampled is not None and not (gradient == "doubly" and 1 <= resampled <= train_samples):
            raise ValueError(
                f"resampled is {resampled}: it goes with gradient doubly, from 1 to {train_samples} draws."
            )
        if self.beta != 1 or self.warmup_epochs > elbo_epochs:
            raise ValueError(
                "The importance weighted bound has no beta and no warm-up: leave them out, or end the "
                "warm-up within elbo_epochs."
            )
        if self.free_bits and not elbo_epochs:
            raise ValueError(
                "The importance weighted bound has no free bits: take elbo_epochs, or leave them out."
            )
        self.train_samples, self.gradient, self.resampled = train_samples, gradient, resampled
        self.elbo_epochs = elbo_epochs

    def bound_loss(self, x: Tensor, noise: Tensor, start: Tensor | None = None) -> Tensor:
        """−L_K, a scalar, with the gradient that was asked for; noise (K, B, latent), start (B,)."""
        mean, log_var = self.encode_parameters(x)
        z = reparameterize(mean, log_var, noise)
        if self.gradient == "plain":
            log_ratio = 0.5 * (noise.square() + log_var - z.square()).sum(-1)  # log p(z) − log q(z|x)
            log_w = self.log_likelihood(x, z) + log_ratio
            return (math.log(len(noise)) - log_w.logsumexp(0)).mean()
        if self.resampled is None:
            shares = torch.zeros_like(noise[..., 0])
            paths = log_w = self.path_log_weights(x, scale_gradient(z, shares), mean, log_var)
            shares.copy_(log_w.detach().softmax(0))  # by the time a gradient comes back
            each = shares
        else:
            with torch.no_grad():
                log_w = self.path_log_weights(x, z, mean, log_var)
                start = torch.rand_like(log_w[0]) if start is None else start
                picked = systematic_resampling(log_w.softmax(0), self.resampled, start)  # (M, B)
            shares = log_w.softmax(0).gather(0, picked)
            each = torch.full_like(shares, 1 / self.resampled)
            z = z.gather(0, picked[..., None].expand(-1, -1, z.shape[-1]))
            paths = self.path_log_weights(x, scale_gradient(z, shares), mean, log_var)
        # Its value is of no meaning: the decoder's gradient comes by `each`, the encoder's times `shares` too
        carrier = (each * paths).sum(0).mean()
        bound = (log_w.detach().logsumexp(0) - math.log(len(noise))).mean()
        return -(carrier - carrier.detach() + bound)

    def path_log_weights(self, x: Tensor, z: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
        """log w (K, B) of z (K, B, latent), in which q's parameters are held fixed but for the path to z."""
        log_q = gaussian_log_prob(z, mean.detach(), log_var.detach()).sum(-1)
        return self.log_likelihood(x, z) + gaussian_log_prob(z, 0 * z, 0 * z).sum(-1) - log_q

    def objective(self, x: Tensor, parts: ElboTerms, **given: Any) -> Tensor:
        if self.current_epoch < self.elbo_epochs:
            return super().objective(x, parts, **given)
        return self.bound_loss(x, self._noise(self.train_samples, len(x), None))

    def step(self, batch: Any, split: Split) -> Tensor:
        loss = super().step(batch, split)
        if split != "train":
            self.log_metric(split, "bound", -self.iwae(self.unpack(batch)[0], self.train_samples))
        return loss
