r"""Exponential–Gaussian: the smallest variational autoencoder whose bound and evidence are both formulas.

    z ~ Exp(θ),   x|z ~ N(z, 1),   q(z) = Exp(φ)
    ELBO      L = log θ − θ/φ − ½ log 2π − ½ (x² − 2x/φ + 2/φ²) − log φ + 1
    evidence  log p(x) = log θ + θ²/2 − θx + log Φ(x − θ)

E z² = 2/φ². [BB] ex. 6.7 takes 1/φ²: its "bound" exceeds log p(x), −0.918939 against −1.193147 at θ = φ = x
= 1, and its optimum 1/x should be θ = φ = 2/x. It calls the optimum maximum likelihood; it maximises the
bound, and the θ of maximum likelihood is another. For x ≤ 0 the bound grows with φ without end.

Shapes: all broadcast; nats.

References: [BB] ex. 6.7.
"""

import math

import torch
from torch import Tensor

LOG_2PI = math.log(2 * math.pi)


def elbo(theta: Tensor, phi: Tensor, x: Tensor) -> Tensor:
    """L(θ, φ) at x."""
    return _bound(theta, phi, x, 2 / phi.square())


def printed_elbo(theta: Tensor, phi: Tensor, x: Tensor) -> Tensor:
    """The formula that [BB] prints, with E z² = 1/φ²: no bound."""
    return _bound(theta, phi, x, 1 / phi.square())


def _bound(theta: Tensor, phi: Tensor, x: Tensor, square: Tensor) -> Tensor:
    reconstruction = -0.5 * LOG_2PI - 0.5 * (x.square() - 2 * x / phi + square)
    return reconstruction + theta.log() - theta / phi - phi.log() + 1


def log_evidence(theta: Tensor, x: Tensor) -> Tensor:
    """log p(x) = log ∫ θ e^{−θz} N(x; z, 1) dz over z > 0."""
    return theta.log() + 0.5 * theta.square() - theta * x + torch.special.log_ndtr(x - theta)


def optimum(x: Tensor) -> tuple[Tensor, Tensor]:
    """θ = φ = 2/x and L there, −½ log 2π − x²/4.

    Raises:
        ValueError: x ≤ 0, where there is none.
    """
    if bool((x <= 0).any()):
        raise ValueError("x must be positive: else the bound grows with φ without end.")
    return 2 / x, -0.5 * LOG_2PI - x.square() / 4


def maximum_likelihood(x: float, steps: int = 60) -> float:
    """The θ of maximum likelihood, by Newton's method on d log p / dθ in log θ.

    Raises:
        ValueError: x ≤ 0: the likelihood grows with θ without end.
    """
    if x <= 0:
        raise ValueError("x must be positive: else the likelihood grows with θ without end.")
    log_theta = torch.tensor(math.log(1 / x), dtype=torch.float64, requires_grad=True)
    value = torch.tensor(x, dtype=torch.float64)
    for _ in range(steps):
        slope = torch.autograd.grad(log_evidence(log_theta.exp(), value), log_theta, create_graph=True)[0]
        curve = torch.autograd.grad(slope, log_theta)[0]
        move = -slope / curve if curve < 0 else 0.1 * slope.sign()
        log_theta = (log_theta + move.clamp(-1, 1)).detach().requires_grad_()
    return math.exp(float(log_theta.detach()))
