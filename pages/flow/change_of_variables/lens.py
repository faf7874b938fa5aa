"""A curve x = f(z) in one dimension, and what it makes of a density: values, slopes, strips of equal mass.

    p(x) = p(z) / f'(z),   z = f⁻¹(x)

Shapes: (N,) places on the line; S strips.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.distributions import Distribution, Normal, Uniform

from datamodules import cells
from lab.errors import UserError
from modules.flow.change import Exp, Exponential, Power, Quantile, Sigmoid
from modules.flow.layer import FlowLayer, ValueAndLogDet
from modules.flow.monotone import Elementwise, LeakyReLU

STRIPS = 41  # places of the film
MASS = 0.1  # of every strip
REACH = 20.0  # typed numbers lie within


class Broken(FlowLayer):
    """A line broken at typed points (z, x), both rising; the ends go on as they are.

    Args:
        points: at least two pairs.

    Raises:
        UserError: fewer than two points, or x does not rise with z.
    """

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        super().__init__()
        z, x = (torch.tensor(values, dtype=torch.float64) for values in zip(*sorted(points), strict=True))
        if len(z) < 2:
            raise UserError("Type at least two points, such as -2:-1, 2:3.")
        if (z.diff() <= 0).any() or (x.diff() <= 0).any():
            at = int(((z.diff() <= 0) | (x.diff() <= 0)).nonzero()[0]) + 1
            raise UserError(
                f"From point {at} to point {at + 1} the curve does not rise: two z would have one x, and no "
                "density could be told. Raise the x of the later point."
            )
        self.z, self.x = nn.Buffer(z), nn.Buffer(x)
        self.slopes = nn.Buffer(x.diff() / z.diff())

    def along(self, at: Tensor, knots: Tensor, values: Tensor, slopes: Tensor) -> ValueAndLogDet:
        piece = (torch.searchsorted(knots, at.contiguous()) - 1).clamp(0, len(slopes) - 1)
        return values[piece] + slopes[piece] * (at - knots[piece]), slopes[piece].log().sum(-1)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.along(z, self.z, self.x, self.slopes)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.along(x, self.x, self.z, 1 / self.slopes)


@dataclass(frozen=True)
class Curve:
    """A curve and the base it is fed with.

    Attributes:
        layer: its map, on the last axis. base: a distribution of one number.
        window: of x, as it is drawn.
    """

    layer: FlowLayer
    base: Distribution
    window: tuple[float, float]

    def of(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """x and f'(z) at places z (N,)."""
        with torch.no_grad():
            x, ladj = self.layer.generate(z[:, None])
        return x[:, 0], ladj.exp()

    def back(self, x: Tensor) -> Tensor:
        """z at places x (N,)."""
        with torch.no_grad():
            return self.layer.normalize(x[:, None])[0][:, 0]

    def densities(self, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """p(z), x = f(z) and p(x)."""
        before = self.base.log_prob(z).exp()
        x, slope = self.of(z)
        return before, x, before / slope


NORMAL, UNIFORM = Normal(*torch.tensor([0.0, 1.0]).double()), Uniform(*torch.tensor([0.0, 1.0]).double())


def curve(name: str, knob: float, points: Sequence[tuple[float, float]]) -> Curve:
    """The curve of a name; `knob` is its one number, if it has one.

    Raises:
        UserError: the typed points do not rise.
    """
    if name == "e^z":
        return Curve(Exp(), NORMAL, (0.0, 6.0))
    if name == "sigmoid":
        return Curve(Sigmoid(), NORMAL, (0.0, 1.0))
    if name == "leaky":
        return Curve(Elementwise(1, LeakyReLU(knob)), NORMAL, (-3.0, 3.0))
    if name == "two hills":
        return Curve(Quantile([1, 1], [-knob, knob], [0.5, 0.5]), NORMAL, (-knob - 2, knob + 2))
    if name == "z²":
        return Curve(Power(2.0), UNIFORM, (0.0, 1.0))
    if name == "−log(1 − z)/λ":
        return Curve(Exponential(knob), UNIFORM, (0.0, 4 / knob))
    layer = Broken(points)
    (low, high), _ = layer.generate(torch.tensor([[-3.0], [3.0]], dtype=torch.float64))
    return Curve(layer, NORMAL, (float(low), float(high)))


def places(chosen: Curve, count: int = 301) -> Tensor:
    """Places z (count,) over the mass of the base, denser where there is more of it."""
    u = torch.linspace(0, 1, count + 2, dtype=torch.float64)[1:-1]
    even = torch.linspace(-3.5, 3.5, count, dtype=torch.float64) if chosen.base is NORMAL else u
    return torch.cat([chosen.base.icdf(u), even]).sort().values


@dataclass(frozen=True)
class Strips:
    """S strips of mass MASS, from left to right.

    Attributes:
        ends_z, ends_x: (S, 2). z, x, slope: (S,) of their middles (by mass).
        before, after: (S,) the densities there.
    """

    ends_z: Tensor
    ends_x: Tensor
    z: Tensor
    x: Tensor
    slope: Tensor
    before: Tensor
    after: Tensor


def strips(chosen: Curve) -> Strips:
    middle = torch.linspace(MASS / 2 + 1e-3, 1 - MASS / 2 - 1e-3, STRIPS, dtype=torch.float64)
    ends = chosen.base.icdf(torch.stack([middle - MASS / 2, middle + MASS / 2], 1))
    z = chosen.base.icdf(middle)
    (x, slope), before = chosen.of(z), chosen.base.log_prob(z).exp()
    return Strips(ends, chosen.of(ends.ravel())[0].reshape(-1, 2), z, x, slope, before, before / slope)


def inside(chosen: Curve, ends: Tensor, count: int = 24) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Under both densities, inside strips with these ends (S, 2): z, p(z), x, p(x), each (S, count)."""
    share = torch.linspace(0, 1, count, dtype=torch.float64)
    z = ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * share
    before, x, after = (values.reshape(z.shape) for values in chosen.densities(z.ravel()))
    return z, before, x, after


def histogram(chosen: Curve, draws: int, seed: int, bins: int = 40) -> tuple[Tensor, Tensor]:
    """Middles of the bins (bins,) of x in its window, and the density of `draws` samples in each."""
    u = torch.rand(draws, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x = chosen.of(chosen.base.icdf(u.clamp(1e-12, 1 - 1e-12)))[0]
    low, high = chosen.window
    edges = torch.linspace(low, high, bins + 1, dtype=torch.float64)
    counts = torch.histc(x[(x >= low) & (x <= high)], bins, low, high)
    return (edges[1:] + edges[:-1]) / 2, counts / (draws * (high - low) / bins)


def mass(chosen: Curve, z: Tensor, count: int = 4001) -> tuple[float, float]:
    """∫ p(x) dx between the first and the last of the places z, by trapezes between many places, and what it
    should be: the mass of the base there.

    Even in the mass, in z and in x: a steep curve leaves places that are even in z alone far apart.
    """
    low, high = z[0], z[-1]
    at = torch.linspace(0, 1, count, dtype=torch.float64)
    between = chosen.base.cdf(torch.stack([low, high]))
    ends = chosen.of(torch.stack([low, high]))[0]
    breaks = chosen.layer.z if isinstance(chosen.layer, Broken) else torch.zeros(1, dtype=torch.float64)
    every = torch.cat([
        chosen.base.icdf(between[0] + (between[1] - between[0]) * at),
        low + (high - low) * at,
        chosen.back(ends[0] + (ends[1] - ends[0]) * at),
        breaks - 1e-9, breaks + 1e-9,  # where a slope jumps, both of its sides
    ]).clamp(low, high).sort().values  # fmt: skip
    _, x, after = chosen.densities(every)
    return float(torch.trapezoid(after, x)), float(between[1] - between[0])


def pairs(text: str, most: int = 12) -> tuple[list[tuple[float, float]], str]:
    """Typed points `z:x`, apart by commas or spaces, and a sentence on what is left out ("" for nothing)."""
    result, strange = [], []
    words, decided = cells.colons(text)
    for word in words:
        parts = word.split(":")
        try:
            z, x = (float(part) for part in parts)
            fits = abs(z) <= REACH and abs(x) <= REACH
        except ValueError:
            fits = False
        if fits:
            result.append((z, x))
        else:
            strange.append(word)
    texts = (
        f"“{strange[0][:20]}” is no point z:x with numbers up to {REACH:g}: it is left out."
        if strange
        else ""
    )
    return result[:most], f"{decided} {texts}".strip()


def captions(result: Strips) -> list[str]:
    """Sentence on the way of each strip."""
    return [
        f"{MASS:g} of the mass: {wide(z)} wide in z, {wide(x)} wide in x. Slope {s:.2f}: the density "
        f"is {'as it was' if abs(s - 1) < 5e-3 else f'divided by {s:.2f}'}."
        for z, x, s in zip(result.ends_z, result.ends_x, result.slope.tolist(), strict=True)
    ]


def wide(ends: Tensor) -> str:
    return f"{float(ends[1] - ends[0]):.3f}"


def equations(result: Strips) -> list[str]:
    return [
        rf"p_X({x:.2f}) = \frac{{p_Z(z)}}{{f'(z)}} = \frac{{{b:.4f}}}{{{s:.4f}}} = {a:.4f}"
        for x, b, s, a in zip(
            result.x.tolist(),
            result.before.tolist(),
            result.slope.tolist(),
            result.after.tolist(),
            strict=True,
        )
    ]
