"""U-Net as it was made for segmentation: a class for every pixel.

    down   (3×3, ReLU, 3×3, ReLU), kept; max pooling 2×2; channels double
    up     2×2 transposed convolution, [kept, h] concatenated, (3×3, ReLU, 3×3, ReLU)
    last   1×1 to the classes

With "valid" convolutions each 3×3 takes two pixels off a side, and what was kept is cropped to what comes up:
of 572² pixels 388² are classified, n − 184 with four levels. [UDL] §11.5.3 says that it runs on any size:
every grid that is pooled must be even, so n ≡ 12 mod 16 and n ≥ 188 with four levels, or multiples of 16 with
zero padding; other pictures are padded and cropped.

References: [UDL] §11.5.3, figure 11.10, problem 11.9; Ronneberger et al. 2015, arXiv:1505.04597.
"""

from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torchmetrics import Metric
from torchmetrics.classification import MulticlassJaccardIndex

from modules.base import Split, require, require_picture
from modules.convolution.classifier import Classifier


class Sizes(NamedTuple):
    """Sides of the grids of a U-Net.

    Attributes:
        down: of what is kept at each level, from the top; the last is the bottom.
        up: after each transposed convolution, from the bottom.
        crops: pixels cropped from each side of what was kept, from the bottom.
        output: of the classified pixels.
    """

    down: tuple[int, ...]
    up: tuple[int, ...]
    crops: tuple[int, ...]
    output: int


def sizes(n: int, levels: int = 4, padded: bool = False, kernel: int = 3) -> Sizes:
    """Sides of all grids for a picture of side n.

    Args:
        kernel: side of the kernels; each takes kernel − 1 pixels off a side, two of them at each level.

    Raises:
        ValueError: a grid that is pooled is odd, or nothing is left of it; says which sides are legal. A
            kernel has no pixel.
    """
    require(1, kernel=kernel)
    step = 2**levels
    least = step if padded else smallest_side(levels, kernel)
    if n < least or n % step != least % step:
        raise ValueError(
            f"A picture of side {n} cannot be halved {levels} times: give a side of {least} or more that "
            f"leaves {least % step} when divided by {step}."
        )
    lost = 0 if padded else 2 * (kernel - 1)  # by two convolutions
    down, side = [], n
    for level in range(levels + 1):
        side = (side // 2 if level else side) - lost
        down.append(side)
    up, crops = [], []
    for level in reversed(range(levels)):
        side *= 2
        up.append(side)
        crops.append((down[level] - side) // 2)
        side -= lost
    return Sizes(tuple(down), tuple(up), tuple(crops), side)


def smallest_side(levels: int, kernel: int = 3) -> int:
    """Smallest side of a picture of which "valid" convolutions leave a pixel."""
    side, lost = 1, 2 * (kernel - 1)
    for _ in range(levels):  # way up: 2s − lost ≥ 1, from the end to the bottom
        side = (side + lost + 1) // 2
    for _ in range(levels):  # way down
        side = 2 * (side + lost)
    return side + lost


def centre(x: Tensor, height: int, width: int) -> Tensor:
    """The middle (..., height, width) of a grid (..., H, W)."""
    top, left = (x.shape[-2] - height) // 2, (x.shape[-1] - width) // 2
    return x[..., top : top + height, left : left + width]


class UNetLayers(nn.Module):
    """The network: (B, C, H, W) -> (B, classes, H', W')."""

    def __init__(
        self, channels: int, classes: int, width: int, levels: int, padded: bool, skips: bool = True
    ) -> None:
        super().__init__()
        self.skips = skips
        padding = 1 if padded else 0

        def double(c_in: int, c_out: int) -> nn.Sequential:
            first, second = (nn.Conv2d(c, c_out, 3, padding=padding) for c in (c_in, c_out))
            return nn.Sequential(first, nn.ReLU(), second, nn.ReLU())

        widths = [width * 2**level for level in range(levels + 1)]
        ins = [channels, *widths[:-1]]
        self.down = nn.ModuleList(double(a, b) for a, b in zip(ins, widths, strict=True))
        self.pool = nn.MaxPool2d(2)
        self.grow, self.up = nn.ModuleList(), nn.ModuleList()
        for narrow, wide in reversed(list(pairwise(widths))):
            grow = nn.ConvTranspose2d(wide, narrow, 2, stride=2)
            nn.init.normal_(grow.weight, std=wide**-0.5)  # each output reads one pixel: keeps the variance
            nn.init.zeros_(grow.bias)  # type: ignore[arg-type]
            self.grow.append(grow)
            self.up.append(double(2 * narrow if skips else narrow, narrow))
        self.last = nn.Conv2d(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept: list[Tensor] = []
        for level, down in enumerate(self.down):
            x = down(self.pool(x) if level else x)
            kept.append(x)
        kept.pop()
        for grow, up in zip(self.grow, self.up, strict=True):
            h = grow(x)
            x = up(torch.cat([centre(kept.pop(), *h.shape[2:]), h], 1) if self.skips else h)
        return self.last(x)


class SegmentationUNet(Classifier):
    """Classifier of every pixel.

    Measures `nll` (nats per pixel), `acc` and `iou`, the mean over the classes of

        IoU = pixels that are of the class and called so / pixels that are of it or called so

    Args:
        image_shape: (C, H, W) of the input; it also takes any other legal size.
        num_classes: number of classes.
        width: channels of the top level.
        levels: halvings.
        padded: zero padding keeps the grid; without it the border is lost.
        skips: what was kept is joined on the way up; without them the bottom grid has to tell everything.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, C, H, W) → logits (B, num_classes, H', W'); a target y (B, H, W) is cropped to H'×W'.

    Raises:
        ValueError: a side cannot be halved that often.
    """

    OF_LOGITS: ClassVar[tuple[str, ...]] = ("acc", "iou")

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 572, 572),
        num_classes: int = 2,
        width: int = 64,
        levels: int = 4,
        padded: bool = False,
        skips: bool = True,
        **training: Any,
    ) -> None:
        super().__init__(num_classes=num_classes, **training)
        require_picture(image_shape)
        require(1, width=width, levels=levels)
        self.levels, self.padded = levels, padded
        self.output_shape(*image_shape[1:])  # refuses what cannot be halved
        self.set_layers(UNetLayers(image_shape[0], num_classes, width, levels, padded, skips))

    def output_shape(self, height: int, width: int) -> tuple[int, int]:
        """H' and W' of the classified pixels."""
        rows, columns = (sizes(n, self.levels, self.padded).output for n in (height, width))
        return rows, columns

    def predict(self, x: Tensor) -> Tensor:
        """Logits (B, num_classes, H', W') of the pixels in the middle of x (B, C, H, W)."""
        self.output_shape(*x.shape[2:])
        return self.layers(x)

    @staticmethod
    def measures(num_classes: int) -> dict[str, Metric]:
        # of one class alone the library would not take the index
        overlap = MulticlassJaccardIndex(max(2, num_classes), validate_args=False)
        return Classifier.measures(num_classes) | {"iou": overlap}

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, y = batch  # (B, C, H, W), (B, H, W)
        return super().step((x, centre(y, *self.output_shape(*x.shape[2:]))), split)
