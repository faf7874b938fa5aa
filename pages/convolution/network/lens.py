"""A classifier of pictures on one sheet: every map of every layer, one unit's number in each of them, and the
probabilities when one map is set to zero.

References: [UDL] §10.3–10.4, notebook 10.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import torch
from torch import Tensor, nn

from datamodules import cells
from datamodules.mnist import MNIST
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses.receptive_field import Layer, layers_of, walk, windows
from lab.lenses.units import arithmetic, loudest, shown, unit_equation
from modules.base import Module
from modules.convolution.cnn2d import CNN2d

HIGH, GAP, BETWEEN = 120, 1, 14  # of the sheet, between maps, between columns, in cells
Corner = tuple[float, float, float, float]  # left, top, right, bottom, in cells of the sheet
EVERYWHERE = (0, 10**6)  # rows or columns of a map
NAMES: dict[type, str] = {nn.BatchNorm2d: "batch norm", nn.ReLU: "ReLU"}
AWAY: Corner = (-99.0, -99.0, -98.0, -98.0)


def reads_digits(entry: Experiment) -> bool:
    """Check whether an experiment trains a CNN on pictures of digits of MNIST's size."""
    return surfaces.is_a(entry, CNN2d) and surfaces.is_a(entry, MNIST, part="data")


def unit_of(text: str) -> tuple[int, ...] | None:
    """Layer, map, row and column of a typed unit; None of an empty text.

    Raises:
        UserError: it is not four whole numbers.
    """
    words = cells.words(text)[0]
    if not words:
        return None
    if len(words) != 4 or not all(word.isascii() and word.isdecimal() and len(word) < 4 for word in words):
        raise UserError(f"“{text[:40]}” is no unit: write layer, map, row and column, like 1 6 14 14.")
    return tuple(map(int, words))


