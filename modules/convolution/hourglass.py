"""Stacked hourglass: a map of where each joint is, made coarse and fine again several times.

    hourglass(x) = skip(x) + up(hourglass(pool(x)))      added, not concatenated: the channels stay the same
    after each stack: heatmaps of all joints, which the next stack is given back
    loss: mean over the stacks of ‖heatmaps − Gaussians around the joints‖² per pixel

Blocks are bottlenecks with pre-activation and zero padding; the estimate of a joint is the maximum of its
heatmap after the last stack.

Shapes: x (B, C, H, W) -> heatmaps (B, S, J, H', W') of S stacks and J joints, H' = H / 2^halvings.
References: [UDL] §11.5.3, figure 11.12; Newell et al. 2016, arXiv:1603.06937.
"""

from typing import Any

import torch
from torch import Tensor, nn

from modules.base import Mean, Module, Split, require, require_picture
from modules.convolution.residual import Residual, convolution_block


def heatmaps_of(points: Tensor, height: int, width: int, sd: float = 1.0) -> Tensor:
    """Gaussians of height 1 around points (..., 2), rows and columns -> (..., H, W)."""
    rows = torch.arange(height, dtype=points.dtype, device=points.device)[:, None]
    columns = torch.arange(width, dtype=points.dtype, device=points.device)
    row, column = points[..., 0, None, None], points[..., 1, None, None]
    return (-((rows - row).square() + (columns - column).square()) / (2 * sd**2)).exp()


def peaks(heatmaps: Tensor) -> Tensor:
    """Row and column of the maximum of each heatmap, (..., H, W) -> (..., 2)."""
    place = heatmaps.flatten(-2).argmax(-1)
    return torch.stack([place // heatmaps.shape[-1], place % heatmaps.shape[-1]], -1)


def block(c_in: int, c_out: int) -> Residual:
    """Bottleneck with pre-activation through half of the channels."""
    return convolution_block(c_in, c_out, bottleneck=max(1, c_out // 2), order="v2")


class Hourglass(nn.Module):
    """Down by `levels` halvings and up again; at each a processed skip is added."""

    def __init__(self, channels: int, levels: int) -> None:
        super().__init__()
        self.skip, self.low = block(channels, channels), block(channels, channels)
        self.inner = Hourglass(channels, levels - 1) if levels > 1 else block(channels, channels)
        self.high = block(channels, channels)
        self.pool, self.grow = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.skip(x) + self.grow(self.high(self.inner(self.low(self.pool(x)))))


class StackedHourglass(Module):
    """Network for joints in pictures, trained on heatmaps (B, J, H', W').

    Measures `mse` of the last stack's heatmaps, per pixel.

    Args:
        image_shape: (C, H, W) of the input.
        joints: J.
        channels: of the hourglasses.
        stacks: S.
        levels: halvings within an hourglass.
        halvings: before the first hourglass.
        training: optimizer and scheduler, see `Module`.

    Raises:
        ValueError: the picture cannot be halved that often.
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (3, 256, 256),
        joints: int = 16,
        channels: int = 256,
        stacks: int = 2,
        levels: int = 4,
        halvings: int = 2,
        **training: Any,
    ) -> None:
        super().__init__(_measures={"mse": Mean()}, **training)
        require_picture(image_shape)
        require(1, joints=joints, channels=channels, stacks=stacks, levels=levels)
        require(0, halvings=halvings)
        self.divisor = 2 ** (levels + halvings)
        self.require_sides(*image_shape[1:])
        stem: list[nn.Module] = [nn.Conv2d(image_shape[0], channels, 3, padding=1), block(channels, channels)]
        for _ in range(halvings):
            stem += [nn.MaxPool2d(2), block(channels, channels)]
        self.stem = nn.Sequential(*stem)
        self.hourglasses = nn.ModuleList(Hourglass(channels, levels) for _ in range(stacks))
        self.features = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, channels, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU())
            for _ in range(stacks)
        )
        self.heads = nn.ModuleList(nn.Conv2d(channels, joints, 1) for _ in range(stacks))
        self.back = nn.ModuleList(nn.Conv2d(channels, channels, 1) for _ in range(stacks - 1))
        self.give = nn.ModuleList(nn.Conv2d(joints, channels, 1) for _ in range(stacks - 1))

    def require_sides(self, height: int, width: int) -> None:
        """Refuse a picture that cannot be halved often enough."""
        if height % self.divisor or width % self.divisor:
            raise ValueError(
                f"A picture of {height}×{width} cannot be halved so often: its sides must be multiples of "
                f"{self.divisor}."
            )

    def heatmaps(self, x: Tensor) -> Tensor:
        """Heatmaps of every stack (B, S, J, H', W')."""
        self.require_sides(*x.shape[2:])
        h, results = self.stem(x), []
        for stack, hourglass in enumerate(self.hourglasses):
            features = self.features[stack](hourglass(h))
            results.append(self.heads[stack](features))
            if stack < len(self.back):
                h = h + self.back[stack](features) + self.give[stack](results[-1])
        return torch.stack(results, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.heatmaps(x)

    def locate(self, x: Tensor) -> Tensor:
        """Row and column of each joint on the grid of the heatmaps (B, J, 2)."""
        return peaks(self.heatmaps(x)[:, -1])

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, target = batch  # (B, C, H, W), (B, J, H', W')
        errors = (self.heatmaps(x) - target[:, None]).square().flatten(1)  # (B, S·J·H'·W')
        last = errors.unflatten(1, (len(self.hourglasses), -1))[:, -1]
        self.log_metric(split, "mse", last.mean(1).detach())
        return errors.mean()
