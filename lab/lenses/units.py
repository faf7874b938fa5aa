"""A unit of a network: its number with its operands, and what of the input it sees.

    h_i = β + Σ_c Σ_{k<K} ω_{ck} x_{c, s·i + d·k − p}

Patch × kernel, element by element, summed up, plus the bias, is the unit's number before the
activation; here are those operands for any unit of any layer of a chain that has run (`walk`).

References: [UDL] §10.2-10.4, figures 10.2-10.5, notebook 10.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lab.lenses.receptive_field import (
    MODES,
    POINTWISE,
    POOLINGS,
    Layer,
    Span,
    Unit,
    Window,
    measured_fields,
    windows,
)  # fmt: skip

ONE, MANY, PATHS = FIELDS = ("this input", "ten inputs", "paths")
WHAT = {
    ONE: "|gradient| of the unit at this input",
    MANY: "|gradient| averaged over ten inputs: the effective field",
    PATHS: "number of paths from each input, whatever the weights",
}


@dataclass(frozen=True)
class Arithmetic:
    """Operands of one unit's number.

    Attributes:
        patch: what the unit reads: (C, K...) of a window, (D,) of a dense layer, () of itself.
        kernel: its weights, of the same shape; None if the layer has none (pooling, ReLU, norm).
        bias: β.
        value: the unit's number as the layer computed it.
    """

    patch: Tensor
    kernel: Tensor | None
    bias: float
    value: float

    @property
    def products(self) -> Tensor:
        """patch × kernel, element by element."""
        if self.kernel is None:
            raise ValueError("this layer has no weights.")
        return self.patch * self.kernel

    @property
    def total(self) -> float:
        """Σ patch × kernel + β, which must be `value`."""
        return float(self.products.double().sum()) + self.bias


@torch.no_grad()
def arithmetic(layer: Layer, unit: Unit) -> Arithmetic:
    """Inputs of a unit, their weights, and the result."""
    layer.site(unit)  # refuses a unit that is not there
    module: Any = layer.module
    value = float(layer.output[unit])
    if isinstance(module, nn.Linear):
        bias = 0.0 if module.bias is None else float(module.bias[unit[-1]])
        return Arithmetic(layer.input, module.weight[unit[-1]].detach(), bias, value)
    stack = windows(module, layer.input.ndim - 1) if layer.input.ndim > 1 else None
    if stack is None or isinstance(module, POINTWISE):
        own = layer.output[unit] if isinstance(module, nn.Flatten) else layer.input[unit]
        return Arithmetic(own, None, 0.0, value)
    outside = float("-inf") if isinstance(module, POOLINGS[:3]) else 0.0  # padding never wins a maximum
    patch = read(layer.input, stack, unit[1:], getattr(module, "padding_mode", "zeros"), outside)  # (C, K...)
    if isinstance(module, POOLINGS):  # one channel at a time
        return Arithmetic(patch[unit[0]], None, 0.0, value)
    width = len(patch) // module.groups
    group = unit[0] // (module.out_channels // module.groups)
    bias = 0.0 if module.bias is None else float(module.bias[unit[0]])
    weight = module.weight[unit[0]].detach()  # (C / groups, K...)
    return Arithmetic(patch[group * width : (group + 1) * width], weight, bias, value)


def read(h: Tensor, stack: Sequence[Window], site: Unit, mode: str = "zeros", fill: float = 0.0) -> Tensor:
    """The patch (C, K...) of h (C, positions...) that the unit at `site` reads; the padding filled in."""
    # beyond the far end a window may reach by its own length, in "same" and ceiling modes
    beyond = [w.dilation * (w.kernel - 1) + w.stride if mode == "zeros" else 0 for w in stack]
    pairs = [(w.padding, w.padding + more) for w, more in zip(stack, beyond, strict=True)]
    ends = [end for pair in reversed(pairs) for end in pair]  # F.pad wants the last axis first
    h = F.pad(h[None], ends, MODES[mode], fill if mode == "zeros" else None)[0]
    for axis, (window, i) in enumerate(zip(stack, site, strict=True), 1):
        h = h.index_select(axis, i * window.stride + torch.arange(window.kernel) * window.dilation)
    return h


def unit_equation(layer: Layer, unit: Unit, channel: int = 0) -> tuple[str, str]:
    """The unit's number with its operands in it, as LaTeX, and a note that says where each is from.

    Args:
        channel: of a convolution, the input channel whose products are written out; the others are
            summed up.
    """
    numbers, module = arithmetic(layer, unit), layer.module
    value = shown(numbers.value)
    if numbers.kernel is not None and numbers.kernel.ndim > 1:
        own = numbers.products[channel].flatten()
        patch, weights = numbers.patch[channel].flatten().tolist(), numbers.kernel[channel].flatten().tolist()
        terms = [rf"{bracketed(x)}\cdot{bracketed(w)}" for x, w in zip(patch, weights, strict=True)]
        inner = " + ".join(terms) if len(terms) <= 5 else f"{' + '.join(terms[:2])} + \\dots + {terms[-1]}"
        rest = float(numbers.products.double().sum() - own.double().sum())
        others = rf" + \underbrace{{{bracketed(rest)}}}_{{\text{{other channels}}}}"
        return (
            rf"\underbrace{{{inner}}}_{{{shown(own.double().sum())}}}"
            f"{others if len(numbers.products) > 1 else ''}"
            rf" + \underbrace{{{bracketed(numbers.bias)}}}_{{\beta}} = {value}",
            f"Patch times kernel, {own.numel()} products"
            + (
                f" in input channel {channel}, then the same of the {len(numbers.products) - 1} others"
                if len(numbers.products) > 1
                else ""
            )
            + ", then the bias β.",
        )
    if numbers.kernel is not None:
        positive = float(numbers.products.double().clamp_min(0).sum())
        negative = float(numbers.products.double().clamp_max(0).sum())
        return (
            rf"\sum_{{d=1}}^{{{len(numbers.patch)}}} \omega_d h_d + \beta = {shown(positive)} "
            f"{signed(negative)} {signed(numbers.bias)} = {value}",
            "What speaks for it, what speaks against it, the bias.",
        )
    if isinstance(module, POOLINGS):
        kind, read = (r"\max", numbers.patch.flatten().tolist())
        if not isinstance(module, POOLINGS[:3]):
            kind = r"\operatorname{mean}"
        cells = ", ".join(shown(v) for v in read[:9]) + (r", \dots" if len(read) > 9 else "")
        return rf"{kind}({cells}) = {value}", f"The {len(read)} values of its block, in its own channel."
    before = float(numbers.patch)
    if isinstance(module, BATCH_NORMS):
        c = unit[0]
        mean, variance = float(module.running_mean[c]), float(module.running_var[c])  # type: ignore[index]
        scale = [float(p[c].detach()) for p in (module.weight, module.bias)] if module.affine else [1.0, 0.0]
        gamma, delta = scale
        return (
            rf"\gamma\,\frac{{h - m}}{{\sqrt{{s^2 + \epsilon}}}} + \delta = "
            rf"{shown(gamma)}\cdot\frac{{{shown(before)} - {bracketed(mean)}}}"
            rf"{{\sqrt{{{shown(variance)} + {module.eps:g}}}}} {signed(delta)} = {value}",
            f"m and s² are the running averages of channel {c}, frozen after training.",
        )
    if isinstance(module, nn.ReLU):
        return rf"\max(0, {shown(before)}) = {value}", "Its own number one layer below."
    return rf"{shown(before)} \to {value}", "Its own number one layer below."


BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def shown(value: Any) -> str:
    """A number with three significant digits behind the point or two."""
    value = float(value)
    if value in (float("inf"), float("-inf")):
        return r"-\infty" if value < 0 else r"\infty"
    text = f"{value:.3f}" if abs(value) < 10 else f"{value:.2f}"
    return text[1:] if float(text) == 0 and text[0] == "-" else text


def bracketed(value: float) -> str:
    return f"({shown(value)})" if value < 0 else shown(value)


def signed(value: float) -> str:
    return f"- {shown(-value)}" if value < 0 else f"+ {shown(value)}"


def loudest(numbers: Arithmetic) -> int:
    """The input channel whose products have the largest sum, in size."""
    return int(numbers.products.flatten(1).sum(1).abs().argmax())


# --- What it sees ------------------------------------------------------------------------------


def over_input(
    chain: nn.Module, layers: Sequence[Layer], index: int, units: Sequence[Unit], x: Tensor,
    examples: Tensor, kind: str,
) -> Tensor:  # fmt: skip
    """One of FIELDS for U units, (U, positions...); `examples` (B, ...) are what MANY averages over."""
    if kind == PATHS:
        return torch.stack([layers[index].support(unit) for unit in units])
    return measured_fields(chain, x[None] if kind == ONE else examples, index, units)


def sizes(result: Tensor, box: Sequence[Span] | None) -> dict[str, str]:
    """The field in two numbers: label -> value."""
    spans = [last - first + 1 for first, last in box] if box else [0]
    return {
        "Receptive field": " × ".join(map(str, spans)),
        f"Inputs that count, of {result.numel()}": str(int((result != 0).sum())),
    }
