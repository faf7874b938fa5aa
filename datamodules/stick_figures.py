"""Stick figures: rendered people with the place of every joint known, whose left and right look alike.

Every figure faces the viewer, so its left is on the right of the picture, as long as it stands upright. It
leans, its arms and legs cross: nothing at a wrist says which one it is. Its arm has to be followed to the
shoulder, and the shoulder to be set against head and hips. Blocks may cover joints, whose places stay known.
A stand-in for people ([UDL] §11.5.3, figure 11.12); the joints are those of the Leeds Sports Poses.

    head = neck + .45 · up      elbow = shoulder + upper arm · (sin, cos)(lean + angle)      ... in torsos

Shapes: a batch is x (B, 1, H, W) float in [0, 1] and joints (B, J, 3) float: row and column in pixels,
from the edge of the first, and 1 where the joint is seen, 0 under a block.
"""

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor

from datamodules.base import Drawn, within

JOINTS = (
    "head", "neck", "left shoulder", "left elbow", "left wrist",
    "right shoulder", "right elbow", "right wrist",
    "left hip", "left knee", "left ankle", "right hip", "right knee", "right ankle",
)  # fmt: skip
HEAD, NECK, SHOULDERS, HIPS = 0, 1, (2, 5), (8, 11)  # left first, then elbow and wrist, knee and ankle
SWAPPED = (0, 1, 5, 6, 7, 2, 3, 4, 11, 12, 13, 8, 9, 10)  # the joint of the other side
LIMBS = (
    (0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 6), (6, 7),
    (2, 8), (8, 9), (9, 10), (5, 11), (11, 12), (12, 13), (8, 11),
)  # fmt: skip
RADIUS = 0.26  # of the head, in torsos
SMALLEST = 0.075  # radius of a head, of the side: a ring has a middle
MARGIN = 0.06  # of the side, around all joints
TALL = (0.5, 0.88)  # longer side of the box of all joints, as a share of the picture
THICK = (0.016, 0.03)  # half the thickness of limbs, of the side
THIN = 0.018  # at most half the thickness of the ring of a head, of the side
BLOCKS = 2  # at most
CHUNK = 250  # figures rendered at once


def uniform(low: float, high: float, *shape: int, generator: torch.Generator) -> Tensor:
    return low + (high - low) * torch.rand(*shape, generator=generator)


def along(start: Tensor, length: Tensor, angle: Tensor) -> Tensor:
    """End (N, 2), row and column, of a limb; angle 0 is down, π/2 to the right."""
    return start + length[:, None] * torch.stack([angle.cos(), angle.sin()], -1)


def poses(count: int, generator: torch.Generator) -> Tensor:
    """Joints (count, J, 2) in torsos, not yet placed."""

    def u(low: float, high: float) -> Tensor:
        return uniform(math.radians(low), math.radians(high), count, generator=generator)

    def length(middle: float) -> Tensor:
        return middle * uniform(0.85, 1.15, count, generator=generator)

    lean = u(-50, 50)
    joints = torch.zeros(count, len(JOINTS), 2)
    joints[:, HEAD] = along(joints[:, NECK], length(0.45), lean + math.pi + u(-20, 20))
    pelvis = along(joints[:, NECK], torch.ones(count), lean)
    for side, shoulder, hip in zip((1, -1), SHOULDERS, HIPS, strict=True):  # 1 is right in the picture
        across = lean + side * math.pi / 2
        joints[:, shoulder] = along(joints[:, NECK], length(0.32), across - side * u(0, 15))
        joints[:, hip] = along(pelvis, length(0.2), across)
        for start, first, second, bend in (
            (shoulder, (-25, 165), (0.55, 0.5), (-40, 130)),
            (hip, (-20, 55), (0.62, 0.6), (-70, 15)),
        ):
            angle = lean + side * u(*first)
            joints[:, start + 1] = along(joints[:, start], length(second[0]), angle)
            joints[:, start + 2] = along(joints[:, start + 1], length(second[1]), angle + side * u(*bend))
    return joints


