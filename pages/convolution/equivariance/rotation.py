"""Quarter turns of a picture, and a layer with its kernel in one orientation or in four.

    f(ρᵏx)_r = ρᵏ f(x)_{r−k}      convolution over p4; an ordinary one: f(ρᵏx) ≠ ρᵏ f(x)

Shapes: picture (H, H), frames of k = 0 … 3 quarter turns.

References: [UDL] notes of chapter 10; Cohen & Welling 2016, arXiv:1602.07576.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses.photographs import luminance
from modules.convolution.convolution import convolve
from modules.convolution.group_convolution import TURNS, lifting_weight, turned
from pages.convolution.equivariance.room import GROUP


@dataclass(frozen=True)
class Turned:
    """
    Attributes:
        x: (4, H, H), turned by 0 … 3 quarters. kernels: (R, K, K), the orientations that the layer has.
        first: (4, R, H, H), f of it. second: (4, R, H, H), f(x), turned, its orientations moved on.
    """

    x: Tensor
    kernels: Tensor
    first: Tensor
    second: Tensor

    @property
    def difference(self) -> Tensor:
        return self.first - self.second

    @property
    def errors(self) -> Tensor:
        """(4,), root mean square of the difference over that of f(x)."""
        size = self.first[0].square().mean().sqrt()
        return self.difference.square().mean((1, 2, 3)).sqrt() / (size if size > 0 else 1)


def quarters(photo: Tensor, omega: Tensor, knows: str) -> Turned:
    """Turn, then convolve, against convolve, then turn; with the kernel in one orientation or in all four."""
    x = luminance(photo).to(omega.dtype)
    side = max(omega.shape)
    rows, columns = (side - n for n in omega.shape)
    square = F.pad(omega, [columns // 2, columns // 2, rows // 2, rows // 2])
    kernels = lifting_weight(square[None, None])[:, 0] if knows == GROUP else square[None]
    pictures = torch.stack([turned(x, k) for k in range(TURNS)])
    first = convolve(pictures[:, None], kernels[:, None], padding=side // 2)  # (4, R, H, H)
    moves = [k if knows == GROUP else 0 for k in range(TURNS)]
    second = torch.stack([turned(first[0], k).roll(by, 0) for k, by in enumerate(moves)])
    return Turned(pictures, kernels, first, second)
