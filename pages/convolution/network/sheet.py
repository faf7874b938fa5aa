"""All maps of a classifier of pictures on one sheet, layer beside layer.

References: [UDL] §10.3–10.4, notebook 10.5.
"""

from dataclasses import dataclass
from math import isqrt

import torch
from torch import Tensor, nn

from lab.lenses.receptive_field import Layer, walk
from modules.base import Module

HIGH, GAP, BETWEEN = 120, 1, 14  # of the sheet, between maps, between columns, in cells
Corner = tuple[float, float, float, float]  # left, top, right, bottom, in cells of the sheet
EVERYWHERE = (0, 10**6)  # rows or columns of a map
AWAY: Corner = (-99.0, -99.0, -98.0, -98.0)


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
