r"""Flows on other spaces: finite sets, the circle.

    finite    x → (μ + σ x) mod K is a bijection iff gcd(σ, K) = 1; no Jacobian: probabilities are carried
    circle    z → (z − w)/(1 − w̄ z) keeps |z| = 1 for |w| < 1;  dθ'/dθ = (1 − |w|²)/|z − w|²

Shapes: whole numbers (...); angles (...).
References: Tran et al. 2019, arXiv:1905.10347 (discrete); Rezende et al. 2020, arXiv:2002.02428 (circle);
[UDL] notes to chapter 16.
"""

import math

import torch
from torch import Tensor

from modules.base import require


class ModularShift:
    """x → (shift + scale · x) mod K.

    Raises:
        ValueError: the scale shares a factor with K, so two values go to one.
    """

    def __init__(self, levels: int, scale: int, shift: int = 0) -> None:
        require(1, levels=levels)
        if math.gcd(scale, levels) != 1:
            raise ValueError(f"scale is {scale}: it shares a factor with {levels}, so values would merge.")
        self.levels, self.scale, self.shift = levels, scale, shift

    def generate(self, z: Tensor) -> Tensor:
        return (self.shift + self.scale * z) % self.levels

    def normalize(self, x: Tensor) -> Tensor:
        return pow(self.scale, -1, self.levels) * (x - self.shift) % self.levels


def moebius(theta: Tensor, w: complex) -> tuple[Tensor, Tensor]:
    """Angles after the Möbius map of w, |w| < 1, and log |dθ'/dθ|."""
    if not abs(w) < 1:
        raise ValueError(f"w is {w}: it must lie inside of the unit circle.")
    z = torch.polar(torch.ones_like(theta), theta)
    moved = (z - w) / (1 - w.conjugate() * z)
    return moved.angle(), (math.log(1 - abs(w) ** 2) - 2 * (z - w).abs().log())
