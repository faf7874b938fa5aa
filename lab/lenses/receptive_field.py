"""The receptive field: which inputs can reach a unit, in theory and measured.

Theory, from the layers alone. A stack of windows (kernel K, stride s, dilation d, padding p per axis):

    r_0 = 1, j_0 = 1, o_0 = 0
    r_l = r_{l−1} + d(K−1)·j_{l−1}     size of the field
    o_l = o_{l−1} − p·j_{l−1}          its first input, of unit 0
    j_l = s·j_{l−1}                    how far it moves from unit to unit
    unit i sees at most the inputs [o_l + i·j_l, o_l + i·j_l + r_l − 1], clipped to the input

That is the box. The exact set comes from counting: a layer is a matrix over positions (rows: outputs,
columns: inputs; 1 where one reads the other), a stack is their product, whose entries are the numbers
of paths; branches add. The same holds for masks, attention and graphs, where rows and columns are
features, tokens and nodes. Images need one matrix an axis, as windows are products of intervals.

Measured, from any function: |∂ unit / ∂ input|. It is 0 outside the theory, always.

References: [UDL] §10.2.6 and figure 10.6, problems 10.9-10.11, 10.17; Luo et al. 2016,
arXiv:1701.04128 (the effective field is far smaller than the box).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce, singledispatch
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lab.errors import UserError

Unit = tuple[int, ...]  # index of a unit in a layer's output, without the batch
Span = tuple[int, int]  # first and last input position, both included


# --- Theory: the formula -----------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """Window that a convolution or pooling reads along one axis."""

    kernel: int = 1
    stride: int = 1
    dilation: int = 1
    padding: int = 0  # on the low side, which is what places unit 0

    def __post_init__(self) -> None:
        if min(self.kernel, self.stride, self.dilation) < 1 or self.padding < 0:
            raise ValueError(f"{self}: kernel, stride and dilation start at 1, padding at 0.")


@dataclass(frozen=True)
class Field:
    """The receptive field of every unit of a layer along one axis.

    Attributes:
        size: r, inputs in the field.
        jump: j, inputs from one unit's field to the next one's.
        start: o, first input of unit 0's field; negative inside the padding.
    """

    size: int = 1
    jump: int = 1
    start: int = 0

    def after(self, window: Window) -> "Field":
        """The field one layer further."""
        return Field(
            self.size + window.dilation * (window.kernel - 1) * self.jump,
            self.jump * window.stride,
            self.start - window.padding * self.jump,
        )

    def box(self, unit: int, n: int | None = None) -> Span | None:
        """First and last input that `unit` may see, clipped to `n` inputs; None where only padding is."""
        first = self.start + unit * self.jump
        last = first + self.size - 1
        if n is not None:
            first, last = max(first, 0), min(last, n - 1)
        return (first, last) if first <= last else None


def fields(windows: Sequence[Window]) -> list[Field]:
    """The field after each window of a stack, the input's own (size 1) first: one more than windows."""
    results = [Field()]
    for window in windows:
        results.append(results[-1].after(window))
    return results


# --- Theory: exact sets, by matrices over positions --------------------------------------------


def compose(*layers: Tensor) -> Tensor:
    """Number of paths from input to output through layers (out, in) in the order in which they run."""
    return reduce(lambda first, second: second @ first, (layer.double() for layer in layers))


def union(*branches: Tensor) -> Tensor:
    """Number of paths through any of parallel branches (out, in): skips, inception, dense blocks."""
    return reduce(torch.add, (branch.double() for branch in branches))


def hops(edge_index: Tensor, num_nodes: int, layers: int) -> Tensor:
    """Paths (nodes, nodes) of messages in `layers` rounds along edges (2, E) from source to target,
    each node hearing itself too."""
    heard = torch.eye(num_nodes, dtype=torch.float64)
    heard[edge_index[1], edge_index[0]] = 1
    return compose(torch.eye(num_nodes), *[heard] * layers)


def window_matrix(n: int, outputs: int, window: Window, source: Tensor | None = None) -> Tensor:
    """(outputs, n): 1 where an output reads an input.

    Args:
        source: input position of each padded position, −1 for none; None: zeros outside.
    """
    taps = torch.arange(window.kernel) * window.dilation
    padded = torch.arange(outputs)[:, None] * window.stride + taps  # (outputs, K)
    if source is None:
        position = padded - window.padding
    else:  # what a ceiling-mode pooling reads past the end is nothing
        position = F.pad(source, (0, max(0, int(padded.max()) + 1 - len(source))), value=-1)[padded]
    return _count(position, n)


