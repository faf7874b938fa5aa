"""A stack of convolutions of one's own, and a unit of it.

References: [UDL] §10.2-10.4, problems 10.9-10.11.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from lab.lenses import drawing, signals
from lab.lenses.receptive_field import Layer, Window, cone, walk
from lab.seeding import seeded
from pages.convolution.own_stack.room import IMAGE, OWN

# --- The input ------------------------------------------------------------------------------------


def curves() -> list[str]:
    """Names of the signals to choose from, the reader's own last."""
    return [*dict(signals.signals()), OWN]


def sketches() -> list[tuple[str, Tensor]]:
    """The signals as drawings to start from."""
    return [(label, signals.sketch(curve)) for label, curve in signals.signals()]


def digits() -> list[tuple[str, Tensor]]:
    return drawing.examples(28)


# --- The stack ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Built:
    """A stack that has run.

    Attributes:
        x: (1, positions...), float64. others: examples beside it, (N, 1, positions...).
        layers: with the ReLUs between them.
    """

    settings: list[Window]
    chain: nn.Sequential
    x: Tensor
    others: Tensor
    layers: list[Layer]


def built(
    input: str, settings: Sequence[Sequence[int]], w: str, relu: bool, seed: int,
    signal: str, curve: Tensor | None, digit28: Tensor | None,
) -> Built:  # fmt: skip
    """The reader's stack on the reader's input.

    Raises:
        UserError: a layer does not fit on the one below.
    """
    if input == IMAGE:
        assert digit28 is not None  # it is drawn
        x, examples, axes = digit28[None], digits(), 2
    else:
        examples, axes = signals.signals(), 1
        x = dict(examples)[signal] if curve is None else signals.curve(curve)
    windows = [Window(*sizes) for sizes in settings]
    chain = stack(windows, axes, w, relu, seed)
    x = x.double()
    return Built(windows, chain, x, signals.stacked(examples).double(), walk(chain, x))


def stack(
    settings: Sequence[Window], axes: int, weights: str = "all ones", relu: bool = False, seed: int = 0
) -> nn.Sequential:
    """A chain of convolutions of one channel, in float64.

    Args:
        settings: of each layer, the same along every axis.
        axes: 1 for signals, 2 for images.
        weights: "all ones" (a gradient then counts paths), "random", or "edge" (right minus left).
        relu: behind each convolution.
    """
    generator = torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = []
    for window in settings:
        make: Any = nn.Conv1d if axes == 1 else nn.Conv2d
        sizes = window.kernel, window.stride, window.padding, window.dilation
        layer = seeded(lambda make=make, sizes=sizes: make(1, 1, *sizes, dtype=torch.float64))  # type: ignore[misc]
        with torch.no_grad():
            layer.bias.zero_()
            if weights == "random":
                layer.weight.copy_(torch.randn(layer.weight.shape, generator=generator, dtype=torch.float64))
            elif weights == "edge":
                layer.weight.copy_(torch.linspace(-1, 1, window.kernel).expand_as(layer.weight))
            else:
                layer.weight.fill_(1)
        layers += [layer, nn.ReLU()] if relu else [layer]
    return nn.Sequential(*layers).eval().requires_grad_(False)


def cone_unit(layers: Sequence[Layer], point: Any) -> tuple[int, int]:
    """Layer and unit of a click (x, y) (x = middle of the field, y = layer) in a stack; the input is layer 0.

    Without a click, or with one that is nowhere in this stack: the middle of the last layer.
    """
    fallback = (len(layers), layers[-1].output.shape[-1] // 2)
    if point is None or not all(isinstance(value, int | float) for value in point):
        return fallback
    level = round(point[1])
    if not 0 <= level <= len(layers):
        return fallback
    centres = cone(layers, level, 0).centres[level]
    distance = (centres - point[0]).abs()
    return (level, int(distance.argmin())) if distance.min() < 1e-3 else fallback


def with_stride(settings: Sequence[Window], layer: int, stride: int) -> list[Window]:
    """The stack with another stride in one layer, counted from 1."""
    return [replace(window, stride=stride) if k == layer else window for k, window in enumerate(settings, 1)]
