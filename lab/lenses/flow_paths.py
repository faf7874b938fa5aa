"""Paths of a grid and a cloud through a trained flow of the plane, layer by layer.

Shapes: points (N, 2); paths (L + 1, N, 2), from the base to the data.
"""

import torch
from torch import Tensor

from modules.flow.flow import Flow

LINES, DOTS, SPAN = 11, 61, 2.5  # of the grid on the base: each way, points a line, half its width
CLOUD = 500


def grid_lines() -> Tensor:
    """Lines of the base, a row of NaN after each: (N, 2)."""
    ends, along = (torch.linspace(-SPAN, SPAN, n, dtype=torch.float64) for n in (LINES, DOTS))
    gap = torch.full((1, 2), torch.nan, dtype=torch.float64)
    upright = [torch.cat([torch.stack([a.expand(DOTS), along], 1), gap]) for a in ends]
    return torch.cat(upright + [line.flip(1) for line in upright])


def cloud() -> Tensor:
    """Draws of the base, (CLOUD, 2)."""
    return torch.randn(CLOUD, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def path(model: Flow, z: Tensor) -> Tensor:
    """z (N, 2) after each layer, (L + 1, N, 2); NaN stays NaN."""
    known = ~z.isnan().any(1)
    states = [z[known], *(h for h, _ in model.generating(z[known]))]
    whole = torch.full((len(states), *z.shape), torch.nan, dtype=z.dtype)
    whole[:, known] = torch.stack(states)
    return whole
