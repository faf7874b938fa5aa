"""Integrals over a square of the plane by the middles of its cells, taken finely where the density bends.

Shapes: p (S, S), a row for each x_2; middles (K, 2), points (K, M², 2).
"""

import torch
import torch.nn.functional as F
from torch import Tensor

MISSED = 3e-4  # of an integral of 1, at most, in the cells that are not taken finely


def bending_cells(p: Tensor, step: float) -> Tensor:
    """Numbers (K,) of the cells, flat, in which a density p bends: what the middles of all the others may
    miss, by second differences, is below MISSED. `step` is a cell's side."""
    around = F.pad(p, (1, 1, 1, 1))
    sides = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    missed, order = ((sides - 4 * p).abs().flatten() * step**2 / 24).sort(descending=True)
    return order[: int((missed.flip(0).cumsum(0).flip(0) > MISSED).sum())]


def subdivided(middles: Tensor, step: float, each_way: int) -> Tensor:
    """Middles of cells -> points evenly spread in each, `each_way` times as many in a row."""
    inside = ((torch.arange(each_way, dtype=torch.float64) + 0.5) / each_way - 0.5).to(middles)
    return middles[:, None] + step * torch.cartesian_prod(inside, inside)