# --- The sheet -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """The maps of one layer on the sheet.

    Attributes:
        index: of the layer in the walk, −1 of the input. title: what is written above.
        maps: (C, h, w). left: its first cell. across: maps in a row. scale: cells a side of a unit.
    """

    index: int
    title: str
    maps: Tensor
    left: int
    across: int
    scale: int

    @property
    def short(self) -> str:
        """Its title in few letters."""
        return self.title.partition(",")[0].replace("convolution", "conv.").replace("max pooling", "pool")

    @property
    def pitch(self) -> int:
        """Cells from one map to the next."""
        return self.maps.shape[-1] * self.scale + GAP

    @property
    def size(self) -> tuple[int, int]:
        """Cells down and across."""
        rows = -(-len(self.maps) // self.across)
        return rows * self.pitch - GAP, self.across * self.pitch - GAP

    @property
    def top(self) -> int:
        return (HIGH - self.size[0]) // 2

    def box(self, channel: int, rows: tuple[int, int], columns: tuple[int, int]) -> Corner:
        """Frame around the units of a map in these first and last rows and columns; beyond its border cut."""
        last = self.maps.shape[-1] - 1
        down, along = divmod(channel, self.across)
        x, y = self.left + along * self.pitch - 0.5, self.top + down * self.pitch - 0.5
        (r0, r1), (c0, c1) = ((max(0, low), min(last, high)) for low, high in (rows, columns))
        s = self.scale
        return x + c0 * s, y + r0 * s, x + (c1 + 1) * s, y + (r1 + 1) * s

    @property
    def frame(self) -> Corner:
        """Frame around all maps."""
        high, wide = self.size
        return self.left - 2.5, self.top - 2.5, self.left + wide + 1.5, self.top + high + 1.5

    def unit(self, x: float, y: float) -> tuple[int, int, int] | None:
        """Map, row and column of the unit at a place of the sheet; None between and outside."""
        (down, i), (along, j) = (
            divmod(round(y) - self.top, self.pitch),
            divmod(round(x) - self.left, self.pitch),
        )
        channel, row, column = down * self.across + along, i // self.scale, j // self.scale
        inside = down >= 0 and 0 <= along < self.across and 0 <= channel < len(self.maps)
        return (channel, row, column) if inside and max(row, column) < self.maps.shape[-1] else None


@dataclass(frozen=True)
class Ran:
    """A network that has read a digit.

    Attributes:
        layers: what it computed. columns: of the sheet, the input first. logits: (K,).
    """

    model: Module
    layers: list[Layer]
    columns: list[Column]
    logits: Tensor

    @property
    def sheet(self) -> Tensor:
        """All maps, (HIGH, W), each column divided by its largest value; NaN where there is none."""
        result = torch.full((HIGH, int(self.columns[-1].frame[2]) + 2), torch.nan)
        for column in self.columns:
            values = column.maps / column.maps.max().clamp_min(1e-12)
            wide = values.repeat_interleave(column.scale, 1).repeat_interleave(column.scale, 2)  # (C, H, W)
            for channel, grid in enumerate(wide):
                left, top, right, bottom = column.box(channel, EVERYWHERE, EVERYWHERE)
                rows, along = (
                    slice(int(top + 0.5), int(bottom + 0.5)),
                    slice(int(left + 0.5), int(right + 0.5)),
                )
                result[rows, along] = grid
        return result


def on_digit(model: Module, digit: Tensor) -> Ran:
    """The network on a digit (H, W): the input, what each ReLU lets through, what each pooling keeps."""
    layers = walk(model, digit[None])  # (1, H, W)
    shown_layers = [
        (k, layer.module, layer.output) for k, layer in enumerate(layers)
        if layer.output.ndim == 3 and isinstance(layer.module, nn.ReLU | nn.MaxPool2d)
    ]  # fmt: skip
    columns, left, number = [], 3, 0
    for k, module, maps in [(-1, None, digit[None]), *shown_layers]:
        number += isinstance(module, nn.ReLU)
        names = {nn.ReLU: f"convolution {number}, ReLU", nn.MaxPool2d: f"max pooling {number}"}
        name = "input" if module is None else names[type(module)]
        power = 1 << (isqrt(len(maps)).bit_length() - 1)  # largest power of two whose square fits
        scale = max(1, HIGH // (-(-len(maps) // power) * maps.shape[-1]))
        columns.append(Column(k, name, maps.detach(), left, power, scale))
        left += columns[-1].size[1] + BETWEEN
    return Ran(model, layers, columns, layers[-1].output.detach())


# --- One unit in each column -----------------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """One unit's number.

    Attributes:
        patch, kernel, products: of the input map with the largest sum; None where there is none.
        read: frame around the patch. caption, equation: what is computed.
    """

    patch: Tensor | None
    kernel: Tensor | None
    products: Tensor | None
    read: Corner
    caption: str
    equation: str


@dataclass(frozen=True)
class Look:
    """One layer of the forward pass, with one of its units.

    Attributes:
        channel: the unit's map; the class, of a logit. home, place: frames around the map and the unit.
        product: how its number is made.
        without: (K,) probabilities of the classes when the map is set to zero.
    """

    channel: int
    home: Corner
    place: Corner
    product: Product
    without: Tensor


@torch.no_grad()
def probabilities_without(ran: Ran, column: Column, channel: int) -> Tensor:
    """Probabilities (K,) of the classes after one map of a column is set to zero."""
    h = column.maps.clone()
    h[channel] = 0
    for module in layers_of(ran.model)[column.index + 1 :]:
        h = module(h[None])[0]
    return h.softmax(0)


def strongest(maps: Tensor) -> tuple[int, int, int]:
    """Map, row and column of the largest value."""
    channel, row, column = torch.unravel_index(maps.argmax(), maps.shape)
    return int(channel), int(row), int(column)


def looks(ran: Ran, unit: tuple[int, ...] | None) -> list[Look]:
    """Layer by layer: the chosen unit in its layer, in the others the strongest; last the logits.

    Args:
        unit: layer (0: the input), map, row and column.

    Raises:
        UserError: there is no such unit.
    """
    if unit:
        layer, *indices = unit
        sizes = ran.columns[layer].maps.shape if layer < len(ran.columns) else (0, 0, 0)
        if any(n >= most for n, most in zip(indices, sizes, strict=True)):
            have = f"has {sizes[0]} maps of {sizes[1]}×{sizes[2]} units" if sizes[0] else "has no maps"
            raise UserError(f"There is no unit {' '.join(map(str, unit))}: layer {layer} {have}.")
    results = []
    for place, (before, column) in enumerate(zip([None, *ran.columns[:-1]], ran.columns, strict=True)):
        at = (unit[1], unit[2], unit[3]) if unit and unit[0] == place else strongest(column.maps)
        channel, i, j = at
        product = of_unit(ran, before, column, at) if before else pixel(column, at)
        home, spot = column.box(channel, EVERYWHERE, EVERYWHERE), column.box(channel, (i, i), (j, j))
        results.append(Look(channel, home, spot, product, probabilities_without(ran, column, channel)))
    guess = int(ran.logits.argmax())
    return [*results, Look(guess, AWAY, AWAY, of_logit(ran, guess), ran.logits.softmax(0))]


def pixel(column: Column, unit: tuple[int, int, int]) -> Product:
    """A pixel is what it is."""
    side, (_, i, j) = column.maps.shape[-1], unit
    equation = rf"x_{{{i},{j}}} = {shown(float(column.maps[unit]))}"
    return Product(None, None, None, AWAY, f"Input: {side}×{side} grey levels from 0 to 1.", equation)


def of_unit(ran: Ran, before: Column, column: Column, unit: tuple[int, int, int]) -> Product:
    """A unit of a pooling: a maximum; of a ReLU: the convolution, the norm and the ReLU that make it."""
    end = start = column.index
    if isinstance(ran.layers[end].module, nn.ReLU):
        start = max(k for k in range(end) if isinstance(ran.layers[k].module, nn.Conv2d))
    first, *after = ran.layers[start : end + 1]
    numbers, (channel, i, j) = arithmetic(first, unit), unit
    into = channel if numbers.kernel is None else loudest(numbers)
    window, _ = windows(first.module, 2) or []
    top, left = (n * window.stride - window.padding for n in (i, j))
    reach = window.kernel - 1
    read = before.box(into, (top, top + reach), (left, left + reach))
    equation, note = unit_equation(first, unit, into)
    name = f"{column.short}, map {channel}, unit ({i}, {j})"
    if numbers.kernel is None:
        return Product(numbers.patch, None, None, read, f"{name}. {note}", equation)
    then = [f"{NAMES[type(layer.module)]} {float(layer.output[unit]):.2f}" for layer in after]
    caption = f"{name}: sum {numbers.value:.2f}, {', '.join(then)}. Above: input map {into}."
    return Product(numbers.patch[into], numbers.kernel[into], numbers.products[into], read, caption, equation)


def of_logit(ran: Ran, guess: int) -> Product:
    """A logit, with the last map that adds most to it in size."""
    last, numbers = ran.columns[-1], arithmetic(ran.layers[-1], (guess,))
    assert numbers.kernel is not None  # a dense layer
    kernel = numbers.kernel.view_as(last.maps)  # (C·h·w,) -> (C, h, w)
    products = last.maps * kernel
    into = int(products.sum((1, 2)).abs().argmax())
    equation, note = unit_equation(ran.layers[-1], (guess,))
    caption = (
        f"Logit of {guess}: {note} Above: map {into}. Probability {float(ran.logits.softmax(0)[guess]):.3f}."
    )
    read = last.box(into, EVERYWHERE, EVERYWHERE)
    return Product(last.maps[into], kernel[into], products[into], read, caption, equation)


def parts(ran: Ran) -> Sequence[str]:
    """The part of the machine that each frame lights."""
    kinds: dict[Any, str] = {nn.ReLU: "convolution", nn.MaxPool2d: "pool"}
    named = [kinds[type(ran.layers[column.index].module)] for column in ran.columns[1:]]
    return ["x", *named, "logits"]
