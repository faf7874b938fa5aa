"""One unit's number in each layer of a classifier of pictures, and the probabilities without its map.

References: [UDL] §10.3–10.4, notebook 10.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from datamodules import cells
from datamodules.mnist import MNIST
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses.receptive_field import layers_of, windows
from lab.lenses.units import arithmetic, loudest, shown, unit_equation
from modules.convolution.cnn2d import CNN2d
from pages.convolution.network.room import SIDE
from pages.convolution.network.sheet import AWAY, EVERYWHERE, Column, Corner, Ran

NAMES: dict[type, str] = {nn.BatchNorm2d: "batch norm", nn.ReLU: "ReLU"}


def reads_digits(entry: Experiment) -> bool:
    """Check whether an experiment trains a CNN on pictures of digits of MNIST's size."""
    return (
        surfaces.is_a(entry, CNN2d)
        and surfaces.is_a(entry, MNIST, part="data")
        and surfaces.option(entry, "image_size", "data") == SIDE
    )


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
