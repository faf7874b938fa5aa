"""Eight Gaussians on a ring: a cloud of noise on its way to them, and the share of it that has arrived."""

import torch
from torch import Tensor

from modules.diffusion import exact

RADIUS, SD = 3.0, 0.25
NEAR = 3  # sds of a mode, within which a point has arrived
REACH = 5.0  # of the plane
CLOUD, TRAILS = 600, 24  # points of a cloud, and those of them whose paths are drawn


def truth(scale: float) -> exact.Mixture:
    """The data's own mixture, in a model's units."""
    return exact.eight(RADIUS / scale, SD / scale)


def near(x: Tensor) -> Tensor:
    """Share of points (..., N, 2) within NEAR sds of a mode."""
    return (torch.cdist(x, exact.eight(RADIUS, SD).means).amin(-1) < NEAR * SD).double().mean(-1)


def start(seed: int) -> Tensor:
    """The cloud of noise, (CLOUD, 2)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(CLOUD, 2, dtype=torch.float64, generator=generator)
