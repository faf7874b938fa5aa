r"""The evidence lower bound in its five forms, exact for the linear-Gaussian model and on a grid for any
other.

    (A)  E_q[log p(x, z) − log q(z)]          (B)  log p(x) − KL(q ‖ p(z|x))
    (C)  E_q log p(x|z) − KL(q ‖ p(z))        (D)  E_q log p(x, z) + H(q)
    (E)  −KL(q ‖ p(x, ·)), with the joint as it is, not normalised over z

All are one number, at most log p(x); the gap is KL(q ‖ p(z|x)), 0 only where q is the posterior. The signs
matter: [BB] approach 2 and ex. 6.8 print + KL(p_Z ‖ q) in the bound. A weight β < 1 on the KL of (C) makes
no bound, β ≥ 1 does.

The linear-Gaussian model z ~ N(0, I), x|z ~ N(W z, σ² I) and q = N(m, V) have every term in closed form.
Where nothing has, z is one number and sums over a fine grid are the referee: posteriors with two modes
included.

Shapes: x (D,), W (D, K), m (K,), V (K, K); grid z (G,), log p(x, z) (G,); everything a scalar, nats.

References: Jordan, Ghahramani, Jaakkola, Saul 1999; [GM] §3.4.3–4; [UDL] §17.3.3–17.4; [BB] §6.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

LOG_2PI = math.log(2 * math.pi)
FORMS = "ABCDE"


def gaussian_kl(mean: Tensor, covariance: Tensor, mean2: Tensor, covariance2: Tensor) -> Tensor:
    """KL(N(m, V) ‖ N(m₂, V₂)) = ½ (tr V₂⁻¹V + (m₂−m)ᵀ V₂⁻¹ (m₂−m) − K + log det V₂ − log det V)."""
    delta = mean2 - mean
    inside = torch.linalg.solve(covariance2, covariance + torch.outer(delta, delta))
    log_dets = torch.logdet(covariance2) - torch.logdet(covariance)
    return 0.5 * (inside.diagonal().sum() - len(mean) + log_dets)


def gaussian_entropy(covariance: Tensor) -> Tensor:
    """½ log det(2πe V)."""
    return 0.5 * (len(covariance) * (LOG_2PI + 1) + torch.logdet(covariance))


@dataclass(frozen=True)
class LinearGaussianPosterior:
    """x|z ~ N(W z, σ² I), z ~ N(0, I): `loadings` W and `variance` σ², in float64 for exact work."""

    loadings: Tensor
    variance: float

    @property
    def precision(self) -> Tensor:
        """Precision of the posterior, I + WᵀW/σ², the same for every x."""
        w = self.loadings
        return torch.eye(w.shape[1]).to(w) + w.T @ w / self.variance

    def posterior(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and covariance of p(z|x)."""
        covariance = torch.linalg.inv(self.precision)
        return covariance @ (self.loadings.T @ x) / self.variance, covariance

    def log_prob(self, x: Tensor) -> Tensor:
        """log p(x) of x (..., D): (...,)."""
        w = self.loadings
        marginal = w @ w.T + self.variance * torch.eye(len(w)).to(w)
        return MultivariateNormal(x.new_zeros(len(w)), marginal).log_prob(x)

    def log_joint(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x, z) of x (..., D) and z (..., K): (...,)."""
        left = (x - z @ self.loadings.T).square().sum(-1) / self.variance + z.square().sum(-1)
        size = x.shape[-1] * (LOG_2PI + math.log(self.variance)) + z.shape[-1] * LOG_2PI
        return -0.5 * (size + left)

    def reconstruction(self, x: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
        """E_q log p(x|z) = −½ D log 2πσ² − (‖x − W m‖² + tr W V Wᵀ) / 2σ²."""
        w = self.loadings
        left = (x - w @ mean).square().sum() + (w @ covariance @ w.T).diagonal().sum()
        return -0.5 * len(x) * (LOG_2PI + math.log(self.variance)) - left / (2 * self.variance)

    def energy(self, x: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
        """E_q log p(x, z)."""
        expected_square = mean.square().sum() + covariance.diagonal().sum()
        log_prior = -0.5 * (len(mean) * LOG_2PI + expected_square)
        return self.reconstruction(x, mean, covariance) + log_prior

    def rate(self, mean: Tensor, covariance: Tensor) -> Tensor:
        """KL(q ‖ p(z))."""
        return gaussian_kl(mean, covariance, torch.zeros_like(mean), torch.eye(len(mean)).to(mean))

    def gap(self, x: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
        """KL(q ‖ p(z|x))."""
        return gaussian_kl(mean, covariance, *self.posterior(x))

    def elbo(self, x: Tensor, mean: Tensor, covariance: Tensor, beta: float = 1.0) -> Tensor:
        """(C), with a weight on the KL."""
        return self.reconstruction(x, mean, covariance) - beta * self.rate(mean, covariance)

    def forms(self, x: Tensor, mean: Tensor, covariance: Tensor) -> dict[str, Tensor]:
        """The five forms, each by its own terms."""
        log_q = -gaussian_entropy(covariance)  # E_q log q
        energy = self.energy(x, mean, covariance)
        z_mean, z_covariance = self.posterior(x)
        # the joint as a function of z is p(x) N(z; posterior): minus its KL from q is
        unnormalised = gaussian_kl(mean, covariance, z_mean, z_covariance) - self.log_prob(x)
        return {
            "A": energy - log_q,
            "B": self.log_prob(x) - self.gap(x, mean, covariance),
            "C": self.elbo(x, mean, covariance),
            "D": energy + gaussian_entropy(covariance),
            "E": -unnormalised,
        }

    def log_weights(self, x: Tensor, mean: Tensor, covariance: Tensor, z: Tensor) -> Tensor:
        """log p(x, z) − log q(z) of draws z (..., K): their mean is the sampled form of (A)."""
        w = self.loadings
        log_x = -0.5 * (
            len(x) * (LOG_2PI + math.log(self.variance)) + (x - z @ w.T).square().sum(-1) / self.variance
        )
        log_z = -0.5 * (len(mean) * LOG_2PI + z.square().sum(-1))
        return log_x + log_z - MultivariateNormal(mean, covariance).log_prob(z)


# --- on a grid --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """A joint log p(x, z) of one x over a fine, even grid of one-dimensional z, (G,) each."""

    z: Tensor
    log_joint: Tensor

    @staticmethod
    def of(log_joint: Callable[[Tensor], Tensor], low: float, high: float, points: int = 4001) -> "Grid":
        """The joint's values from `low` to `high`."""
        z = torch.linspace(low, high, points, dtype=torch.float64)
        return Grid(z, log_joint(z))

    @cached_property
    def width(self) -> Tensor:
        return self.z[1] - self.z[0]

    @cached_property
    def log_prob(self) -> Tensor:
        """log p(x) = log ∫ p(x, z) dz."""
        return self.log_joint.logsumexp(0) + self.width.log()

    @property
    def posterior(self) -> Tensor:
        """p(z|x) at the grid's points, (G,): times `width` it sums to 1."""
        return (self.log_joint - self.log_prob).exp()

    def expectation(self, log_q: Tensor, values: Tensor) -> Tensor:
        """E_q of values (G,); log q (G,). Where q is 0, nothing counts."""
        q = log_q.exp()
        return torch.where(q > 0, q * values, 0.0).sum() * self.width

    def gap(self, log_q: Tensor) -> Tensor:
        """KL(q ‖ p(z|x))."""
        return self.expectation(log_q, log_q - (self.log_joint - self.log_prob))

    def forward_kl(self, log_q: Tensor) -> Tensor:
        """KL(p(z|x) ‖ q), the other direction."""
        log_p = self.log_joint - self.log_prob
        return self.expectation(log_p, log_p - log_q)

    def elbo(self, log_q: Tensor) -> Tensor:
        """(A)."""
        return self.expectation(log_q, self.log_joint - log_q)

    def forms(self, log_q: Tensor, log_prior: Tensor) -> dict[str, Tensor]:
        """The five forms; log p(z) (G,)."""
        entropy = -self.expectation(log_q, log_q)
        rate = self.expectation(log_q, log_q - log_prior)
        return {
            "A": self.elbo(log_q),
            "B": self.log_prob - self.gap(log_q),
            "C": self.expectation(log_q, self.log_joint - log_prior) - rate,
            "D": self.expectation(log_q, self.log_joint) + entropy,
            "E": -self.expectation(log_q, log_q - self.log_joint),
        }


def log_normal(z: Tensor, mean: Tensor | float, variance: Tensor | float) -> Tensor:
    """log N(z; mean, variance), variance and not σ."""
    variance = torch.as_tensor(variance, dtype=z.dtype)
    return -0.5 * (LOG_2PI + variance.log() + (z - mean) ** 2 / variance)