def placed(joints: Tensor, side: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Joints (N, J, 2) in pixels of a picture, which holds them all, and pixels of a torso (N,)."""
    low, high = joints.amin(1), joints.amax(1)  # (N, 2)
    size = (high - low).amax(1)
    scale = side * uniform(*TALL, len(joints), generator=generator) / size
    room = side * (1 - 2 * MARGIN) - scale[:, None] * (high - low)
    corner = side * MARGIN + room * torch.rand(len(joints), 2, generator=generator)
    return corner[:, None] + scale[:, None, None] * (joints - low[:, None]), scale


def strokes(joints: Tensor, thick: Tensor, side: int) -> Tensor:
    """Ink (N, side, side) in [0, 1] of all limbs, each a line with round ends.

    Args:
        joints: (N, J, 2) in pixels.
        thick: (N, limbs), half the thickness in pixels.
    """
    a, b = (joints[:, [limb[end] for limb in LIMBS], None, None] for end in (0, 1))  # (N, limbs, 1, 1, 2)
    at = torch.arange(side) + 0.5
    rows, columns = at[:, None] - a[..., 0], at - a[..., 1]  # (N, limbs, side, 1), (N, limbs, 1, side)
    down, right = b[..., 0] - a[..., 0], b[..., 1] - a[..., 1]
    share = (rows * down + columns * right) / (down.square() + right.square()).clamp(min=1e-6)
    share = share.clamp(0, 1)
    away = torch.hypot(rows - share * down, columns - share * right)  # (N, limbs, side, side)
    return (thick[..., None, None] + 0.5 - away).clamp(0, 1).amax(1)


def headed(ink: Tensor, joints: Tensor, torso: Tensor, thick: Tensor) -> Tensor:
    """Ink with the heads, each a ring that nothing is seen through.

    Args:
        ink: (N, side, side).
        joints: (N, J, 2) in pixels.
        torso, thick: (N,), length of the torso and half the thickness of the ring.
    """
    side = ink.shape[-1]
    at = torch.arange(side) + 0.5
    rows = at[:, None] - joints[:, HEAD, 0, None, None]
    columns = at - joints[:, HEAD, 1, None, None]
    radius, thick = (RADIUS * torso).clamp(min=SMALLEST * side)[:, None, None], thick[:, None, None]
    away = torch.hypot(rows, columns)
    ring = (thick + 0.5 - (away - radius + thick).abs()).clamp(0, 1)
    return torch.where(away < radius, ring, torch.maximum(ink, ring))


def inside(points: Tensor, blocks: Tensor) -> Tensor:
    """Whether points (..., P, 2) lie in blocks (..., K, 4) of top, left, bottom and right: (..., P, K)."""
    low, high = blocks[..., None, :, :2], blocks[..., None, :, 2:]
    return ((points[..., None, :] >= low) & (points[..., None, :] < high)).all(-1)


def covered(x: Tensor, blocks: Tensor, grey: Tensor) -> Tensor:
    """Pictures x (N, side, side) under blocks (N, K, 4) of brightness `grey` (N, K), later ones on top."""
    at = torch.arange(x.shape[-1]) + 0.5
    for k in range(blocks.shape[1]):
        top, left, bottom, right = (blocks[:, k, edge, None] for edge in range(4))
        rows, columns = (at >= top) & (at < bottom), (at >= left) & (at < right)
        x = torch.where(rows[:, :, None] & columns[:, None], grey[:, k, None, None], x)
    return x


def mirrored(x: Tensor, joints: Tensor) -> tuple[Tensor, Tensor]:
    """Pictures x (..., H, W) and joints (..., J, 3), left and right exchanged: what was a left wrist is now
    at the mirrored place a right one, as the figure faces the viewer still."""  # fmt: skip
    flipped = joints[..., list(SWAPPED), :].clone()
    flipped[..., 1] = x.shape[-1] - flipped[..., 1]
    return x.flip(-1), flipped


def painted(ink: Tensor, light: Tensor, noise: float, generator: torch.Generator) -> Tensor:
    """Pictures (N, side, side) in [0, 1] of ink: bright on a dark ground with a slope, noisy.

    Args:
        light: (N, 4): brightness of the ground and of the ink, slopes of the ground down and right.
    """
    slope = torch.linspace(-1, 1, ink.shape[-1])
    ground, bright, down, right = (part[:, None, None] for part in light.unbind(1))
    x = ground + down * slope[:, None] + right * slope
    return (x + (bright - x) * ink + noise * torch.randn(ink.shape, generator=generator)).clamp(0, 1)


def render(count: int, side: int, noise: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pictures (count, side, side) of figures without blocks, and their joints (count, J, 2) in pixels."""
    joints, torso = placed(poses(count, generator), side, generator)
    base = side * uniform(*THICK, count, 1, generator=generator)
    thick = base * uniform(0.8, 1.25, count, len(LIMBS), generator=generator)
    ink = headed(strokes(joints, thick, side), joints, torso, base[:, 0].clamp(max=THIN * side))
    low, high = torch.tensor([0.1, 0.6, -0.1, -0.1]), torch.tensor([0.3, 0.95, 0.1, 0.1])
    light = low + (high - low) * torch.rand(count, 4, generator=generator)
    return painted(ink, light, noise, generator), joints


def blocks_near(joints: Tensor, side: int, most: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Blocks (N, most, 4) about joints, of which some have no area, and their grey (N, most)."""
    count = len(joints)
    which = torch.randint(len(JOINTS), (count, most), generator=generator)
    middle = joints.gather(1, which[..., None].expand(-1, -1, 2))
    middle = middle + side * uniform(-0.08, 0.08, count, most, 2, generator=generator)
    half = side * uniform(0.06, 0.15, count, most, 2, generator=generator)
    number = torch.randint(most + 1, (count, 1), generator=generator)
    half = half * (torch.arange(most) < number)[..., None]
    return torch.cat([middle - half, middle + half], -1), torch.rand(count, most, generator=generator)


@cache
def drawn(count: int, seed: int, side: int, blocks: int, noise: float) -> tuple[Tensor, Tensor]:
    """Pictures (count, 1, side, side) and joints (count, J, 3). Do not change them: they are kept."""
    generator = torch.Generator().manual_seed(seed)
    pictures, places = [], []
    for start in range(0, count, CHUNK):
        x, joints = render(min(CHUNK, count - start), side, noise, generator)
        if blocks:
            shapes, grey = blocks_near(joints, side, blocks, generator)
            x, seen = covered(x, shapes, grey), ~inside(joints, shapes).any(-1)
        else:
            seen = torch.ones(joints.shape[:2], dtype=torch.bool)
        pictures.append(x)
        places.append(torch.cat([joints, seen[..., None].float()], -1))
    return torch.cat(pictures)[:, None], torch.cat(places)


class StickFigures(Drawn):
    """Pictures of one figure each, every split its own draw.

    Args:
        side: pixels along a side.
        blocks: most blocks that cover a part of a figure, 0 to `blocks`.
        noise: standard deviation of the noise of each pixel.
        batch_size, seed, num_train, num_val, num_test: see `Drawn`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        side: int = 40,
        blocks: int = BLOCKS,
        noise: float = 0.05,
        batch_size: int = 16,
        seed: int = 0,
        num_train: int = 4000,
        num_val: int = 500,
        num_test: int = 1000,
    ) -> None:
        within(24, 256, side=side)
        within(0, 10, blocks=blocks)
        within(0, 1, noise=noise)
        super().__init__(batch_size, seed, side * side, num_train, num_val, num_test)
        self.side, self.blocks, self.noise = side, blocks, noise

    def draw(self, count: int, seed: int) -> tuple[Tensor, ...]:
        return drawn(count, seed, self.side, self.blocks, self.noise)

    @property
    def sizes(self) -> dict[str, Any]:
        side = self.side
        return {"event_shape": (side * side,), "image_shape": (1, side, side)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Stick figures",
            "side": self.side,
            "blocks": self.blocks,
            "noise": self.noise,
            "splits": self.counts,
        }
