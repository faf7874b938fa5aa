r"""The smallest GAN: a generator that only shifts noise, against a logistic regression.

    x* = z + θ,  z ~ N(0, 1)            f(x) = φ₀ + φ₁ x,  D = σ(f)

Real x are N(μ, 1): the best discriminator has slope μ − θ and its middle at (μ + θ)/2, and the only fixed
point is θ = μ with D = ½. Around it the two players turn about each other, as in L = xy, the simplest game of
all: simultaneous steps spiral outwards, alternating steps keep x² + y² − ηxy.

Shapes: x, z (B, 1); D's outputs (B,).

References: Mescheder et al. 2018 (Dirac-GAN), arXiv:1801.04406; [UDL] §15.1, fig. 15.1 (θ = 3 at first,
batches of 10; the data's mean is not printed).
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from modules.adversarial.base import BaseGAN


class Shift(nn.Module):
    """x* = z + θ, (B, 1) -> (B, 1)."""

    def __init__(self, theta: float) -> None:
        super().__init__()
        self.theta = nn.Parameter(torch.tensor(theta))

    def forward(self, z: Tensor) -> Tensor:
        return z + self.theta


class Logistic(nn.Module):
    """f = φ₀ + φ₁ x, (B, 1) -> (B,)."""

    def __init__(self, intercept: float, slope: float) -> None:
        super().__init__()
        self.phi = nn.Parameter(torch.tensor([intercept, slope]))

    def forward(self, x: Tensor) -> Tensor:
        return self.phi[0] + self.phi[1] * x[:, 0]


class ToyGAN(BaseGAN):
    """A shift and a logistic regression.

    Args:
        theta: θ at first; intercept, slope: φ at first.
        gan: as of `BaseGAN`.
    """

    FIXED = ("event_shape", "latent_dim")

    def __init__(
        self, theta: float = 3.0, intercept: float = 0.0, slope: float = 0.0, ema: float = 0.0, **gan: Any
    ) -> None:
        super().__init__(event_shape=(1,), latent_dim=1, ema=ema, **gan)
        self.set_networks(Shift(theta), Logistic(intercept, slope))


def bilinear(
    steps: int,
    rate: float,
    order: Literal["simultaneous", "alternating"],
    start: tuple[float, float] = (1, 0),
) -> Tensor:
    """The path of L = xy, x going down and y up: (steps + 1, 2) float64."""
    x, y = start
    path = [(x, y)]
    for _ in range(steps):
        new = x - rate * y
        y = y + rate * (x if order == "simultaneous" else new)
        x = new
        path.append((x, y))
    return torch.tensor(path, dtype=torch.float64)
