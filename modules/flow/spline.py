r"""Splines: monotone maps of [−B, B] by K bins with learned knots and slopes, the identity outside.

Rational quadratic, t = (x − x_k)/Δx in bin k, s = Δy/Δx, d_k the slopes at the knots (1 at ±B):

    y = y_k + Δy (s t² + d_k t (1 − t)) / (s + (d_{k+1} + d_k − 2s) t (1 − t))
    dy/dx = s² (d_{k+1} t² + 2 s t (1 − t) + d_k (1 − t)²) / (s + (d_{k+1} + d_k − 2s) t (1 − t))²

Its inverse is the stable root t = 2c/(−b − √(b² − 4ac)) of a quadratic; float32 can make the discriminant
slightly negative, so it is clamped at 0. Cubic (Hermite) in the same unit bin:

    y = d_0 t + (3 − 2 d_0 − d_1) t² + (d_0 + d_1 − 2) t³

which is monotone for slopes up to 3 times the bin's (4 and 4 is too steep: slope −½ in the middle).

θ: rational quadratic K widths, K heights, K − 1 slopes; cubic K widths, K heights, 2 slopes at the ends, the
others from the neighbours' (Steffen 1990). Both are the identity at θ = 0. Shapes: h (...), θ (..., k).
References: Durkan et al. 2019, arXiv:1906.04032 and arXiv:1906.02145; [UDL] 16.3.2.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require
from modules.flow.bins import find_bin, pick
from modules.flow.layer import ValueAndLogDet
from modules.flow.monotone import Monotone

LEAST = 1e-3  # of a width or height, as a share of all; and of a slope


class Spline(Monotone):
    """Base of splines.

    Args:
        bins: K.
        bound: B.
    """

    def __init__(self, bins: int = 8, bound: float = 4.0) -> None:
        super().__init__()
        require(1, below=1 / LEAST, bins=bins)
        require(1e-3, bound=bound)
        self.bins, self.bound = bins, float(bound)

    def extra_repr(self) -> str:
        return f"bins={self.bins}, bound={self.bound}"


class RationalQuadratic(Spline):
    """Monotone rational-quadratic spline."""

    def __init__(self, bins: int = 8, bound: float = 4.0) -> None:
        super().__init__(bins, bound)
        self.num_params = 3 * bins - 1
        self.slope_offset = math.log(math.expm1(1 - LEAST))  # softplus of it, with the least slope, is 1

    def knots(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """θ (..., 3 K − 1) -> x, y and slope of the K + 1 knots, each (..., K + 1)."""
        widths, heights, slopes = theta.split([self.bins, self.bins, self.bins - 1], -1)
        slopes = F.pad(F.softplus(slopes + self.slope_offset) + LEAST, (1, 1), value=1.0)
        return knot_positions(widths, self.bound), knot_positions(heights, self.bound), slopes

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        return rational_quadratic(z, *self.knots(theta))

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        return rational_quadratic_inverse(x, *self.knots(theta))


class Cubic(Spline):
    """Monotone cubic spline; its inverse is solved."""

    def __init__(self, bins: int = 8, bound: float = 4.0) -> None:
        super().__init__(bins, bound)
        self.num_params = 2 * bins + 2

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        raw_widths, raw_heights, ends = theta.split([self.bins, self.bins, 2], -1)
        xs, ys = knot_positions(raw_widths, self.bound), knot_positions(raw_heights, self.bound)
        widths, slopes = xs.diff(dim=-1), ys.diff(dim=-1) / xs.diff(dim=-1)
        w0, w1, s0, s1 = widths[..., :-1], widths[..., 1:], slopes[..., :-1], slopes[..., 1:]
        mean = (s0 * w1 + s1 * w0) / (w0 + w1)  # of the parabola through three knots
        inner = 2 * torch.minimum(torch.minimum(s0, s1), mean / 2)
        outer = 3 * (ends - math.log(2)).sigmoid() * slopes[..., [0, -1]]  # below 3 times the bin's
        ds = torch.cat([outer[..., :1], inner, outer[..., 1:]], -1)

        inside = (z > -self.bound) & (z < self.bound)
        h = z.clamp(-self.bound, self.bound)
        k = find_bin(xs, h)
        width, s = pick(widths, k), pick(slopes, k)
        t = (h - pick(xs, k)) / width
        y, slope = cubic(t, pick(ds, k) / s, pick(ds, k + 1) / s)
        x = pick(ys, k) + y * s * width
        return torch.where(inside, x, z), torch.where(inside, (slope * s).log(), 0.0)


def knot_positions(raw: Tensor, bound: float) -> Tensor:
    """(..., K) -> K + 1 knots from −B to B, (..., K + 1), no two of them closer than the least width."""
    bins = raw.shape[-1]
    shares = LEAST + (1 - LEAST * bins) * raw.softmax(-1)
    inner = (2 * bound) * shares[..., :-1].cumsum(-1) - bound
    return F.pad(F.pad(inner, (1, 0), value=-bound), (0, 1), value=bound)


def cubic(t: Tensor, d0: Tensor, d1: Tensor) -> ValueAndLogDet:
    """Hermite's cubic from (0, 0) to (1, 1) with slopes d0 and d1: value and slope (not its logarithm)."""
    value = t * (d0 + t * (3 - 2 * d0 - d1 + t * (d0 + d1 - 2)))
    slope = d0 + t * (2 * (3 - 2 * d0 - d1) + 3 * t * (d0 + d1 - 2))
    return value, slope


