"""Slices of the loss as hills in three dimensions, seen from above and turned.

A place (x, y) of [−1, 1]², of height h in [0, 1], is turned by φ about the middle; what lies farther from the
eye, v, stands higher on the screen, and what is behind a higher place is hidden:

    u = x cos φ − y sin φ        v = x sin φ + y cos φ        row = TALL h + TILT v

Each pixel holds the height of the first place from the eye that stands as high as it, as a whole number: 0 of
nothing, 1 of a line of the grid, 2 … 255 of the heights from 0 to 1.

Shapes: F turns, H rows upwards, W columns.
"""

import math

import torch
from torch import Tensor

from pages.convolution.loss_surface.lens import Slices
from pages.convolution.loss_surface.room import TURNS

WIDE, HIGH, STEPS = 160, 150, 220  # columns, rows, places along the depth
RADIUS = 1.02 * math.sqrt(2)  # of the square [−1, 1]², turned
TILT, TALL = 0.6, 1.5
LINES, THICK = 10, 0.07  # of the grid, and how thick of its meshes
NOTHING, LINE, LOWEST = 0, 1, 2


def scale(losses: Tensor) -> tuple[float, float]:
    """log₁₀ of the smallest and the largest loss of all slices, what is far up cut off: one scale for all."""
    logs = losses.log10()
    low = float(logs.min())
    return low, max(min(float(logs.max()), low + 6), low + 0.1)


def heights(losses: Tensor) -> Tensor:
    """Slices (2, S, S) on one scale from 0 to 1, logarithmic."""
    low, high = scale(losses)
    return ((losses.log10() - low) / (high - low)).clamp(0, 1)


def looked(h: Tensor, phi: float) -> Tensor:
    """Heights (S, S) over [−1, 1]², turned by φ: (H, W) of whole numbers."""
    u = torch.linspace(-RADIUS, RADIUS, WIDE)
    v = torch.linspace(-RADIUS, RADIUS, STEPS)[:, None]  # the nearest first
    x, y = u * math.cos(phi) + v * math.sin(phi), v * math.cos(phi) - u * math.sin(phi)  # (V, W)
    inside = (x.abs() <= 1) & (y.abs() <= 1)
    grid = torch.stack([y, x], -1)[None].float()  # the last axis of h is y
    sampled = torch.nn.functional.grid_sample(
        h[None, None].float(), grid, align_corners=True, padding_mode="border"
    )[0, 0]  # (V, W)
    top = TALL * sampled + TILT * (v + RADIUS)
    rows = (top / (TALL + 2 * TILT * RADIUS) * (HIGH - 1)).round().long().masked_fill(~inside, -1)
    meshes = torch.stack([(x + 1) * LINES / 2, (y + 1) * LINES / 2])
    on_line = ((meshes - meshes.round()).abs() < THICK).any(0)
    color = (LOWEST + (255 - LOWEST) * sampled).round().masked_fill(on_line, LINE)
    reached = rows.cummax(0).values.T.contiguous()  # (W, V): how high the nearer places stand
    pixels = torch.arange(HIGH).expand(WIDE, HIGH).contiguous()
    first = torch.searchsorted(reached, pixels)  # (W, H): the first place that is as high
    shown = color.T.gather(1, first.clamp(max=STEPS - 1))
    edge = rows.T.gather(1, inside.T.int().argmax(1, keepdim=True))  # row of the nearest edge
    beside = (first == STEPS) | (pixels < edge)
    return shown.masked_fill(beside, NOTHING).T.to(torch.uint8)


def hills(slices: Slices) -> Tensor:
    """Both slices at each turn, (2, F, H, W), without the rows that none of them needs."""
    h = heights(slices.losses)
    pictures = torch.stack([torch.stack([looked(one, math.radians(phi)) for phi in TURNS]) for one in h])
    used = (pictures != NOTHING).any(-1).flatten(0, 1).any(0).nonzero()[:, 0]
    return pictures[:, :, int(used[0]) : int(used[-1]) + 1]
