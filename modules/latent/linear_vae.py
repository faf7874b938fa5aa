r"""Linear variational autoencoder: what β does, direction by direction, without training.

    covariance eigenvalues λ_j;  decoder W z + μ with noise σ² I;  encoder and decoder at their best

    direction j is kept iff λ_j > β σ²:   w_j² = λ_j − β σ²,   KL_j = ½ log(λ_j / β σ²);   else both are 0

With σ² fixed, β acts as σ² → β σ², so a sum of squared errors plus the KL (σ² = ½) and a mean of squared
errors plus the KL (σ² = D/2) are very different models of the same name. With σ² learned and β = 1 it is
probabilistic PCA, whose maximum the bound reaches: the posterior is in the encoder's family.

Shapes: eigenvalues (D,), nats.

References: Lucas, Tucker, Grosse, Norouzi 2019, arXiv:1911.02469; Higgins et al. 2017; [UDL] §17.8.4.
"""

import math
from typing import NamedTuple

from torch import Tensor


class Directions(NamedTuple):
    """Directions (D,): is each `kept`, its squared decoder weight `w2`, and the KL that it pays."""

    kept: Tensor
    w2: Tensor
    kl: Tensor


def directions(eigenvalues: Tensor, variance: float, beta: float = 1.0) -> Directions:
    """Directions of these variances as the optimal linear VAE keeps them."""
    threshold = beta * variance
    kept = eigenvalues > threshold
    w2 = (eigenvalues - threshold).clamp(min=0)
    kl = 0.5 * (eigenvalues / threshold).clamp(min=1).log()
    return Directions(kept, w2, kl)


def encoder_at(weight: float, variance: float, x: float, beta: float = 1.0) -> tuple[float, float]:
    """Mean and variance of the q = N(m, v) that maximises E_q log N(x; w z, σ²) − β KL(q ‖ N(0, 1)):
    m = w x/(w² + β σ²), v = β σ²/(w² + β σ²)."""
    total = weight**2 + beta * variance
    return weight * x / total, beta * variance / total


def effective_variance(event_dim: int, latent_dim: int, error: str, kl: str) -> float:
    """The σ² that a loss of squared errors and KL really has, at β = 1.

    Args:
        error: "sum" or "mean" over the entries of x.
        kl: "sum" or "mean" over the latent dimensions.
    """
    # loss = a·SSE + b·KL ~ SSE/(2σ²) + KL  =>  σ² = b/(2a)
    a = 1.0 if error == "sum" else 1 / event_dim
    b = 1.0 if kl == "sum" else 1 / latent_dim
    return b / (2 * a)


def gaussian_nll(squared_error: float, variance: float, event_dim: int) -> float:
    """½ D log 2πσ² + SSE/2σ², with the terms that squared error alone forgets."""
    return 0.5 * event_dim * math.log(2 * math.pi * variance) + squared_error / (2 * variance)


def ppca_log_likelihood(eigenvalues: Tensor, factors: int) -> Tensor:
    """Mean log p of the maximum of probabilistic PCA, which the linear VAE's mean ELBO reaches:
    −½ (D log 2π + Σ_{j≤K} log λ_j + (D − K) log σ² + D)."""
    values = eigenvalues.sort(descending=True).values
    rest = values[factors:]
    logs = values[:factors].log().sum() + len(rest) * rest.mean().log()
    return -0.5 * (len(values) * (math.log(2 * math.pi) + 1) + logs)
