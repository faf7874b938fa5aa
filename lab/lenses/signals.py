"""Signals to look at: curves of MNIST-1D, and drawn ones.

Reference: Greydanus, Kobak 2020, arXiv:2011.14439.
"""

import numpy as np
import torch
from torch import Tensor

from datamodules.mnist1d import MNIST1D
from lab.lenses import stock


def signals(count: int = 10) -> list[tuple[str, Tensor]]:
    """Curves (name, (1, 40)) of MNIST-1D's test split, the first of each digit."""
    x, y = stock.examples(MNIST1D, "test")
    return [(str(d), x[int((y == d).nonzero()[0])]) for d in range(count)]


def curve(picture: Tensor, height: float = 2.5) -> Tensor:
    """A drawn curve (size, size), ink in [0, 1], as a signal (1, size): the height of the ink's centre.

    The upper edge is `height`, the lower −`height`; columns without ink follow their neighbours, and a
    drawing without ink is 0 everywhere.
    """
    size = picture.shape[1]
    ink = picture.double().sum(0)
    level = torch.linspace(height, -height, len(picture), dtype=torch.float64)
    drawn = ink.nonzero().flatten()
    if not len(drawn):
        return torch.zeros(1, size)
    centre = (picture.double() * level[:, None]).sum(0)[drawn] / ink[drawn]
    filled = np.interp(np.arange(size), drawn.numpy(), centre.numpy())
    return torch.tensor(filled, dtype=torch.float32)[None]


def sketch(signal: Tensor, height: float = 2.5) -> Tensor:
    """A signal (1, size) as a drawing (size, size): the inverse of `curve`, as far as pixels go."""
    size = signal.shape[-1]
    row = ((height - signal[0].double()) / (2 * height) * (size - 1)).clamp(0, size - 1)
    low = row.floor().long().clamp_max(size - 2)
    share = row - low
    picture = torch.zeros(size, size)
    columns = torch.arange(size)
    picture[low, columns] = (1 - share).float()
    picture[low + 1, columns] = share.float()
    return picture


def stacked(named: list[tuple[str, Tensor]]) -> Tensor:
    """Examples (name, x) as one batch; pictures (H, W) get a channel: (B, 1, H, W) or (B, 1, n)."""
    x = torch.stack([example for _, example in named])
    return x[:, None] if x.shape[1] > 1 else x
