r"""Monotone maps of the unit interval from K bins of equal width: piecewise linear, and of square roots.

    c = ⌊K h⌋ + 1  (c = K at h = 1),    φ_k > 0,  Σ_k φ_k = 1
    linear   f(h) = Σ_{k<c} φ_k  + (K h − c + 1) φ_c             slope K φ_c
    roots    f(h) = Σ_{k<c} √φ_k + √((K h − c + 1) φ_c)          onto [0, Σ_k √φ_k]

[UDL] eq. 16.12 takes the bin ⌊K h⌋ with the first φ numbered 1: that lags by one bin, so f is 0 on the whole
first bin and ends at 1 − φ_K; eq. 16.33 slips alike. Fig. 16.5 calls φ_k the slope: it is the rise, the
slope is K φ_k. The slope of the square roots is infinite at the left edge of every bin.
Outside of [0, 1] both go on with slope 1. θ: K numbers, φ = softmax(θ), so the linear one starts as identity.

References: Müller et al. 2019, arXiv:1808.03856; [UDL] 16.3.2, problems 16.8-16.9.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require
from modules.flow.layer import ValueAndLogDet
from modules.flow.monotone import Monotone


class Bins(Monotone):
    """Base of maps by K bins of [0, 1]."""

    def __init__(self, bins: int = 5) -> None:
        super().__init__()
        require(1, bins=bins)
        self.bins = self.num_params = bins

    def extra_repr(self) -> str:
        return f"bins={self.bins}"


class PiecewiseLinear(Bins):
    """K bins of [0, 1], straight in each."""

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        phi = theta.softmax(-1)
        before = edges(phi)
        c = (z.clamp(0, 1) * self.bins).long().clamp(max=self.bins - 1)  # counted from 0
        rise = pick(phi, c)
        x = (pick(before, c) + (z * self.bins - c) * rise).clamp(0, 1)  # rounded rises may sum to more
        inside = (z >= 0) & (z <= 1)
        return torch.where(inside, x, z), torch.where(inside, (rise * self.bins).log(), 0.0)

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        phi = theta.softmax(-1)
        before = edges(phi)
        c = find_bin(before, x)
        rise = pick(phi, c)
        z = (c + ((x - pick(before, c)) / rise).clamp(0, 1)) / self.bins
        inside = (x >= 0) & (x <= 1)
        return torch.where(inside, z, x), torch.where(inside, -(rise * self.bins).log(), 0.0)


class SquareRootBins(Bins):
    """K bins of [0, 1], a square root in each; onto [0, Σ √φ], then on with slope 1. Never the identity."""

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        phi = theta.softmax(-1)
        before = edges(phi.sqrt())
        c = (z.clamp(0, 1) * self.bins).long().clamp(max=self.bins - 1)
        inside = (z >= 0) & (z <= 1)
        share = torch.where(inside, z * self.bins - c, 0.5)  # of its bin; any number outside
        rise = pick(phi, c)
        tiny = torch.finfo(z.dtype).tiny
        root = (share * rise).clamp(min=tiny).sqrt()  # the slope is infinite at 0: keep its gradient finite
        tail = torch.where(z > 1, z - 1 + before[..., -1], z)
        slope = (self.bins * rise / (2 * root)).log()
        return torch.where(inside, pick(before, c) + root, tail), torch.where(inside, slope, 0.0)

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        phi = theta.softmax(-1)
        before = edges(phi.sqrt())
        c = find_bin(before, x)
        rise, root = pick(phi, c), x - pick(before, c)
        top = before[..., -1]
        inside = (x >= 0) & (x <= top)
        root = torch.where(inside, root, 0.5)
        z = (c + (root**2 / rise).clamp(max=1)) / self.bins
        tiny = torch.finfo(x.dtype).tiny ** 0.5
        slope = (2 * root.clamp(min=tiny) / (rise * self.bins)).log()
        tail = torch.where(x > top, x - top + 1, x)
        return torch.where(inside, z, tail), torch.where(inside, slope, 0.0)


def edges(rises: Tensor) -> Tensor:
    """(..., K) rises of the bins -> (..., K + 1) values at their edges."""
    return F.pad(rises.cumsum(-1), (1, 0))


def find_bin(knots: Tensor, h: Tensor) -> Tensor:
    """Bin, 0 to K − 1, of h (...) between knots (..., K + 1); h outside has the first or last."""
    return torch.searchsorted(knots[..., 1:-1].contiguous(), h[..., None], right=True)[..., 0]


def pick(values: Tensor, index: Tensor) -> Tensor:
    """values (..., K) at index (...)."""
    return values.gather(-1, index[..., None])[..., 0]
