r"""Exact scores: mixtures of Gaussians stay mixtures under noise, so the best denoiser has a closed form.

    p_0 = Σ_k w_k N(μ_k, Σ_k)   ⟹   p_t = Σ_k w_k N(√ᾱ μ_k, ᾱ Σ_k + (1−ᾱ) I)
    ∇ log p_t = −Σ_k r_k C_k⁻¹ (x − √ᾱ μ_k),        r_k ∝ w_k N(x; √ᾱ μ_k, C_k),   C_k = ᾱ Σ_k + (1−ᾱ) I
    E[x_0 | x_t] = (x_t + (1−ᾱ) ∇ log p_t) / √ᾱ      (Tweedie),      ε* = −√(1−ᾱ) ∇ log p_t

ε* is the minimiser of E‖ε − ε̂(x_t, t)‖², so it stands wherever a network may: what a sampler then misses is
the sampler's error alone. With Σ_k = 0 and a component on each training point it is the exact optimum on a
finite set, whose samples are the training points themselves.

Shapes: x (B, D); means (K, D); ᾱ () or (B,), in [0, 1).
References: Robbins 1956, Efron 2011 (Tweedie's formula); Vincent 2011; Song et al. 2021, arXiv:2011.13456.
Groundwork: [BB] 5 and 6. Beyond the texts.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from modules.diffusion.schedule import Schedule

# x (B, ...) and t (B,) -> ε̂ (B, ...), or x̂_0 and ε̂, which serves where ᾱ = 0 too
Denoiser = Callable[[Tensor, Tensor], Tensor | tuple[Tensor, Tensor]]


class Mixture:
    """Mixture Σ_k w_k N(μ_k, U_k diag(λ_k) U_kᵀ) in float64.

    Args:
        means: (K, D).
        covariances: (K, D, D), or variances of spheres as a number or (K,); 0 is a point.
        weights: (K,), normalised here; equal without.

    Raises:
        ValueError: a covariance has a negative eigenvalue, or a weight is negative.
    """

    def __init__(
        self,
        means: Tensor,
        covariances: Tensor | float = 0.0,
        weights: Tensor | Sequence[float] | None = None,
    ) -> None:
        self.means = means.double()
        K, D = means.shape
        covariances = torch.as_tensor(covariances, dtype=torch.float64)
        self.axes: Tensor | None = None  # of spheres any axes will do
        if covariances.ndim == 3:
            self.variances, self.axes = torch.linalg.eigh(covariances)  # (K, D), (K, D, D)
        else:
            self.variances = covariances.reshape(-1, 1).expand(K, D)
        if bool((self.variances < -1e-12).any()):
            raise ValueError("A covariance has a negative eigenvalue: it is none.")
        given = torch.ones(K) if weights is None else torch.as_tensor(weights)
        if bool((given < 0).any()) or not bool(given.sum() > 0):
            raise ValueError("Weights must not be negative, and not all 0.")
        self.log_weights = (given.double() / given.double().sum()).log()

    def components(self, x: Tensor, alpha_bar: Tensor | float) -> tuple[Tensor, Tensor, Tensor]:
        """Components of p_t: x in the axes of each, relative to its noised mean; variances there; log w_k
        N(x; …).

        (B, K, D), (B or 1, K, D), (B, K).
        """
        a = torch.as_tensor(alpha_bar, dtype=torch.float64).reshape(-1, 1, 1)
        off = x.double()[:, None] - a.sqrt() * self.means
        if self.axes is not None:
            off = torch.einsum("kde,bkd->bke", self.axes, off)
        variance = a * self.variances + (1 - a)
        log_n = -0.5 * (off.square() / variance + (2 * math.pi * variance).log()).sum(-1)
        return off, variance, self.log_weights + log_n

    def log_prob(self, x: Tensor, alpha_bar: Tensor | float = 1.0) -> Tensor:
        """Log-density log p_t(x) in nats, (B,)."""
        return self.components(x, alpha_bar)[2].logsumexp(-1)

    def responsibilities(self, x: Tensor, alpha_bar: Tensor | float) -> Tensor:
        """Responsibilities r_k of x under p_t, (B, K)."""
        return self.components(x, alpha_bar)[2].softmax(-1)

    def score(self, x: Tensor, alpha_bar: Tensor | float) -> Tensor:
        """Score ∇ log p_t(x), (B, D)."""
        off, variance, joint = self.components(x, alpha_bar)
        pull = -off / variance * joint.softmax(-1)[..., None]
        if self.axes is not None:
            return torch.einsum("kde,bke->bd", self.axes, pull)
        return pull.sum(1)

    def posterior_mean(self, x: Tensor, alpha_bar: Tensor | float) -> Tensor:
        """Posterior mean E[x_0 | x_t = x] by Bayes, each component's own mean weighted, (B, D); Tweedie gives
        the same."""
        a = torch.as_tensor(alpha_bar, dtype=torch.float64).reshape(-1, 1, 1)
        off, variance, joint = self.components(x, alpha_bar)
        pull = a.sqrt() * self.variances * off / variance
        if self.axes is not None:
            pull = torch.einsum("kde,bke->bkd", self.axes, pull)
        return (joint.softmax(-1)[..., None] * (self.means + pull)).sum(1)

    def eps(self, x: Tensor, alpha_bar: Tensor | float) -> Tensor:
        """Best prediction ε* = −√(1−ᾱ) ∇ log p_t, (B, D)."""
        a = torch.as_tensor(alpha_bar, dtype=torch.float64)
        return -(1 - a).sqrt().reshape(-1, 1) * self.score(x, a)

    def denoiser(self, schedule: Schedule) -> Denoiser:
        """Denoiser ε*(x, t), a drop-in for a network, in the precision of x."""

        def predict(x: Tensor, t: Tensor) -> Tensor:
            return self.eps(x, schedule.alpha_bar[t.cpu()]).to(x)

        return predict

    def draw(self, n: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draws (n, D) of p_0 and the component of each, (n,)."""
        k = torch.multinomial(self.log_weights.exp(), n, replacement=True, generator=generator)
        z = torch.randn(n, self.means.shape[1], dtype=torch.float64, generator=generator)
        z = z * self.variances[k].clamp(min=0).sqrt()
        if self.axes is not None:
            z = torch.einsum("nde,ne->nd", self.axes[k], z)
        return self.means[k] + z, k


def eight(radius: float = 3.0, sd: float = 0.25) -> Mixture:
    """Eight Gaussians on a circle."""
    angle = torch.arange(8, dtype=torch.float64) * math.pi / 4
    return Mixture(radius * torch.stack([angle.cos(), angle.sin()], 1), sd**2)