def bin_ends(knots: tuple[Tensor, Tensor, Tensor], k: Tensor) -> tuple[Tensor, ...]:
    """x, y, slope at the left end of bin k (...), then at its right end: six of (...)."""
    left, right = k[..., None], k[..., None] + 1
    return tuple(values.gather(-1, index)[..., 0] for index in (left, right) for values in knots)


def rational_quadratic(x: Tensor, xs: Tensor, ys: Tensor, ds: Tensor) -> ValueAndLogDet:
    """x (...) -> y (...) and log slope, through knots xs, ys with slopes ds, each (..., K + 1)."""
    low, high = xs[..., 0], xs[..., -1]
    inside = (x > low) & (x < high)
    h = torch.minimum(torch.maximum(x, low), high)
    x0, y0, d0, x1, y1, d1 = bin_ends((xs, ys, ds), find_bin(xs, h))
    width, rise = x1 - x0, y1 - y0
    s, t = rise / width, (h - x0) / width
    between = t * (1 - t)
    below = s + (d1 + d0 - 2 * s) * between
    y = y0 + rise * (s * t * t + d0 * between) / below
    slope = (d1 * t * t + 2 * s * between + d0 * (1 - t) ** 2).log() + 2 * (s / below).log()
    return torch.where(inside, y, x), torch.where(inside, slope, 0.0)


def rational_quadratic_inverse(y: Tensor, xs: Tensor, ys: Tensor, ds: Tensor) -> ValueAndLogDet:
    """y (...) -> x (...) and the log slope of the inverse."""
    low, high = ys[..., 0], ys[..., -1]
    inside = (y > low) & (y < high)
    h = torch.minimum(torch.maximum(y, low), high)
    x0, y0, d0, x1, y1, d1 = bin_ends((xs, ys, ds), find_bin(ys, h))
    width, rise, up = x1 - x0, y1 - y0, h - y0
    s = rise / width
    bend = d1 + d0 - 2 * s
    a, b, c = up * bend + rise * (s - d0), rise * d0 - up * bend, -s * up
    discriminant = (b * b - 4 * a * c).clamp(min=torch.finfo(y.dtype).tiny)
    t = 2 * c / (-b - discriminant.sqrt())
    between = t * (1 - t)
    below = s + bend * between
    slope = (d1 * t * t + 2 * s * between + d0 * (1 - t) ** 2).log() + 2 * (s / below).log()
    return torch.where(inside, x0 + t * width, y), torch.where(inside, -slope, 0.0)