def _count(position: Tensor, n: int) -> Tensor:
    """Rows of positions (outputs, K) as a matrix (outputs, n); what lies outside counts nothing."""
    inside = (position >= 0) & (position < n)
    matrix = torch.zeros(len(position), n, dtype=torch.float64)
    matrix.scatter_add_(1, position.clamp(0, n - 1), inside.double())
    return matrix


@singledispatch
def connectivity(layer: nn.Module, n: Sequence[int], outputs: Sequence[int]) -> list[Tensor]:
    """One matrix (outputs, n) per axis: which positions of its input a layer reads.

    Other families add theirs by `connectivity.register`.

    Args:
        n: positions of the input, per axis.
        outputs: positions of the output, per axis.

    Raises:
        ValueError: nobody has said what such a layer reads.
    """
    raise ValueError(
        f"What a {type(layer).__name__} reads is not known: register it with `connectivity.register`."
    )


def windows(layer: nn.Module, axes: int) -> list[Window] | None:
    """The window of a layer per axis; None if it is no window (up-sampling, dense)."""
    if isinstance(layer, POINTWISE):
        return [Window()] * axes
    if isinstance(layer, CONVOLUTIONS + POOLINGS):
        kernel, stride = per_axis(layer.kernel_size, axes), per_axis(layer.stride, axes)
        dilation = per_axis(getattr(layer, "dilation", 1), axes)
        low = [
            d * (k - 1) // 2 if layer.padding == "same" else p
            for d, k, p in zip(dilation, kernel, low_padding(layer, axes), strict=True)
        ]
        return [Window(*each) for each in zip(kernel, stride, dilation, low, strict=True)]
    return None


def low_padding(layer: Any, axes: int) -> tuple[int, ...]:
    return (0,) * axes if isinstance(layer.padding, str) else per_axis(layer.padding, axes)


