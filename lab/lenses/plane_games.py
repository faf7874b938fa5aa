"""A look at a GAN of points of the plane: what G generates, D's output, and where it sends points.

    an arrow at x* = g(z):  −∂/∂x* of G's loss, what its next turn would have of this example

Shapes: F looks; SHOWN made points (F, SHOWN, 2); D on a grid (F, SIDE, SIDE); the first ARROWS points have
arrows.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import points
from lab.lenses import plane
from modules.adversarial.gan import GAN
from modules.adversarial.losses import Energy, Saturating
from modules.adversarial.metrics import nearest_modes
from modules.adversarial.transport import assignment

REACH, SIDE = 4.6, 31  # of the plane, and of D's grid
SHOWN, ARROWS = 400, 40
LONGEST = 0.6  # of an arrow
COMPARED = 200
SHARE = 0.008  # of all samples that a mode has at least


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        batches: so far. made: (SHOWN, 2). surface: (SIDE, SIDE), D from 0 to 1, rows upwards.
        arrows: (ARROWS, 2), the longest of length LONGEST.
        w1: W₁ between COMPARED made and as many real points.
        modes: that are reached; quality: share within 3 sd of one; None where no modes are known.
    """

    batches: int
    made: Tensor
    surface: Tensor
    arrows: Tensor
    w1: float
    modes: int | None
    quality: float | None


def look(model: GAN, x: Tensor, name: str, done: int, pack: int = 1) -> Look:
    """Compute what there is to see of a game; its own random numbers are left alone."""
    z = model.noise(2500, torch.Generator().manual_seed(7))
    with torch.no_grad():
        result = model.generator(z)
    modes = quality = None
    if name in points.MIXTURES:
        centres, sd = points.MIXTURES[name]
        mode, distance = nearest_modes(result, centres)
        near = mode[distance <= 3 * sd]
        modes = int((near.bincount(minlength=len(centres)) >= SHARE * len(result)).sum())
        quality = len(near) / len(result)
    w1 = float(assignment(result[:COMPARED], x[:COMPARED])[1])
    return Look(done, result[:SHOWN], surface(model, pack), arrows(model, result, x), w1, modes, quality)


def surface(model: GAN, pack: int) -> Tensor:
    """σ(f) over the plane; f without a probability is brought to mean 0 and deviation 2 first."""
    places = plane.corners(REACH, SIDE, torch.float32).flatten(0, 1)
    each = places.repeat_interleave(pack, 0)  # packs of one point
    with torch.no_grad():
        f = model.discriminate(each)
    if isinstance(model.gan_loss, Energy):
        f = -f  # real examples have little
    if not isinstance(model.gan_loss, Saturating):
        f = 2 * (f - f.mean()) / f.std().clamp(min=1e-9)
    return f.sigmoid().reshape(SIDE, SIDE)


def arrows(model: GAN, result: Tensor, x: Tensor) -> Tensor:
    """Downhill of G's loss at the first made points, scaled to LONGEST: (ARROWS, 2)."""
    count = 256
    fake = result[:count].clone().requires_grad_()
    (slope,) = torch.autograd.grad(model.g_loss(fake, x[:count]), fake)
    slope = -slope[:ARROWS]
    return LONGEST * slope / slope.norm(dim=1).max().clamp(min=1e-12)


def segments(looks: list[Look]) -> Tensor:
    """The arrows as lines with gaps: (F, 3 · ARROWS, 2)."""
    start = torch.stack([one.made[:ARROWS] for one in looks])
    end = start + torch.stack([one.arrows for one in looks])
    gap = torch.full_like(start, torch.nan)
    return torch.stack([start, end, gap], 2).flatten(1, 2)


def modes_of(name: str) -> int:
    """Number of modes of a target, where it is known."""
    return len(points.MIXTURES[name][0]) if name in points.MIXTURES else 0
