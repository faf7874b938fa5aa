"""A kernel of one channel slides over a signal, product by product.

References: [UDL] §10.2, notebook 10.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from datamodules import cells
from lab.errors import UserError
from lab.lenses.receptive_field import Window, walk, windows
from lab.lenses.units import arithmetic, unit_equation
from lab.seeding import seeded
from modules.convolution.mlp import as_linear
from modules.trace import Step, Trace


@dataclass(frozen=True)
class Slid:
    """
    Attributes:
        taps: weights of the kernel. window: its size, stride, dilation and padding.
        x: (1, n). trace: of `slide`. matrix: (n_out, n), the convolution as a dense layer.
    """

    taps: list[float]
    window: Window
    x: Tensor
    trace: Trace
    matrix: Tensor


def single(taps: Sequence[float], window: Window, bias: float = 0.0) -> nn.Sequential:
    """One 1-D convolution of one channel with these taps, in float64."""
    sizes = window.kernel, window.stride, window.padding, window.dilation
    layer: Any = seeded(lambda: nn.Conv1d(1, 1, *sizes, dtype=torch.float64))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(taps, dtype=torch.float64).view(1, 1, -1))
        layer.bias.fill_(bias)
    return nn.Sequential(layer).eval().requires_grad_(False)


def slid(taps: list[float], stride: int, dilation: int, padding: int, bias: float, x: Tensor) -> Slid:
    """The kernel at work on a signal."""
    window = Window(len(taps), stride, dilation, padding)
    chain = single(taps, window, bias)
    layer: Any = chain[0]
    return Slid(taps, window, x, slide(chain, x), as_linear(layer, x.shape[1]).weight)


def slide(chain: nn.Sequential, x: Tensor) -> Trace:
    """One convolution, position by position: what it reads, the products, their sum.

    Args:
        chain: of `single`.
        x: (1, n).

    Returns:
        A trace whose result is the output (n_out,); a step's values are `position`, `reads` (which
        inputs, −1 in the padding), `patch`, `kernel`, `products` and `output` so far.
    """
    (layer,) = walk(chain, x)
    (window,) = windows(layer.module, 1) or []
    steps = []
    for i in range(layer.output.shape[1]):
        numbers = arithmetic(layer, (0, i))
        reads = i * window.stride - window.padding + torch.arange(window.kernel) * window.dilation
        inside = (reads >= 0) & (reads < x.shape[1])
        values = {
            "position": i,
            "reads": torch.where(inside, reads, -1),
            "patch": numbers.patch[0],
            "kernel": layer.module.weight[0, 0].detach(),  # type: ignore[index]
            "products": numbers.products[0],
            "output": layer.output[0, : i + 1],
        }
        outside = "" if inside.all() else f", {int((~inside).sum())} of them padding"
        steps.append(Step(f"Output {i} reads {window.kernel} inputs{outside}.", values,
                          unit_equation(layer, (0, i))[0]))  # fmt: skip
    return Trace(steps, layer.output[0])


def numbers_of(text: str, most: int) -> list[float]:
    """The numbers of a text, apart by spaces or commas.

    Raises:
        UserError: a word is no number, there is none, or there are more than `most`.
    """
    words = cells.words(text)[0]
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise UserError(f"“{text[:40]}” is no list of numbers: write them like 1 0 -1.") from None
    if not values or len(values) > most or not all(np.isfinite(values)):
        raise UserError(f"Give 1 to {most} finite numbers; there are {len(values)}.")
    return values


def signal(text: str, most: int) -> Tensor:
    """Typed numbers as a signal (1, n), float64.

    Raises:
        UserError: as of `numbers_of`.
    """
    return torch.tensor(numbers_of(text, most), dtype=torch.float64)[None]