def per_axis(value: Any, axes: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (int(value),) * axes


POINTWISE = (
    nn.ReLU,
    nn.LeakyReLU,
    nn.ELU,
    nn.GELU,
    nn.SiLU,
    nn.Tanh,
    nn.Sigmoid,
    nn.Softplus,
    nn.Identity,
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.BatchNorm3d,
)  # fmt: skip  (batch norm: in evaluation mode)
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
POOLINGS = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
MODES = {"zeros": "constant", "circular": "circular", "reflect": "reflect", "replicate": "replicate"}


def _windowed(layer: Any, n: Sequence[int], outputs: Sequence[int]) -> list[Tensor]:
    matrices = []
    for size, count, window in zip(n, outputs, windows(layer, len(n)) or [], strict=True):
        mode = getattr(layer, "padding_mode", "zeros")
        source = None
        if mode != "zeros":  # the border repeats inputs: ask the padding itself where from
            ends = (window.padding, window.dilation * (window.kernel - 1) - window.padding)
            ends = ends if layer.padding == "same" else (window.padding, window.padding)
            numbered = torch.arange(size, dtype=torch.float64)[None, None]
            source = F.pad(numbered, ends, mode=MODES[mode])[0, 0].long()
        matrices.append(window_matrix(size, count, window, source))
    return matrices


for kind in CONVOLUTIONS + POOLINGS + POINTWISE:
    connectivity.register(kind)(_windowed)


@connectivity.register(nn.ConvTranspose1d)
@connectivity.register(nn.ConvTranspose2d)
def _transposed(layer: Any, n: Sequence[int], outputs: Sequence[int]) -> list[Tensor]:
    settings = zip(layer.kernel_size, layer.stride, layer.dilation, layer.padding, strict=True)
    matrices = []
    for size, count, each in zip(n, outputs, settings, strict=True):
        kernel, stride, dilation, padding = each
        # input i writes the outputs i·s + d·k − p: a convolution read backwards
        written = torch.arange(size)[:, None] * stride + torch.arange(kernel) * dilation - padding
        matrices.append(_count(written, count).T)
    return matrices


@connectivity.register(nn.Upsample)
def _upsampled(layer: nn.Upsample, n: Sequence[int], outputs: Sequence[int]) -> list[Tensor]:
    if layer.mode != "nearest":
        raise ValueError(f"Upsampling by {layer.mode} is not known here: use nearest.")
    return [
        _count((torch.arange(count) * size // count)[:, None], size)
        for size, count in zip(n, outputs, strict=True)
    ]


@connectivity.register(nn.AdaptiveAvgPool1d)
@connectivity.register(nn.AdaptiveAvgPool2d)
def _adaptive(layer: nn.Module, n: Sequence[int], outputs: Sequence[int]) -> list[Tensor]:
    matrices = []
    for size, count in zip(n, outputs, strict=True):
        i, position = torch.arange(count)[:, None], torch.arange(size)
        matrices.append(((position >= i * size // count) & (position < -(-(i + 1) * size // count))).double())
    return matrices


# --- A model, layer by layer -------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """One layer of a model that has run on one input.

    Attributes:
        name: what a reader calls it, e.g. "3 · ReLU".
        module: the layer itself.
        input, output: (C, positions...) or, once flattened, (D,).
        grid: shape (C, positions...) in which a flattened output is counted.
        paths: per axis (positions, inputs): number of paths from an input to a position.
        field: the formula's field per axis; None behind up-sampling, a dense layer,
            or a border that repeats inputs (circular, reflected).
    """

    name: str
    module: nn.Module
    input: Tensor
    output: Tensor
    grid: tuple[int, ...]
    paths: tuple[Tensor, ...]
    field: tuple[Field, ...] | None

    def site(self, unit: Unit) -> Unit:
        """Position of a unit on the grid, one index an axis."""
        if len(unit) != self.output.ndim or any(
            not 0 <= i < n for i, n in zip(unit, self.output.shape, strict=True)
        ):
            raise ValueError(f"{self.name} has no unit {unit}: its output is {tuple(self.output.shape)}.")
        if len(unit) > 1:
            return unit[1:]
        return tuple(int(i) for i in torch.unravel_index(torch.tensor(unit[0]), self.grid))[1:]

    def support(self, unit: Unit) -> Tensor:
        """Number of paths from each input position to a unit, (inputs...) float64: 0 where it is blind."""
        rows = [matrix[i] for matrix, i in zip(self.paths, self.site(unit), strict=True)]
        return reduce(lambda a, b: a[..., None] * b, rows)

    def box(self, unit: Unit) -> list[Span] | None:
        """Smallest box around the inputs that reach a unit, one span an axis; None if none does."""
        spans = []
        for matrix, i in zip(self.paths, self.site(unit), strict=True):
            reached = matrix[i].nonzero().flatten().tolist()
            if not reached:
                return None
            spans.append((reached[0], reached[-1]))
        return spans


def layers_of(model: nn.Module) -> list[nn.Module]:
    """The layers of a sequential network in the order in which they run.

    Raises:
        ValueError: the model keeps no `nn.Sequential` called `layers`.
    """
    chain = getattr(model, "layers", model)
    if not isinstance(chain, nn.Sequential):
        raise ValueError(
            f"{type(model).__name__} is no chain of layers: compose its connectivity yourself "
            "with `compose` and `union`, and measure it with `measured`."
        )

    def leaves(chain: nn.Sequential) -> Iterator[nn.Module]:
        for layer in chain:
            if isinstance(layer, nn.Sequential):
                yield from leaves(layer)
            else:
                yield layer

    return list(leaves(chain))


@torch.no_grad()
def walk(model: nn.Module, x: Tensor) -> list[Layer]:
    """Run a sequential model on one input x (C, positions...) and keep what each layer read and said.

    Raises:
        UserError: the input is too small for a layer.
        ValueError: the model is no chain, or a layer is unknown.
    """
    axes = x.ndim - 1
    field: tuple[Field, ...] | None = (Field(),) * axes
    paths = tuple(torch.eye(n, dtype=torch.float64) for n in x.shape[1:])
    grid, h, result = tuple(x.shape), x, []
    for number, module in enumerate(layers_of(model), 1):
        try:
            output = module(h[None])[0]
        except RuntimeError as error:
            raise UserError(
                f"Layer {number} ({describe(module)}) does not fit on {tuple(h.shape)}: "
                "use a smaller kernel or dilation, more padding, or fewer layers."
            ) from error
        if isinstance(module, nn.Flatten):
            pass  # the same units in one row; `grid` says where each stands
        elif isinstance(module, nn.Linear) and h.ndim == 1:  # every position is read
            paths = tuple(matrix.sum(0, keepdim=True) for matrix in paths)
            grid, field = (len(output),) + (1,) * axes, None
        else:
            sizes = grid[1:] if h.ndim == 1 else h.shape[1:]
            after = sizes if h.ndim == 1 else output.shape[1:]
            steps = connectivity(module, sizes, after)
            paths = tuple(compose(*pair) for pair in zip(paths, steps, strict=True))
            # the formula knows nothing of borders that repeat inputs
            stack = windows(module, axes) if getattr(module, "padding_mode", "zeros") == "zeros" else None
            pairs = zip(field or (), stack or (), strict=False)
            field = tuple(f.after(w) for f, w in pairs) or None
            grid = grid if h.ndim == 1 else tuple(output.shape)
        result.append(Layer(f"{number} · {describe(module)}", module, h, output, grid, paths, field))
        h = output
    return result


def describe(module: nn.Module) -> str:
    """A layer's name as a reader knows it, with its settings."""
    if isinstance(module, nn.Linear):
        return "dense"
    short = {"BatchNorm": "batch norm", "MaxPool": "max pool", "AvgPool": "mean pool", "Conv": "conv"}
    kind = type(module).__name__
    for start, name in short.items():
        if kind.startswith(start):
            kind = name + (f" {'×'.join(map(str, k))}" if (k := kernel(module)) else "")
    return kind.lower() if kind in ("Dropout", "Flatten") else kind


def kernel(module: Any) -> tuple[int, ...]:
    """Kernel size per axis; () for a layer without one."""
    size = getattr(module, "kernel_size", ())
    return per_axis(size, int(type(module).__name__[-2])) if size != () else ()


# --- Measured ----------------------------------------------------------------------------------


def measured(function: Callable[[Tensor], Tensor], x: Tensor, unit: Any = ()) -> Tensor:
    """|∂ unit / ∂ x|, of the shape of x: 0 where the input cannot move the unit.

    Args:
        function: takes a batch, or whatever x is; of its result `unit` is one entry.
        x: floating point; for tokens, hand in their embeddings and a function of these.
        unit: index of one number in `function(x)`.

    Raises:
        ValueError: `unit` is more than one number.
    """
    with torch.inference_mode(False), torch.enable_grad():
        x = x.detach().clone().requires_grad_()
        value = function(x)[unit]
        if value.numel() != 1:
            raise ValueError(f"unit {unit} is {tuple(value.shape)} numbers: name a single one.")
        if not value.requires_grad:  # a constant: nothing reaches it
            return torch.zeros_like(x)
        (gradient,) = torch.autograd.grad(value.sum(), x, allow_unused=True)
    return torch.zeros_like(x) if gradient is None else gradient.abs()


def measured_each(function: Callable[[Tensor], Tensor], x: Tensor, units: Sequence[Unit]) -> Tensor:
    """`measured` of U units at once: x (N, ...) -> (U, N, ...), a row of N gradients a unit.

    Args:
        function: of a batch (B, ...); an example has no part in what it says of another.
        units: indices in what it says of one example.
    """
    U, N = len(units), len(x)
    at = torch.tensor(units).T  # a row of indices an axis of the result

    # an example has no part in another's unit, so the gradient of the sum holds all gradients
    def chosen(batch: Tensor) -> Tensor:
        each = function(batch).unflatten(0, (U, N))
        return each[torch.arange(U), :, *at].sum()

    return measured(chosen, x.repeat(U, *[1] * (x.ndim - 1))).unflatten(0, (U, N))


def measured_fields(model: nn.Module, x: Tensor, layer: int, units: Sequence[Unit]) -> Tensor:
    """|∂ unit / ∂ input| (U, positions...) of U units, the largest over input channels, of inputs
    x (N, C, positions...), averaged over the N inputs: one input gives its own field, many the effective
    field.

    Args:
        layer: counted from 0 in `layers_of(model)`.
        units: indices in that layer's output.
    """
    chain = nn.Sequential(*layers_of(model)[: layer + 1])
    return measured_each(chain, x, units).amax(2).mean(1)  # of (U, N, C, positions...)


def measured_field(model: nn.Module, x: Tensor, layer: int, unit: Unit) -> Tensor:
    """`measured_fields` of one unit, (positions...)."""
    return measured_fields(model, x, layer, [unit])[0]


def spread(weights: Tensor) -> list[float]:
    """Standard deviation of a field (positions...) along each axis, in inputs: its effective half-width.

    Zeros give 0.
    """
    results = []
    for axis in range(weights.ndim):
        others = [a for a in range(weights.ndim) if a != axis]
        mass = weights.double().sum(others) if others else weights.double()
        if mass.sum() == 0:
            results.append(0.0)
            continue
        p, at = mass / mass.sum(), torch.arange(len(mass), dtype=torch.float64)
        mean = (p * at).sum()
        results.append(float((p * (at - mean) ** 2).sum().clamp_min(0).sqrt()))
    return results


# --- How much of the field counts --------------------------------------------------------------


def half_held(weights: Tensor) -> int:
    """Fewest inputs that together hold half of a field's weight; 0 where all of it is 0."""
    ordered = weights.double().flatten().sort(descending=True).values
    if ordered.sum() == 0:
        return 0
    return int((ordered.cumsum(0) < ordered.sum() / 2).sum()) + 1


def shares(count: int, of: int) -> str:
    """A share in words."""
    if of == 0 or 3 * count > of:
        return "more than a third"
    return "less than a tenth" if 10 * count < of else "a tenth to a third"


# --- The stack as a picture --------------------------------------------------------------------


@dataclass(frozen=True)
class Cone:
    """A stack along its last axis, and what of it leads to one unit; the input is layer 0.

    Attributes:
        centres: per layer (n,): the middle of each unit's field, in inputs.
        edges: per layer above the input (n, n below) bool: who reads whom.
        lit: per layer (n,) bool: the unit and what reaches it.
        padding: per layer, where the zeros around it stand that the next layer reads.
    """

    centres: list[Tensor]
    edges: list[Tensor]
    lit: list[Tensor]
    padding: list[list[float]]


def cone(layers: Sequence[Layer], layer: int, unit: int) -> Cone:
    """The paths into unit `unit` of `layers[layer − 1]`; 0 is the input itself.

    Raises:
        ValueError: a layer that the formula does not cover, or a unit that is not there.
    """
    n = layers[0].paths[-1].shape[1]
    centres, edges, padding = [torch.arange(n).double()], [], []
    field = Field()
    for each in layers:
        along = windows(each.module, each.input.ndim - 1)
        if along is None or each.field is None:
            raise ValueError(f"{each.name} is no window: its units stand nowhere.")
        window = along[-1]
        n, count = each.input.shape[-1], each.output.shape[-1]
        edges.append(connectivity(each.module, each.input.shape[1:], each.output.shape[1:])[-1] > 0)
        around = [*range(-window.padding, 0), *range(n, n + window.padding)]
        padding.append([field.start + i * field.jump + (field.size - 1) / 2 for i in around])
        field = each.field[-1]
        centres.append(field.start + torch.arange(count) * field.jump + (field.size - 1) / 2)
    if not 0 <= layer <= len(layers) or not 0 <= unit < len(centres[layer]):
        raise ValueError(f"Layer {layer} has no unit {unit}.")
    lit = [torch.zeros(len(row), dtype=torch.bool) for row in centres]
    lit[layer][unit] = True
    for k in range(layer, 0, -1):
        lit[k - 1] = edges[k - 1][lit[k]].any(0)
    return Cone(centres, edges, lit, [*padding, []])


def field_equation(layer: Layer, unit: Unit) -> tuple[str, str] | None:
    """The box of the formula with this unit's numbers, along the last axis; None where it has none."""
    if layer.field is None:
        return None
    field, i, n = layer.field[-1], layer.site(unit)[-1], layer.paths[-1].shape[1]
    first = field.start + i * field.jump
    box = field.box(i, n)
    clipped = rf"[{box[0]}, {box[1]}]" if box else r"\varnothing"
    return (
        rf"[\,o + i\,j,\; o + i\,j + r - 1\,] = [{field.start} + {i}\cdot{field.jump},\; "
        rf"{field.start} + {i}\cdot{field.jump} + {field.size} - 1] = [{first}, {first + field.size - 1}]"
        rf" \;\to\; {clipped}",
        f"Size r = {field.size}, step j = {field.jump}, first input o = {field.start} of unit 0; "
        f"unit i = {i}, clipped to the {n} inputs.",
    )


def growth(settings: Sequence[Window]) -> str:
    """The recursion of the field's size with its numbers, one line per layer, as LaTeX."""
    lines = [
        rf"r_{{{k}}} &= {before.size} + {w.dilation}\cdot({w.kernel} - 1)\cdot{before.jump} = {after.size}"
        rf" & j_{{{k}}} &= {w.stride}\cdot{before.jump} = {after.jump}"
        rf" & o_{{{k}}} &= {before.start} - {w.padding}\cdot{before.jump} = {after.start}"
        for k, (w, before, after) in enumerate(
            zip(settings, fields(settings), fields(settings)[1:], strict=False), 1
        )
    ]
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"
