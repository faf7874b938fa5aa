"""Inside a convolution: what the units of a row see, one after the other.

References: [UDL] §10.2-10.4, figures 10.3-10.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from lab.lenses import inputs, signals
from lab.lenses.machine import GRIDS, POOLS
from lab.lenses.receptive_field import Layer, Span, Unit, describe, layers_of, walk
from lab.lenses.units import PATHS, Arithmetic, arithmetic, loudest, over_input, unit_equation
from modules.base import Module

WIDEST = 19  # units in a row of a layer without places

# --- The network on an input -----------------------------------------------------------------------


def layer_names(model: nn.Module) -> dict[int, str]:
    """Place -> number and kind of each layer that has units of its own."""
    kinds = [describe(module) for module in layers_of(model)]
    shown = [k for k, kind in enumerate(kinds) if kind not in ("flatten", "dropout")]
    return {k: f"{n} · {kinds[k]}" for n, k in enumerate(shown, 1)}


@dataclass(frozen=True)
class Ran:
    """A network on the reader's input.

    Attributes:
        x: (1, positions...). examples: others, (N, 1, positions...).
        layers: what it has computed; `index` is the chosen one.
    """

    model: Module
    x: Tensor
    examples: Tensor
    layers: list[Layer]
    index: int

    @property
    def layer(self) -> Layer:
        return self.layers[self.index]


def on_input(model: Module, layer: str, digit: Tensor | None, signal: str, curve: Tensor | None) -> Ran:
    """The network on the reader's input."""
    x = inputs.chosen(model, digit, signal, curve)
    examples = inputs.digits(model) if inputs.sees_pictures(model) else signals.signals()
    index = next(place for place, label in layer_names(model).items() if label == layer)
    return Ran(model, x, signals.stacked(examples), walk(model, x), index)


def prediction(layers: Sequence[Layer]) -> tuple[Tensor, int]:
    """Probabilities of the classes (K,) by the last layer's logits, and the likeliest class."""
    p = layers[-1].output.softmax(0)
    return p, int(p.argmax())


# --- The units to choose from ----------------------------------------------------------------------


@dataclass(frozen=True)
class Map:
    """The units of a layer to choose from.

    Attributes:
        grid: (rows, columns), their values; NaN where there is none.
        channel: that the map is of; None where it is the whole layer.
        flat: the rows are those of a layer without places.
    """

    grid: Tensor
    channel: int | None
    flat: bool

    def unit(self, row: int, column: int) -> Unit:
        """The index in the layer's output."""
        if self.channel is not None:
            return (self.channel, row, column)
        return (row * self.grid.shape[1] + column,) if self.flat else (row, column)

    def row(self, row: int) -> list[Unit]:
        """The units of a row."""
        return [self.unit(row, column) for column in range(filled(self.grid[row]))]


def mapped(ran: Ran, channel: int | None) -> Map:
    """The map of a layer: of one channel, of channels and places, or its units row by row."""
    h = ran.layer.output
    if channel is not None:
        return Map(h[channel], channel, False)
    return Map(rows_of(h, WIDEST) if h.ndim == 1 else h, None, h.ndim == 1)


def rows_of(h: Tensor, width: int) -> Tensor:
    """A flat layer (D,) as rows of at most `width` units; what the last row lacks is NaN."""
    width = min(width, len(h))
    return F.pad(h, (0, -len(h) % width), value=float("nan")).view(-1, width)


def strongest(grid: Tensor) -> tuple[int, int]:
    """Row and column of the largest value of a map (H, W); NaN never wins."""
    return divmod(int(grid.nan_to_num(float("-inf")).argmax()), grid.shape[1])


def filled(row: Tensor) -> int:
    """Number of units in a row (W,) of a map: what the last row of a dense layer lacks is NaN."""
    return int((~row.isnan()).sum())


# --- What they see of the input --------------------------------------------------------------------


@dataclass(frozen=True)
class Sweep:
    """U units of a row: where each looks, and what it says.

    Attributes:
        units: their indices in the layer's output.
        fields: one of FIELDS, (U, positions...).
        boxes: of theory, a span an axis; None where a unit sees the padding alone.
        captions, equations: of each.
    """

    units: list[Unit]
    fields: Tensor
    boxes: list[list[Span] | None]
    captions: list[str]
    equations: list[str]


def swept(ran: Ran, units: Map, row: int, over: str) -> Sweep:
    """Results of `over_input` for the units of a row, with their boxes and numbers."""
    layer, chosen = ran.layer, units.row(row)
    result = over_input(ran.model, ran.layers, ran.index, chosen, ran.x, ran.examples, over)
    title = layer_names(ran.model)[ran.index]
    boxes, captions, equations = [layer.box(unit) for unit in chosen], [], []
    for unit, field, box in zip(chosen, result, boxes, strict=True):
        numbers = arithmetic(layer, unit)
        into = loudest(numbers) if numbers.kernel is not None and numbers.kernel.ndim > 1 else 0
        equation, note = unit_equation(layer, unit, into)
        shut = over != PATHS and box and not field.any()
        captions.append(
            f"Unit {', '.join(map(str, unit))} of layer {title}: {float(layer.output[unit]):.4f}. "
            + ("It is shut: its ReLU gives 0, so no input can move it a little." if shut else note)
        )
        equations.append(equation)
    return Sweep(chosen, result, boxes, captions, equations)


# --- What the machine says of them -----------------------------------------------------------------


def part_of(ran: Ran) -> tuple[str, str]:
    """The part of the machine that the layer belongs to, and which of its kind it is, "2 of 3"."""
    modules = [layer.module for layer in ran.layers]
    dense = any(isinstance(module, nn.Linear) for module in modules[: ran.index + 1])
    kinds: tuple[str, Any] = ("dense", nn.Linear) if dense else ("convolution", GRIDS)
    if isinstance(ran.layer.module, POOLS):
        kinds = "pool", POOLS
    part, kind = kinds
    places = [place for place, module in enumerate(modules) if isinstance(module, kind)]
    if dense and ran.index >= places[-1]:
        return "logits", ""
    return part, f"{sum(place <= ran.index for place in places)} of {len(places)}"


def numbers(ran: Ran, run: Sweep) -> list[dict[str, str]]:
    """Texts of the machine's parts for each unit: the size of its box, and which layer it is in."""
    part, number = part_of(ran)
    return [{"x": spelled(box), part: number} for box in run.boxes]


def spelled(box: list[Span] | None) -> str:
    """The size of a box, "20×16"."""
    return "×".join(str(last - first + 1) for first, last in box) if box else "none"


# --- The number of one unit ------------------------------------------------------------------------


def operands(ran: Ran, units: Map, row: int, column: int) -> Arithmetic:
    """Operands of the unit where the film stands."""
    chosen = units.row(row)
    return arithmetic(ran.layer, chosen[min(column, len(chosen) - 1)])
