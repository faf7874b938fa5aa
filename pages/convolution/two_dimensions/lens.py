"""A kernel on a picture, patch by patch, channel by channel; a matrix on its channels.

Shapes: x (C, H, W), kernels (C, a, b), output (H', W'); a film goes along one row of it, F = W' frames.

References: [UDL] §10.3, §10.4.3.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces, typed
from lab.lenses.photographs import SIDE, luminance
from modules.convolution.classifier import Classifier
from modules.convolution.cnn2d import CNN2d
from modules.convolution.convolution import convolve, output_size
from modules.convolution.lenet import LeNet
from pages.convolution.two_dimensions import words
from pages.convolution.two_dimensions.room import KERNELS, MIXING, ONE, TYPED

MOST, REACH = 7, 100.0  # sides of a kernel, and of its numbers


def kernel(text: str) -> Tensor:
    """(a, b) of rows between semicolons.

    Raises:
        UserError: as of `typed.matrix`.
    """
    return torch.tensor(typed.matrix(text, REACH, MOST), dtype=torch.float64)


def matrix(text: str) -> Tensor:
    """(1 or 3, 3) that mixes red, green and blue.

    Raises:
        UserError: as of `typed.matrix`, or it has other sides.
    """
    values = torch.tensor(typed.matrix(text, REACH, 3), dtype=torch.float64)
    if values.shape not in ((1, 3), (3, 3)):
        raise UserError(f"The matrix is {len(values)} × {len(values.T)}: write one or three rows of three.")
    return values


# --- Kernels ------------------------------------------------------------------------------------------


def fits(experiment: Experiment) -> bool:
    """Check whether it is a classifier of digits whose first layer is a convolution of one channel."""
    return surfaces.is_a(experiment, CNN2d, LeNet) and surfaces.is_a(experiment, MNIST, Digits, part="data")


def learned(model: Classifier) -> Tensor:
    """The kernels (C, K, K) of a network's first convolution."""
    first = next(layer for layer in model.modules() if isinstance(layer, nn.Conv2d))
    return first.weight[:, 0].detach().double()


def is_network(source: str) -> bool:
    """Check whether a kernel is that of a network, by what the control says."""
    return source not in (*KERNELS, TYPED)


def last_filter(source: Classifier | str) -> int:
    return 0 if isinstance(source, str) else len(learned(source)) - 1


def kernels(
    view: str, source: Classifier | str, omega: Tensor, filter: int, red: Tensor, green: Tensor, blue: Tensor
) -> Tensor:
    """The kernels (C, a, b) of the view: one that is typed or learned, or one for each of three channels.

    Raises:
        UserError: the three differ in their sides.
    """
    if view == ONE:
        named = omega if source == TYPED else kernel(KERNELS[source]) if isinstance(source, str) else None
        return (learned(source)[filter] if named is None else named)[None]  # type: ignore[arg-type]
    if view == MIXING:
        return torch.ones(1, 1, 1, dtype=torch.float64)
    if not red.shape == green.shape == blue.shape:
        sides = ", ".join(f"{len(k)} × {len(k.T)}" for k in (red, green, blue))
        raise UserError(f"The three kernels are {sides}: give them the same sides.")
    return torch.stack([red, green, blue])


def grid(kernels: Tensor, stride: int, padding: int, dilation: int) -> tuple[int, int]:
    """Rows and columns of the output.

    Raises:
        UserError: the kernel is wider than the padded picture.
    """
    if kernels.shape[1:] == (1, 1):
        return SIDE, SIDE
    try:
        rows, columns = (output_size(SIDE, side, stride, padding, dilation) for side in kernels.shape[1:])
    except ValueError as error:
        raise UserError(str(error)) from None
    return rows, columns


def last_row(grid: tuple[int, int]) -> int:
    return grid[0] - 1


def middle_row(grid: tuple[int, int]) -> int:
    return grid[0] // 2


def middle_column(grid: tuple[int, int]) -> int:
    return grid[1] // 2


