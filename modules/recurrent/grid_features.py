r"""Grid features: what a convolutional network sees at each place of a picture, and where that place is.

    z_i = layers(x)[:, i],   i = 1 … L:  a vector for each location of the last map      pooled: Σ_i z_i / L

A layer with kernel K, stride 2 and padding 1 doubles the jump, the pixels from a location to the next, and
widens the receptive field by K − 1 jumps. Three layers of 4×4 see 22 pixels, jump by 8, and their location i
is centred on pixel 8i + 3.5; with 3×3 they see 15 and are centred on 8i: a map drawn at the other's centres
is 3.5 pixels off. Attention needs a grid, not an early layer ([DGM]): the cited model took a deep one.

The network is trained before the captioner, on pictures of one object each, to name its attributes.

Shapes: pictures (B, C, H, W); z (B, L, D), locations in raster order; boxes (…, 4) are left, top, right and
bottom in pixels, pixel i at i; all 0 where there is none.

References: Xu et al. 2015, arXiv:1502.03044, 3.1.1; Zhang et al. 2018, arXiv:1608.00507 (the pointing game);
[DGM] deck 2.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Mean, Module, Split, require, require_picture

STRIDE, PADDING = 2, 1


class GridEncoder(nn.Module):
    """Convolutional layers with stride 2, padding 1 and ReLU: (B, C, H, W) -> z (B, L, D).

    Args:
        image_shape: (C, H, W), of every picture.
        channels: of each layer; the last is D. kernel: K of all layers.

    Raises:
        ValueError: an argument is out of range, or `image_shape` too small; `forward`, of another picture.

    Attributes:
        grid: rows and columns of locations; L is their product.
    """

    def __init__(
        self, image_shape: Sequence[int], channels: Sequence[int] = (16, 32, 48), kernel: int = 4
    ) -> None:
        require_picture(image_shape)
        require(1, channels=channels)
        require(3, below=5, kernel=kernel)
        super().__init__()
        self.kernel, self.width, self.image_shape = kernel, channels[-1], tuple(image_shape)
        color, *size = image_shape
        for _ in channels:
            size = [(n + 2 * PADDING - kernel) // STRIDE + 1 for n in size]
        if min(size) < 1:
            raise ValueError(f"image_shape is {list(image_shape)}: too small for {len(channels)} layers.")
        self.grid = size[0], size[1]
        layers = [
            part
            for before, after in zip([color, *channels], channels, strict=False)
            for part in (nn.Conv2d(before, after, kernel, STRIDE, PADDING), nn.ReLU())
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, picture: Tensor) -> Tensor:
        if picture.shape[1:] != self.image_shape:
            raise ValueError(
                f"A picture is {list(picture.shape[1:])}: the grid is that of {list(self.image_shape)}."
            )
        return self.layers(picture).flatten(2).mT  # (B, D, H', W') -> (B, L, D)

    @property
    def jump(self) -> int:
        """Pixels from a location to the next."""
        return STRIDE ** (len(self.layers) // 2)

    @property
    def receptive_field(self) -> int:
        """Pixels in a row that a location sees."""
        return 1 + (self.kernel - 1) * (self.jump - 1)

    def centres(self) -> Tensor:
        """Pixel on which each location is centred, (L, 2): x and y."""
        offset = ((self.kernel - 1) / 2 - PADDING) * (self.jump - 1)
        y, x = (self.jump * torch.arange(n) + offset for n in self.grid)
        return torch.stack([x.expand(len(y), -1), y[:, None].expand(-1, len(x))], -1).reshape(-1, 2)

    def inside(self, boxes: Tensor) -> Tensor:
        """Locations that point at a box, (…, L) bool, for boxes (…, 4): those whose cell, a jump wide and
        high around the centre, overlaps it."""
        centres = self.centres().to(boxes)
        low, high = boxes[..., None, :2] - self.jump / 2, boxes[..., None, 2:] + self.jump / 2
        return ((centres > low) & (centres < high)).all(-1)


def pointing(gamma: Tensor, inside: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Pointing game of maps γ (N, L) against locations of a box (N, L) bool, each (N,):

    whether the peak is in the box; the γ mass in it; and the share of all locations that are in it, which is
    the mass of a uniform map and the hit rate of a random one.
    """
    inside = inside.to(gamma)
    hit = inside.gather(1, gamma.argmax(1, keepdim=True))[:, 0]
    return hit, (gamma * inside).sum(1), inside.mean(1)


class AttributeClassifier(Module):
    """Classifier of the one object in a picture, whose `encoder` a captioner takes over.

    Measures `nll`, nats per picture over all attributes, and `acc`, the share of pictures of which every
    attribute is right.

    Args:
        image_shape, channels, kernel: see `GridEncoder`.
        attributes: number of values of each, such as sizes, colours and shapes.

    Example:
        >>> model = AttributeClassifier((3, 32, 32), attributes=(2, 4, 3))
        >>> [logits.shape for logits in model(torch.zeros(5, 3, 32, 32))]
        [torch.Size([5, 2]), torch.Size([5, 4]), torch.Size([5, 3])]
    """

    def __init__(
        self,
        image_shape: Sequence[int],
        attributes: Sequence[int] = (2, 4, 3),
        channels: Sequence[int] = (16, 32, 48),
        kernel: int = 4,
        **training: Any,
    ) -> None:
        require(2, attributes=attributes)
        super().__init__(_measures={"nll": Mean(), "acc": Mean()}, **training)
        self.attributes = list(attributes)
        self.encoder = GridEncoder(image_shape, channels, kernel)
        self.head = nn.Linear(self.encoder.width, sum(attributes))

    def forward(self, picture: Tensor) -> list[Tensor]:
        """Logits of each attribute, (B, K) each, of the pooled features."""
        return list(self.head(self.encoder(picture).mean(1)).split(self.attributes, 1))

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        picture, values = batch  # (B, C, H, W), (B, attributes) int64
        logits = self(picture)
        pairs = list(zip(logits, values.unbind(1), strict=True))
        nll = torch.stack([F.cross_entropy(each, value, reduction="none") for each, value in pairs]).sum(0)
        right = torch.stack([each.argmax(1) == value for each, value in pairs]).all(0)
        self.log_metric(split, "nll", nll.detach())
        self.log_metric(split, "acc", right.float())
        return nll.mean()

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Most probable value of each attribute, (B, attributes)."""
        return torch.stack([logits.argmax(1) for logits in self(batch[0])], 1)
