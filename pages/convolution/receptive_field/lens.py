"""Inside a convolution: what the units of a row see, one after the other.

References: [UDL] §10.2-10.4, figures 10.3-10.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional as F

from lab.lenses.receptive_field import Layer, Span, Unit, describe, layers_of
from lab.lenses.units import PATHS, arithmetic, loudest, over_input, unit_equation

# --- What is laid over the input ---------------------------------------------------------------


@dataclass(frozen=True)
class Sweep:
    """U units of a row: where each looks, and what it says.

    Attributes:
        units: their indices in the layer's output.
        found: one of FIELDS, (U, positions...).
        boxes: of theory, a span an axis; None where a unit sees the padding alone.
        captions, equations: of each.
    """

    units: list[Unit]
    found: Tensor
    boxes: list[list[Span] | None]
    captions: list[str]
    equations: list[str]


def sweep(
    chain: nn.Module, layers: Sequence[Layer], index: int, units: list[Unit], x: Tensor, examples: Tensor,
    kind: str,
) -> Sweep:  # fmt: skip
    """What `over_input` finds of a row of units, with their boxes and numbers."""
    layer, found = layers[index], over_input(chain, layers, index, units, x, examples, kind)
    title = layer_names(chain)[index]
    boxes, captions, equations = [layer.box(unit) for unit in units], [], []
    for unit, field, box in zip(units, found, boxes, strict=True):
        numbers = arithmetic(layer, unit)
        into = loudest(numbers) if numbers.kernel is not None and numbers.kernel.ndim > 1 else 0
        equation, note = unit_equation(layer, unit, into)
        shut = kind != PATHS and box and not field.any()
        captions.append(
            f"Unit {', '.join(map(str, unit))} of layer {title}: {float(layer.output[unit]):.4f}. "
            + ("It is shut: its ReLU gives 0, so no input can move it a little." if shut else note)
        )
        equations.append(equation)
    return Sweep(units, found, boxes, captions, equations)


def weighted_places(model: nn.Module) -> list[int]:
    """Which layers of a network have weights."""
    kinds = [describe(module) for module in layers_of(model)]
    return [k for k, kind in enumerate(kinds) if kind.startswith(("conv", "dense"))]


def layer_names(model: nn.Module) -> dict[int, str]:
    """Place -> number and kind of each layer that has units of its own."""
    kinds = [describe(module) for module in layers_of(model)]
    shown = [k for k, kind in enumerate(kinds) if kind not in ("flatten", "dropout")]
    return {k: f"{n} · {kinds[k]}" for n, k in enumerate(shown, 1)}


# --- Choosing a unit ---------------------------------------------------------------------------


def rows_of(h: Tensor, width: int) -> Tensor:
    """A flat layer (D,) as rows of at most `width` units; what the last row lacks is NaN."""
    width = min(width, len(h))
    return F.pad(h, (0, -len(h) % width), value=float("nan")).view(-1, width)


def strongest(grid: Tensor) -> tuple[int, int]:
    """Row and column of the largest value of a map (H, W); NaN never wins."""
    return divmod(int(grid.nan_to_num(float("-inf")).argmax()), grid.shape[1])


def strongest_channel(maps: Tensor) -> int:
    """Of maps (C, H, W) that with the largest value."""
    return int(maps.flatten(1).amax(1).argmax())


def prediction(layers: Sequence[Layer]) -> tuple[Tensor, int]:
    """Probabilities of the classes (K,) by the last layer's logits, and the likeliest class."""
    p = layers[-1].output.softmax(0)
    return p, int(p.argmax())


def filled(row: Tensor) -> int:
    """How many units a row (W,) of a map has: what the last row of a dense layer lacks is NaN."""
    return int((~row.isnan()).sum())
