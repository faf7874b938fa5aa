"""One observation of one code: z ~ N(0, 1), x|z ~ N(g(z), s²) with g a polynomial, on a fine grid of z."""

from collections.abc import Sequence

import torch
from torch import Tensor

from modules.latent.elbo import Grid, log_normal

REACH, CELLS = 15.0, 6_001  # of the grid: q may stand at ±3 with a deviation of 2


def polynomial(z: Tensor, coefficients: Sequence[float]) -> Tensor:
    """c_0 + c_1 z + c_2 z² + …"""
    out = torch.zeros_like(z)
    for c in reversed(coefficients):
        out = out * z + c
    return out


def joint(coefficients: Sequence[float], x: float, noise: float) -> Grid:
    """log p(x, z) on the grid."""
    result = torch.tensor(x, dtype=torch.float64)
    return Grid.of(
        lambda z: log_normal(z, 0.0, 1.0) + log_normal(result, polynomial(z, coefficients), noise**2),
        -REACH, REACH, CELLS,
    )  # fmt: skip
