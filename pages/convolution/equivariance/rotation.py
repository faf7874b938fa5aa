"""Quarter turns of a picture and a layer that knows them; a digit at every angle, read by two networks.

    f(ρᵏx)_r = ρᵏ f(x)_{r−k}      convolution over p4; an ordinary one: f(ρᵏx) ≠ ρᵏ f(x)

Shapes: picture (H, H), frames of k = 0 … 3 quarter turns, or of angles.

References: [UDL] notes of chapter 10; Cohen & Welling 2016, arXiv:1602.07576.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses.photographs import luminance
from modules.convolution.classifier import Classifier
from modules.convolution.convolution import convolve
from modules.convolution.group_convolution import P4CNN, TURNS, lifting_weight, turned
from pages.convolution.equivariance import lens
from pages.convolution.equivariance.room import ANGLE, GROUP


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


# --- A classifier -------------------------------------------------------------------------------------


def knows_turns(experiment: Experiment) -> bool:
    """Check whether it is a network over p4 on digits of 28 pixels a side."""
    return surfaces.is_a(experiment, P4CNN) and lens.reads_digits(experiment)


@dataclass(frozen=True)
class Angles:
    """
    Attributes:
        x: (F, 28, 28), the digit at every angle. p: (2, F, 10), by the CNN and over p4.
        label: the class of the network over p4 before turning.
    """

    x: Tensor
    p: Tensor
    label: int


def rotated(x: Tensor, degrees: int) -> Tensor:
    """A picture (H, H) turned counterclockwise, by quarters exactly, by the rest bilinearly."""
    full, rest = divmod(degrees, 90)
    if rest:
        c, s = math.cos(math.radians(rest)), math.sin(math.radians(rest))
        back = torch.tensor([[[c, -s, 0.0], [s, c, 0.0]]], dtype=x.dtype)  # where each pixel comes from
        grid = F.affine_grid(back, [1, 1, *x.shape], align_corners=False)
        x = F.grid_sample(x[None, None], grid, align_corners=False)[0, 0]
    return turned(x, full)


@torch.no_grad()
def by_angle(model: Classifier, turning: Classifier, digit: Tensor) -> Angles:
    """What a CNN and a network over p4 say of a digit at every angle."""
    x = torch.stack([rotated(digit, degrees) for degrees in range(0, 360, ANGLE)])
    p = torch.stack([network.predict(x[:, None]).softmax(-1) for network in (model, turning)])
    return Angles(x, p, int(p[1, 0].argmax()))
