"""Points: two-dimensional toy densities, for models whose every step can be drawn.

moons, rings, spirals, checkerboard, eight_gaussians, pinwheel: the shapes that the literature on
flows and diffusion draws (e.g. Grathwohl et al. 2019, arXiv:1810.01367); ring8, grid25: the small, far modes
by which collapse is measured (Srivastava et al. 2017, arXiv:1705.07761); sine: pairs of a regression, of
which p(x_2 | x_1) has one peak and p(x_1 | x_2) many (Bishop 1994, mixture density networks). All lie
within about [-4, 4]², their mean is 0 by symmetry.

Shapes: a batch is x (B, 2) float and y (B,) int64, the part that a point belongs to (which moon,
which arm, ...).
"""

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules.base import Drawn

Shape = Literal[
    "moons", "rings", "spirals", "checkerboard", "eight_gaussians", "pinwheel", "sine", "ring8", "grid25"
]


def _polar(radius: Tensor, angle: Tensor) -> Tensor:
    """(N,), (N,) -> (N, 2)"""
    return radius[:, None] * torch.stack([angle.cos(), angle.sin()], 1)


def moons(part: Tensor, generator: torch.Generator) -> Tensor:
    """Two interleaved half circles."""
    angle = math.pi * torch.rand(len(part), generator=generator)
    sign = 1.0 - 2 * part  # the upper moon, the lower one turned by half a circle
    x = _polar(2 * sign, angle) - sign[:, None] * torch.tensor([1.0, 0.5])
    return x + 0.1 * torch.randn(x.shape, generator=generator)


def rings(part: Tensor, generator: torch.Generator) -> Tensor:
    """Three circles around the origin, with radii 1, 2 and 3."""
    x = _polar(part + 1.0, 2 * math.pi * torch.rand(len(part), generator=generator))
    return x + 0.08 * torch.randn(x.shape, generator=generator)


def spirals(part: Tensor, generator: torch.Generator) -> Tensor:
    """Two arms of one and a half turns; the root spreads the points evenly along an arm."""
    turn = torch.rand(len(part), generator=generator).sqrt() * 3 * math.pi
    x = _polar(turn / math.pi, turn + math.pi * part)
    return x + 0.1 * torch.randn(x.shape, generator=generator)


def checkerboard(part: Tensor, generator: torch.Generator) -> Tensor:
    """Uniform on the 8 dark squares of a 4×4 board on [-4, 4]²."""
    row, column = part // 2, part % 2
    corner = torch.stack([4.0 * column + 2.0 * (row % 2), 2.0 * row], 1) - 4
    return corner + 2 * torch.rand(len(part), 2, generator=generator)


# --- Mixtures of round Gaussians: the centres, and the deviation of each -----------------------------


def circle(radius: float, count: int = 8) -> Tensor:
    """Centres on a circle, (count, 2)."""
    return _polar(torch.full((count,), radius), 2 * math.pi / count * torch.arange(count))


MIXTURES: dict[str, tuple[Tensor, float]] = {
    "eight_gaussians": (circle(3.0), 0.25),
    "ring8": (circle(2.0), 0.05),
    "grid25": (torch.cartesian_prod(*[torch.linspace(-4, 4, 5)] * 2), 0.05),
}


def mixture(name: str) -> Callable[[Tensor, torch.Generator], Tensor]:
    """The shape of equally likely round Gaussians."""
    centres, sigma = MIXTURES[name]
    return lambda part, generator: centres[part] + sigma * torch.randn(len(part), 2, generator=generator)


# --- Other shapes -----------------------------------------------------------------------------------


def pinwheel(part: Tensor, generator: torch.Generator) -> Tensor:
    """Five arms, each a Gaussian bent by turning it the more the farther out it is (Johnson et al.
    2016, arXiv:1603.06277)."""
    z = torch.randn(len(part), 2, generator=generator) * torch.tensor([0.6, 0.15])
    z[:, 0] += 2.0
    angle = 2 * math.pi / 5 * part + 0.5 * z[:, 0]  # turns by half a radian per unit of radius
    c, s = angle.cos(), angle.sin()
    return torch.stack([c * z[:, 0] - s * z[:, 1], s * z[:, 0] + c * z[:, 1]], 1)


def sine(part: Tensor, generator: torch.Generator) -> Tensor:
    """x_1 uniform in [-4, 4], x_2 = 2 sin(3/2 x_1) + N(0, 1/4²): entropy ln 8 + ½ ln(2πe/16) = 2.112 nats."""
    x1 = 8 * torch.rand(len(part), generator=generator) - 4
    return torch.stack([x1, 2 * (1.5 * x1).sin() + 0.25 * torch.randn(len(part), generator=generator)], 1)


# Each shape with the number of its parts.
SHAPES: dict[str, tuple[Callable[[Tensor, torch.Generator], Tensor], int]] = {
    "moons": (moons, 2),
    "rings": (rings, 3),
    "spirals": (spirals, 2),
    "checkerboard": (checkerboard, 8),
    **{name: (mixture(name), len(centres)) for name, (centres, _) in MIXTURES.items()},
    "pinwheel": (pinwheel, 5),
    "sine": (sine, 1),
}


# --- True densities -----------------------------------------------------------------------------


