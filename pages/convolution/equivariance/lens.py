"""The output of a moved picture against the moved output: whether a layer is equivariant to translation.

    f(τ_t x) = τ_{t/s} f(x)      equivariant: for stride s only where s divides t
    f(τ_t x) = f(x)              invariant

Shapes: picture (H, W), frames of shifts t = 0 … FARTHEST, F of them.

References: [UDL] problem 10.1; Zhang 2019, arXiv:1904.11486.
"""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces, typed
from lab.lenses.photographs import luminance
from modules.convolution.classifier import Classifier
from modules.convolution.cnn2d import CNN2d
from modules.convolution.convolution import convolve
from modules.convolution.lenet import LeNet
from modules.convolution.pooling import max_blur_pool, max_pool, subsample
from pages.convolution.equivariance.room import BLUR, CIRCULAR, CONVOLUTION, FARTHEST, LAYERS, MAX

MOST, REACH = 7, 100.0  # sides of a kernel, and of its numbers


def kernel(text: str) -> Tensor:
    """(a, b) of rows between semicolons, both odd.

    Raises:
        UserError: as of `typed.matrix`, or a side is even.
    """
    values = torch.tensor(typed.matrix(text, REACH, MOST), dtype=torch.float64)
    if not all(side % 2 for side in values.shape):
        sides = " × ".join(map(str, values.shape))
        raise UserError(f"A kernel of {sides} has no middle: give odd sides, or the output moves by itself.")
    return values


def moved(x: Tensor, by: int, border: str) -> Tensor:
    """A picture (..., H, W) moved to the right; what enters are zeros, or what has left."""
    if border == CIRCULAR:
        return x.roll(by, -1)
    return F.pad(x, [by, 0])[..., : x.shape[-1]] if by >= 0 else F.pad(x, [0, -by])[..., -by:]


def applied(x: Tensor, omega: Tensor, layer: str, stride: int, border: str) -> Tensor:
    """f(x): the kernel on pictures (N, H, W), then what the layer does."""
    a, b = (side // 2 for side in omega.shape)
    mode: Literal["circular", "constant"] = "circular" if border == CIRCULAR else "constant"
    h = convolve(F.pad(x[:, None], [b, b, a, a], mode=mode), omega[None, None])
    if layer == MAX:
        h = max_pool(h, stride)[0]
    elif layer == BLUR:
        h = max_blur_pool(h, stride, stride, mode=mode)
    elif layer != CONVOLUTION:
        h = subsample(h, stride)
    return h[:, 0]


@dataclass(frozen=True)
class Compared:
    """
    Attributes:
        x: (F, H, W), moved by 0 … FARTHEST. first: (F, H', W'), f of it. second: (F, H', W'), f(x) moved by
            the whole number of cells that fits best. cells: (F,), that number.
        inside: (F, 2), first column that no border reaches, and the one behind the last.
        errors: layer -> (F,), ε of each, of this layer and the others.
    """

    x: Tensor
    first: Tensor
    second: Tensor
    cells: list[int]
    inside: list[tuple[int, int]]
    errors: dict[str, Tensor]

    @property
    def difference(self) -> Tensor:
        return self.first - self.second


def columns(width: int, by: int, omega: Tensor, layer: str, stride: int, border: str) -> tuple[int, int]:
    """Columns of an output that neither the border nor what enters can reach."""
    if border == CIRCULAR:
        return 0, width
    step = 1 if layer == CONVOLUTION else stride
    reach = omega.shape[1] // 2 + (0 if layer == CONVOLUTION else 2 * stride)
    left = -(-(by + reach) // step)
    return min(left, width), max(width - -(-reach // step), min(left, width))


def error(a: Tensor, b: Tensor, inside: tuple[int, int]) -> float:
    """Root mean square of the difference over that of b, within some columns."""
    part = slice(*inside)
    size = float(b[:, part].square().mean().sqrt()) if inside[0] < inside[1] else 0.0
    return float((a - b)[:, part].square().mean().sqrt()) / size if size else 0.0


def compared(photo: Tensor, omega: Tensor, layer: str, stride: int, border: str) -> Compared:
    """Move, then apply, against apply, then move, by every shift; with the other layers' errors."""
    x = luminance(photo)
    shifts = range(FARTHEST + 1)
    pictures = torch.stack([moved(x, t, border) for t in shifts])
    errors, results = {}, {}
    for name in LAYERS:
        first = applied(pictures, omega, name, stride, border)
        step, each = 1 if name == CONVOLUTION else stride, []
        for t in shifts:
            inside = columns(first.shape[2], t, omega, name, stride, border)
            tries = [(moved(first[0], u, border), u) for u in sorted({t // step, -(-t // step)})]
            rated = [(error(first[t], second, inside), u, second) for second, u in tries]
            each.append((*min(rated, key=lambda r: r[0]), inside))
        errors[name] = torch.tensor([e for e, *_ in each])
        results[name] = (first, torch.stack([second for _, _, second, _ in each]),
                         [u for _, u, *_ in each], [inside for *_, inside in each])  # fmt: skip
    first, second, cells, inside_each = results[layer]
    return Compared(pictures, first, second, cells, inside_each, errors)


# --- A classifier -------------------------------------------------------------------------------------


def reads_digits(experiment: Experiment) -> bool:
    """Check whether its data are digits of 28 pixels a side."""
    digits = surfaces.is_a(experiment, MNIST, Digits, part="data")
    return digits and surfaces.option(experiment, "image_size", "data") == 28


def fits(experiment: Experiment) -> bool:
    """Check whether it is a convolutional network on such digits."""
    return surfaces.is_a(experiment, CNN2d, LeNet) and reads_digits(experiment)


@dataclass(frozen=True)
class Read:
    """
    Attributes:
        x: (F, 28, 28), a digit moved by 0 … FARTHEST. probabilities: (F, 10). label: the class without shift.
    """

    x: Tensor
    probabilities: Tensor
    label: int


@torch.no_grad()
def read(model: Classifier, digit: Tensor) -> Read:
    """What a network says of a digit that is moved to the right."""
    x = torch.stack([moved(digit, t, "zeros") for t in range(FARTHEST + 1)])
    p = model.predict(x[:, None]).softmax(-1)
    return Read(x, p, int(p[0].argmax()))
