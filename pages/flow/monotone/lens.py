"""Monotone maps of the unit interval, built from K rises φ: value, slope, inverse, and where they break.

    c = ⌊K h⌋ + 1,  S_c = Σ_{k<c} φ_k,  t = K h − c + 1
    linear     f(h) = S_c + t φ_c                                       slope K φ_c
    roots      f(h) = Σ_{k<c} √φ_k + √(t φ_c)                           onto [0, Σ √φ]
    cubic, rational quadratic   through the same knots, with a slope d at each of them

[UDL] eq. 16.12 and 16.33 take c = ⌊K h⌋, which lags a bin. Shapes: φ (K,); slopes at knots d (K + 1,);
places h (P,).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.flow.bins import PiecewiseLinear, SquareRootBins, edges
from modules.flow.layer import ValueAndLogDet, increasing_root
from modules.flow.monotone import Monotone
from modules.flow.spline import cubic, rational_quadratic, rational_quadratic_inverse

KINDS = ("linear", "√ bins", "cubic", "rational quadratic")
MOST = 10  # bins
FRAMES = 51  # places of the film
FLATTEST = 1e-6  # of a rise: what is flatter has no inverse in double precision
LARGEST = 0.9  # of a rise that is set by a click
EDGE = 1e-9


@dataclass(frozen=True)
class Map:
    """A map of [0, 1], given by K rises; splines have slopes at the knots too."""

    kind: str
    phi: Tensor
    slopes: Tensor

    def of(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """f(h) and f′(h), each (P,)."""
        if self.kind in ("linear", "√ bins"):
            value, log_slope = self.bins().generate(h, self.theta(h))
            return value, log_slope.exp()
        if self.kind == "rational quadratic":
            inner = h.clamp(EDGE, 1 - EDGE)  # the slope at the ends, not that of the identity outside
            knots = self.knots(h)
            return rational_quadratic(h, *knots)[0], rational_quadratic(inner, *knots)[1].exp()
        k, t, rise = self.place(h)
        mean = rise * len(self.phi)  # slope of the bin
        value, slope = cubic(t, self.slopes[k] / mean, self.slopes[k + 1] / mean)
        return edges(self.phi)[k] + rise * value, slope * mean

    def back(self, x: Tensor) -> Tensor | None:
        """The inverse at x (P,); None where the map folds."""
        if self.forbidden():
            return None
        if self.kind in ("linear", "√ bins"):
            return self.bins().normalize(x, self.theta(x))[0]
        if self.kind == "rational quadratic":
            return rational_quadratic_inverse(x, *self.knots(x))[0]

        def inside(h: Tensor) -> ValueAndLogDet:
            value, slope = self.of(h.clamp(0, 1))
            out = (h < 0) | (h > 1)
            return torch.where(out, h, value), torch.where(out, 0.0, slope.clamp(min=1e-12).log())

        return increasing_root(inside, x)

    def forbidden(self) -> list[tuple[float, float]]:
        """Intervals of h in which the slope is negative."""
        h = places(2001)
        bad = torch.cat([torch.tensor([False]), self.of(h)[1] < -1e-9, torch.tensor([False])]).int().diff()
        starts, ends = (bad == 1).nonzero()[:, 0], (bad == -1).nonzero()[:, 0] - 1
        return [(float(h[a]), float(h[b])) for a, b in zip(starts, ends, strict=True)]

    @property
    def top(self) -> float:
        """f(1)."""
        return float((self.phi.sqrt() if self.kind == "√ bins" else self.phi).sum())

    def printed(self, h: Tensor) -> Tensor | None:
        """As the text prints it: the bin is ⌊K h⌋ where the first φ is numbered 1; None for splines."""
        if self.kind not in ("linear", "√ bins"):
            return None
        c = (h * len(self.phi)).floor().long()  # 0 … K
        t = h * len(self.phi) - c
        rises = self.phi.sqrt() if self.kind == "√ bins" else self.phi
        mine = torch.cat([self.phi.new_zeros(1), self.phi])[c]  # there is no φ_0: nothing rises
        part = (t * mine).sqrt() if self.kind == "√ bins" else t * mine
        return edges(rises)[(c - 1).clamp(min=0)] + part

    def bins(self) -> Monotone:
        return (PiecewiseLinear if self.kind == "linear" else SquareRootBins)(len(self.phi))

    def knots(self, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Places, values and slopes of the knots, for each of h: (P, K + 1)."""
        even = places(len(self.phi) + 1)
        at, values, slopes = (v.expand(len(h), -1).contiguous() for v in (even, edges(self.phi), self.slopes))
        return at, values, slopes

    def theta(self, h: Tensor) -> Tensor:
        return self.phi.log().expand(*h.shape, -1)

    def place(self, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Bin from 0, share of it, and its rise."""
        k = (h * len(self.phi)).long().clamp(0, len(self.phi) - 1)
        return k, h * len(self.phi) - k, self.phi[k]


def places(count: int) -> Tensor:
    return torch.linspace(0, 1, count, dtype=torch.float64)


def build(kind: str, rises: list[float], factor: float, typed: list[float]) -> Map:
    """The map of rises that sum to 1.

    Args:
        factor: the slope at a knot, in means of its neighbours' slopes.
        typed: the K + 1 slopes at the knots instead; or none.
    """
    phi = torch.tensor(rises, dtype=torch.float64)
    mean = len(phi) * phi
    between = torch.cat([mean[:1], (mean[1:] + mean[:-1]) / 2, mean[-1:]])
    slopes = torch.tensor(typed, dtype=torch.float64) if typed else factor * between
    return Map(kind, phi, slopes)


def difference(chosen: Map, h: float, width: float = 1e-6) -> float:
    """(f(h + width) − f(h)) / width, inside of the interval."""
    h = min(h, 1 - width)
    low, high = chosen.of(torch.tensor([h, h + width], dtype=torch.float64))[0].tolist()
    return (high - low) / width


def steep(rises: list[float]) -> tuple[list[float], str]:
    """Those that have an inverse, as shares of their sum, and a sentence about the others, or "".

    A rational quadratic of rise φ between steep knots has slopes down to about φ² / 12: at a rise of FLATTEST
    the way back misses by 10⁻⁴ at most, at a tenth of that by a hundred times as much.
    """
    kept = [v for v in rises if v >= FLATTEST]
    flat = f"A bar below {FLATTEST:.6f} of all would be flat, with no inverse: it is left out."
    return [v / sum(kept) for v in kept], flat if len(kept) < len(rises) else ""


def with_rise(rises: list[float], bin: int, rise: float) -> str:
    """The rises as a text, one of them set (`bin` from 0); the others make room, so that the sum stays 1."""
    rise = min(LARGEST, max(0.01, rise))
    rest = sum(rises) - rises[bin]
    share = [(1 - rise) / (len(rises) - 1) if rest <= 0 else v * (1 - rise) / rest for v in rises]
    share[bin] = rise
    return " ".join(f"{v:.3g}" for v in share)


def captions(chosen: Map, h: Tensor, x: Tensor, slope: Tensor, back: Tensor | None) -> list[str]:
    k, t, _ = chosen.place(h)
    texts = []
    for i in range(len(h)):
        how = "∞" if math.isinf(float(slope[i])) else f"{float(slope[i]):.3f}"
        way = "no inverse: the map folds" if back is None else f"f⁻¹ of it is {float(back[i]):.3f}"
        folds = " Forbidden: the slope is negative." if float(slope[i]) < -1e-9 else ""
        texts.append(
            f"h = {float(h[i]):.2f} lies {float(t[i]):.0%} into bin {int(k[i]) + 1}; the slope is {how}; "
            f"{way}.{folds}"
        )
    return texts


def equations(chosen: Map, h: Tensor, x: Tensor) -> list[str]:
    k, t, rise = chosen.place(h)
    before = edges(chosen.phi.sqrt() if chosen.kind == "√ bins" else chosen.phi)[k]
    texts = []
    lists = (v.tolist() for v in (h, k, t, rise, before, x))
    for place, bin, share, phi, start, value in zip(*lists, strict=True):
        part = {
            "linear": rf"{share:.2f} \cdot {phi:.3f}",
            "√ bins": rf"\sqrt{{{share:.2f} \cdot {phi:.3f}}}",
        }.get(chosen.kind, rf"{phi:.3f} \cdot {(value - start) / phi:.3f}")
        texts.append(rf"c = {bin + 1}, \quad f({place:.2f}) = {start:.3f} + {part} = {value:.3f}")
    return texts