def _gaussian(x: Tensor, centres: Tensor, sigma: float, log_weights: Tensor) -> Tensor:
    """log Σ_k w_k N(x; c_k, σ² I): x (N, 2), centres (K, 2) -> (N,)."""
    # ‖x − c‖² multiplied out would lose digits: the differences are few enough
    square = (x[:, None] - centres).square().sum(-1)  # (N, K)
    return (log_weights - square / (2 * sigma**2)).logsumexp(-1) - math.log(2 * math.pi * sigma**2)


def _curve(x: Tensor, parts: list[Tensor], sigma: float, weights: Tensor) -> Tensor:
    """Noise around curves that are given as points (Q, 2) with weights (Q,), each part equally likely."""
    log_weights = (weights / weights.sum() / len(parts)).log().repeat(len(parts))
    return _gaussian(x, torch.cat(parts), sigma, log_weights)


def _log_density(name: str, x: Tensor) -> Tensor:
    def middles(count: int) -> Tensor:
        """Midpoints of [0, 1]: the noise is wide against their distance, so the sum is an integral."""
        return (torch.arange(count, dtype=x.dtype, device=x.device) + 0.5) / count

    if name == "moons":
        angle, offset = math.pi * middles(400), torch.tensor([1.0, 0.5]).to(x)
        arc = _polar(torch.full_like(angle, 2.0), angle) - offset
        return _curve(x, [arc, -arc], 0.1, torch.ones_like(angle))
    if name == "spirals":
        t = middles(1500)
        arm = _polar(3 * t, 3 * math.pi * t)
        return _curve(x, [arm, -arm], 0.1, t)
    if name == "rings":
        radius, r = x.norm(dim=1)[:, None], torch.tensor([1.0, 2.0, 3.0]).to(x)
        u = radius * r / 0.08**2  # I_0(u) = e^u · i0e(u)
        log_p = torch.special.i0e(u).log() - (radius - r) ** 2 / (2 * 0.08**2)
        return log_p.logsumexp(-1) - math.log(3 * 2 * math.pi * 0.08**2)
    if name in MIXTURES:
        centres, sigma = MIXTURES[name]
        return _gaussian(x, centres.to(x), sigma, x.new_full((len(centres),), -math.log(len(centres))))
    if name == "checkerboard":
        column, row = (x / 2).floor().long().unbind(1)
        dark = ((column + row) % 2 == 0) & (column.abs() <= 2) & (row.abs() <= 2) & (x < 4).all(1)
        dark &= (x >= -4).all(1)
        return torch.where(dark, -math.log(32.0), -torch.inf).to(x)
    if name == "sine":
        noise = (x[:, 1] - 2 * (1.5 * x[:, 0]).sin()) / 0.25
        log_p = -0.5 * noise**2 - math.log(8 * 0.25) - 0.5 * math.log(2 * math.pi)
        return torch.where(x[:, 0].abs() <= 4, log_p, -torch.inf)
    raise ValueError(f"The density of {name!r} has no closed form here.")


# In nats, −∫ p log p by the rectangle rule; what no model can beat on average. Unknown of the pinwheel.
ENTROPY: dict[str, float] = {
    "moons": 1.6755,
    "rings": 2.4262,
    "spirals": 2.4946,
    "checkerboard": 3.4657,  # ln 32
    "eight_gaussians": 2.1447,  # ln 8 + ln(2πe/16): they do not touch
    "ring8": math.log(8 * 2 * math.pi * math.e * 0.05**2),  # they do not touch either
    "grid25": math.log(25 * 2 * math.pi * math.e * 0.05**2),
    "sine": 2.1120,
}


def log_density(name: Shape, x: Tensor) -> Tensor:
    """log p(x) of a shape in nats: x (N, 2) -> (N,); exact, or a fine sum along the curve.

    Raises:
        ValueError: no such shape, or one whose density is not known.
    """
    return torch.cat([_log_density(name, part) for part in x.split(4096)])


def sample(name: Shape, n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """`n` points (n, 2) of a shape and their parts (n,), equally likely.

    Raises:
        ValueError: no such shape.
    """
    if name not in SHAPES:
        raise ValueError(f"name is {name!r}: it must be one of {', '.join(get_args(Shape))}.")
    draw, parts = SHAPES[name]
    generator = torch.Generator().manual_seed(seed)
    part = torch.randint(parts, (n,), generator=generator)
    return draw(part, generator), part


class Points(Drawn):
    """Points of one shape; every split is its own draw.

    Args:
        name: the shape.
        batch_size: points per optimizer step over all processes together.
        seed: of the order of each epoch; the points themselves are the same for every seed.
        num_train, num_val, num_test: points in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, name: Shape = "moons", batch_size: int = 256, seed: int = 0, num_train: int = 10_000,
        num_val: int = 2_000, num_test: int = 5_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed, 2, num_train, num_val, num_test)
        if name not in SHAPES:
            raise ValueError(f"name is {name!r}: it must be one of {', '.join(get_args(Shape))}.")
        self.shape: Shape = name  # Lightning has its own `name`

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        return sample(self.shape, count, seed)

    @property
    def sizes(self) -> dict[str, Any]:
        sizes: dict[str, Any] = {
            "event_shape": (2,), "num_features": 2, "num_classes": SHAPES[self.shape][1],
        }  # fmt: skip
        if self.shape in MIXTURES:
            centres, sigma = MIXTURES[self.shape]
            sizes |= {"modes": centres.tolist(), "mode_sd": sigma}
        return sizes

    def describe(self) -> dict[str, Any]:
        return {"name": "Points", "shape": self.shape, "splits": self.counts, "seed": self.seed}
