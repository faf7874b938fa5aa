"""The blind spot of masked convolutions: which earlier pixels a conditional reads, and what the rest costs.

In theory, from the masks alone, layer by layer backwards from a pixel's logit. With kernels of 2h₁ + 1 in
the first layer and 2h + 1 ≤ 2h₁ + 1 in all others, a plain stack reads i rows up at most

    reach(i) = i·h + h₁ - h        columns to the right

however deep it is: what lies beyond stays unread. Two stacks have no such wedge. Measured, the gradient of
the logit, all weights positive and equal, so that nothing cancels. What it costs: `cost`.

References: van den Oord et al. 2016, arXiv:1606.05328, §2.3.
"""

from dataclasses import dataclass, replace
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses.receptive_field import measured
from lab.seeding import seeded
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.pixelcnn import MaskedConv2d, PixelCNN, PixelModel, causal_mask

DEEPEST = 30  # layers after the first that a page offers
ONE, TWO = "one stack", "two stacks"


@dataclass(frozen=True)
class Shape:
    """Shape of the model that decides which pixels are read.

    Attributes:
        gated: two stacks, else one.
        first_kernel, kernel: odd sides of the windows, of the first layer and, no larger, of all others.
        layers: layers after the first.
        side: pixels a side of the pictures.
        first_mask: "A", or for one stack "B", which lets a pixel read itself.
    """

    gated: bool = False
    first_kernel: int = 3
    kernel: int = 3
    layers: int = 13
    side: int = 28
    first_mask: Literal["A", "B"] = "A"

    def __post_init__(self) -> None:
        if self.kernel > self.first_kernel:
            raise ValueError(f"kernel is {self.kernel}: take at most the first layer's {self.first_kernel}.")

    @property
    def reach(self) -> tuple[int, int]:
        """h and h₁ - h: how far to the right one stack reads, see above."""
        h = self.kernel // 2
        return h, self.first_kernel // 2 - h


# --- Theory: from the masks ---------------------------------------------------------------------


def read_by(units: Tensor, kernel: tuple[int, int], centre: tuple[int, int], kind: str) -> Tensor:
    """Paths (H, W) through a masked convolution from its input to `units` (H, W), paths from its output."""
    mask = causal_mask(1, 1, kernel, centre, kind)  # type: ignore[arg-type]
    above, left = centre
    written = F.conv_transpose2d(units[None, None], mask.to(units))[0, 0]
    return written[above:, left:][: units.shape[0], : units.shape[1]]


def layers_paths(shape: Shape, pixel: int) -> Tensor:
    """Paths from every pixel to the logit of `pixel` through 0, 1, …, `shape.layers` layers after the first,
    (layers + 1, side, side) float64: exactly 0 where nothing is read."""
    unit = torch.zeros(shape.side, shape.side, dtype=torch.float64)
    unit.view(-1)[pixel] = 1
    half, first = shape.kernel // 2, shape.first_kernel // 2
    row, column = (half, half), (first, first)
    sides, first_sides = (shape.kernel, shape.kernel), (shape.first_kernel, shape.first_kernel)
    results = []
    h, v = unit, torch.zeros_like(unit)  # what is asked of the horizontal (or only) and vertical stack
    for _ in range(shape.layers + 1):
        if shape.gated:  # the first layer reads the picture itself, and the picture moved down by a row
            across = read_by(h, (1, first + 1), (0, first), "A")
            above = read_by(h + v, (first + 1, shape.first_kernel), column, "all")
            results.append(across + above.roll(-1, 0) * (torch.arange(shape.side) < shape.side - 1)[:, None])
            v = read_by(h + v, (half + 1, shape.kernel), row, "all")
            h = h + read_by(h, (1, half + 1), (0, half), "B")
        else:
            results.append(read_by(h, first_sides, column, shape.first_mask))
            h = h + read_by(h, sides, row, "B")
    return torch.stack(results)


def layers_read(shape: Shape, pixel: int) -> Tensor:
    """Pixels that reach the logit of `pixel`, (layers + 1, side, side) bool: where there are paths."""
    return layers_paths(shape, pixel) > 0


def blind(read: Tensor, pixel: int) -> Tensor:
    """(side, side) bool: earlier pixels of raster order that are not `read`."""
    earlier = torch.arange(read.numel()).view_as(read) < pixel
    return earlier & ~read


def unread(paths: Tensor, pixel: int) -> list[int]:
    """Number of earlier pixels that have no path, for each number of layers of paths (L, side, side)."""
    return [int(blind(each > 0, pixel).sum()) for each in paths]


def never_read(shape: Shape, pixel: int) -> int:
    """Number of earlier pixels that stay unread at any depth."""
    return int(at_any_depth(shape, pixel).sum())


def leaks(paths: Tensor, pixel: int) -> list[int]:
    """Number of pixels with a path that do not come before `pixel`, for each number of layers."""
    return (paths.flatten(1)[:, pixel:] > 0).sum(1).tolist()


def at_any_depth(shape: Shape, pixel: int) -> Tensor:
    """`blind` of a stack so deep that another layer changes nothing."""
    return blind(layers_read(replace(shape, layers=2 * shape.side), pixel)[-1], pixel)


def wedge(shape: Shape, pixel: int) -> list[int]:
    """Blind pixels of one stack i = 1, 2, … rows up at any depth, by the formula of reach(i); zeros left out
    from the end."""
    h, constant = shape.reach
    row, column = divmod(pixel, shape.side)
    missed = [max(0, shape.side - 1 - column - i * h - constant) for i in range(1, row + 1)]
    while missed and not missed[-1]:
        missed.pop()
    return missed


# --- Measured: by gradient ----------------------------------------------------------------------


def network(shape: Shape) -> PixelModel:
    """One map, every weight of a layer the same positive number, float64."""
    sizes = {
        "channels": 1,
        "layers": shape.layers,
        "kernel": shape.kernel,
        "first_kernel": shape.first_kernel,
    }
    image_shape = (1, shape.side, shape.side)
    model: PixelModel = seeded(
        lambda: (
            GatedPixelCNN(image_shape, **sizes)  # type: ignore[arg-type]
            if shape.gated
            else PixelCNN(image_shape, **sizes, first_mask=shape.first_mask)  # type: ignore[arg-type]
        )
    )
    for module in model.modules():
        if isinstance(module, MaskedConv2d):  # small, so that no gate saturates
            torch.nn.init.constant_(module.weight, 1 / module.weight[0].numel())
            torch.nn.init.zeros_(module.bias)  # type: ignore[arg-type]
    return model.double().eval()


def gradient(shape: Shape, pixel: int) -> Tensor:
    """∂ logit of `pixel` / ∂ x of such a network at a grey picture, (side, side) float64."""
    model = network(shape)
    grey = torch.full((1, model.n), 0.5, dtype=torch.float64)
    return measured(model.logits, grey, (0, pixel)).view(shape.side, shape.side)
