"""Stacked hourglass: a map of where each joint is, made coarse and fine again several times.

    hourglass(x) = skip(x) + up(hourglass(pool(x)))      added, not concatenated: the channels stay the same
    before the first: 7×7 with stride 2, a block, then max pooling and a block for each further halving
    after each stack: heatmaps of all joints, which the next stack is given back
    loss: mean over the stacks of ‖heatmaps − Gaussians around the joints‖² per pixel

Blocks are bottlenecks with pre-activation and zero padding; the estimate of a joint is the maximum of its
heatmap after the last stack, the middle of a cell: no part of a cell is guessed.

Shapes: x (B, C, H, W) -> heatmaps (B, S, J, H', W') of S stacks and J joints, H' = H / 2^halvings.
References: [UDL] §11.5.3, figure 11.12; Newell et al. 2016, arXiv:1603.06937; Yang & Ramanan 2013 (share of
correct keypoints).
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


def correct(places: Tensor, joints: Tensor, alpha: float = 0.1) -> Tensor:
    """Whether estimates are at most α·max(h, w) away, h and w of the box around all joints of the figure.

    Args:
        places: (..., J, 2), rows and columns in pixels.
        joints: (..., J, 2) or more, whose first two are the true ones.

    Returns:
        (..., J) bool.
    """
    true = joints[..., :2]
    reach = alpha * (true.amax(-2) - true.amin(-2)).amax(-1, keepdim=True)  # (..., 1)
    return (places - true).norm(dim=-1) <= reach


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
    """Network for joints in pictures, trained on heatmaps that it makes of their places.

    Measures `mse` of the last stack's heatmaps, per pixel, and shares of correct joints: `pck` after the last
    stack and `pck_1`, `pck_2`, … after each one before it.

    Args:
        image_shape: (C, H, W) of the input.
        joints: J.
        channels: of the hourglasses.
        stacks: S.
        levels: halvings within an hourglass.
        halvings: before the first hourglass; without one, a 3×3 convolution stands there.
        sd: of the Gaussians around the joints, in cells of the heatmaps.
        alpha: a joint is correct up to this share of the longer side of its figure, see `correct`.
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
        sd: float = 1.0,
        alpha: float = 0.1,
        **training: Any,
    ) -> None:
        require(1, joints=joints, channels=channels, stacks=stacks, levels=levels)
        shares = ["pck", *(f"pck_{stack + 1}" for stack in range(stacks - 1))]
        super().__init__(_measures={name: Mean() for name in ("mse", *shares)}, **training)
        require_picture(image_shape)
        require(0, halvings=halvings, alpha=alpha)
        require(1e-3, sd=sd)
        self.joints, self.cell, self.sd, self.alpha = joints, 2**halvings, sd, alpha
        self.divisor = 2 ** (levels + halvings)
        self.size = image_shape[1:]
        self.require_sides(*self.size)
        kernel, stride = (7, 2) if halvings else (3, 1)
        first = nn.Conv2d(image_shape[0], channels, kernel, stride, padding=kernel // 2)
        stem: list[nn.Module] = [first, block(channels, channels)]
        for _ in range(halvings - 1):
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
        h = self.stem(x).contiguous(memory_format=torch.channels_last)  # a fifth faster on CPUs
        results: list[Tensor] = []
        for stack, hourglass in enumerate(self.hourglasses):
            features = self.features[stack](hourglass(h))
            results.append(self.heads[stack](features))
            if stack < len(self.back):
                h = h + self.back[stack](features) + self.give[stack](results[-1])
        return torch.stack(results, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.heatmaps(x)

    def targets(self, joints: Tensor) -> Tensor:
        """Heatmaps (B, J, H', W') of joints (B, J, 2) or more, in pixels of pictures of the size of training.

        The middle of the cell at row 0 lies half a cell from the edge.
        """
        height, width = (side // self.cell for side in self.size)
        return heatmaps_of(joints[..., :2] / self.cell - 0.5, height, width, self.sd)

    def places(self, heatmaps: Tensor) -> Tensor:
        """Rows and columns (..., 2) in pixels of the maxima of heatmaps (..., H', W')."""
        return (peaks(heatmaps).to(heatmaps.dtype) + 0.5) * self.cell

    def locate(self, x: Tensor) -> Tensor:
        """Row and column in pixels of each joint (B, J, 2), by the last stack."""
        return self.places(self.heatmaps(x)[:, -1])

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Places of the joints of a batch; without those of another process's part."""
        weight = getattr(batch, "weight", 1.0)
        x, _ = getattr(batch, "batch", batch)
        return self.locate(x)[: None if weight else 0]

    def errors(self, heatmaps: Tensor, joints: Tensor) -> Tensor:
        """Mean squared error per pixel of each stack (B, S), of heatmaps (B, S, J, H', W')."""
        return (heatmaps - self.targets(joints)[:, None]).square().flatten(2).mean(2)

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, joints = batch  # (B, C, H, W), (B, J, 3)
        heatmaps = self.heatmaps(x)
        errors = self.errors(heatmaps, joints)
        self.log_metric(split, "mse", errors[:, -1].detach())
        if split != "train":
            shares = correct(self.places(heatmaps), joints[:, None], self.alpha).double().mean(2)  # (B, S)
            for stack, share in enumerate(shares.unbind(1), 1):
                self.log_metric(split, "pck" if stack == shares.shape[1] else f"pck_{stack}", share)
        return errors.mean()
