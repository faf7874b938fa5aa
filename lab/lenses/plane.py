"""The plane cut into cells: where their middles and corners lie, and a density on them as bytes.

Shapes: places (n, n, 2), a row an x_2, upwards.
"""

import numpy as np
import torch
from torch import Tensor

LOWEST = -8.0  # log p that is drawn as 0


def middles(reach: float, cells: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Middles of the cells of [-reach, reach]², (cells, cells, 2)."""
    return spanned((torch.arange(cells, dtype=dtype) + 0.5) * (2 * reach / cells) - reach)


def corners(reach: float, points: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Evenly spread over [-reach, reach]², its edge among them, (points, points, 2)."""
    return spanned(torch.linspace(-reach, reach, points, dtype=dtype))


def spanned(axis: Tensor) -> Tensor:
    """(n,) -> (n, n, 2), the same along both axes."""
    x2, x1 = torch.meshgrid(axis, axis, indexing="ij")
    return torch.stack([x1, x2], -1)


def levels(log_p: Tensor) -> np.ndarray:
    """log p as bytes: LOWEST and below is 0, 0 and above 255."""
    share = (1 - log_p / LOWEST).clamp(0, 1).nan_to_num()
    return (255 * share).round().to(torch.uint8).numpy()
