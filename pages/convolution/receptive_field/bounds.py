"""Bounds of the controls: what there is to choose from, and what is chosen at first."""

from torch import nn

from lab.lenses.receptive_field import describe, layers_of
from lab.lenses.units import Arithmetic, loudest
from pages.convolution.receptive_field.lens import Map, Ran, layer_names, strongest


def layers(model: nn.Module) -> list[str]:
    return list(layer_names(model).values())


def last_below_the_logits(model: nn.Module) -> str:
    """Name of the last but one of the layers that have weights."""
    kinds = [describe(module) for module in layers_of(model)]
    weighted = [place for place, kind in enumerate(kinds) if kind.startswith(("conv", "dense"))]
    return layer_names(model)[weighted[-2]]


def has_maps(ran: Ran) -> bool:
    """True where the layer has one map per channel."""
    return ran.layer.output.ndim == 3


def last_channel(ran: Ran) -> int:
    return len(ran.layer.output) - 1


def loudest_channel(ran: Ran) -> int:
    """The channel with the largest value."""
    return int(ran.layer.output.flatten(1).amax(1).argmax())


def row_label(ran: Ran) -> str:
    return "Channel" if ran.layer.output.ndim == 2 else "Row"


def column_label(ran: Ran) -> str:
    return {1: "Unit", 2: "Position", 3: "Column"}[ran.layer.output.ndim]


def last_row(units: Map) -> int:
    return len(units.grid) - 1


def strongest_row(units: Map) -> int:
    return strongest(units.grid)[0]


def strongest_column(units: Map) -> int:
    return strongest(units.grid)[1]


def has_input_channels(numbers: Arithmetic) -> bool:
    return numbers.kernel is not None and numbers.kernel.ndim > 1 and len(numbers.kernel) > 1


def last_input_channel(numbers: Arithmetic) -> int:
    assert numbers.kernel is not None  # else there is nothing to choose
    return len(numbers.kernel) - 1


def loudest_input_channel(numbers: Arithmetic) -> int:
    return loudest(numbers)