# --- A film along one row of the output ---------------------------------------------------------------


@dataclass(frozen=True)
class Walked:
    """
    Attributes:
        x: (C, H, W). kernels: (C, a, b). sums: (C, H', W'), what each channel adds. output: (H', W').
        row: of the output. boxes: (F, 4), left, right, top and bottom edge of what is read.
        taps: (F, 2, a b), its columns and rows. patches: (F, C, a, b).
    """

    x: Tensor
    kernels: Tensor
    sums: Tensor
    output: Tensor
    row: int
    padding: int
    dilation: int
    boxes: Tensor
    taps: Tensor
    patches: Tensor
    captions: list[str]
    equations: list[str]

    @property
    def products(self) -> Tensor:
        """(F, C, a, b)."""
        return self.patches * self.kernels


def walked(
    view: str, photo: Tensor, kernels: Tensor, bias: float, relu: bool, stride: int, padding: int,
    dilation: int, row: int,
) -> Walked:  # fmt: skip
    """A kernel for each channel on a picture, and how the outputs of one row come about."""
    x = luminance(photo)[None] if view == ONE else photo.double()
    (sums,) = convolve(x[None], kernels[:, None], None, stride, padding, dilation, groups=len(x))
    before = sums.sum(0) + bias
    output = before.relu() if relu else before
    a, b = kernels.shape[1:]
    columns = torch.arange(output.shape[1])[:, None] * stride + torch.arange(b) * dilation  # padded, (F, b)
    rows = row * stride + torch.arange(a) * dilation
    padded = F.pad(x, [padding] * 4)
    patches = padded[:, rows[:, None], columns[:, None, :]].transpose(0, 1)  # (F, C, a, b)
    rows, columns = rows - padding, columns - padding
    left, right = columns[:, 0] - 0.5, columns[:, -1] + 0.5
    top, bottom = (torch.full_like(left, float(v)) for v in (rows[0] - 0.5, rows[-1] + 0.5))
    across = columns[:, None, :].expand(-1, a, -1).flatten(1)
    down = rows[None, :, None].expand(len(columns), -1, b).flatten(1)
    taps = torch.stack([across, down], 1)
    outside = ((taps < 0) | (taps >= SIDE)).any(1).sum(1).tolist()
    products = patches * kernels
    return Walked(
        x, kernels, sums, output, row, padding, dilation, torch.stack([left, right, top, bottom], 1), taps,
        patches, words.captions(row, rows, columns, outside, a * b),
        words.equations(row, products, sums[:, row], before[row], output[row], bias, relu),
    )  # fmt: skip


def is_light(one: Walked, bias: float) -> bool:
    """Check whether the output is light again, as of a blur, and not a difference, as of an edge."""
    return float(one.kernels.sum()) + bias > 0.5


def rank(kernel: Tensor) -> int:
    """Rank of a kernel (a, b): of rank one it is a column times a row."""
    return int(torch.linalg.matrix_rank(kernel, rtol=1e-6))


# --- 1×1 ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mixed:
    """
    Attributes:
        x: (3, H, W). matrix: (C_o, 3). y: (C_o, H, W). pixels: (F, 3), those of one row of x.
    """

    x: Tensor
    matrix: Tensor
    y: Tensor
    row: int
    pixels: Tensor
    captions: list[str]
    equations: list[str]


def mixed(photo: Tensor, mix: Tensor, bias: float, relu: bool, row: int) -> Mixed:
    """The 1×1 convolution of a picture's three channels."""
    x = photo.double()
    before = convolve(x[None], mix[:, :, None, None], torch.full((len(mix),), bias, dtype=x.dtype))[0]
    y = before.relu() if relu else before
    pixels = x[:, row].T
    return Mixed(
        x, mix, y, row, pixels, words.pixels(row, pixels, y[:, row].T),
        words.mixing(mix, pixels, before[:, row].T, y[:, row].T, bias, relu),
    )  # fmt: skip
