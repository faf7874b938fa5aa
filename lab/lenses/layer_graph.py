"""Receptive fields in networks that are no chain: skips, dense blocks, ways down and up.

    with following(model) as fields:
        model(torch.empty(1, *shape, device="meta"))

What runs through it carries what its positions see: a layer widens it, and where branches join (sum,
concatenation) it is the smallest span that holds all of theirs. Behind an upsampling neighbours differ: with
two halvings undone, four positions in turn see different spans, and the fifth what the first saw, four inputs
further. So a field is a list of spans that repeats; of windows alone it has one, that of the formula.

Behind layers whose reading is not known (dense ones, attention, group norm), and where branches move at
different steps, there is none.

References: [UDL] §10.2.6, §11.5; Araujo et al. 2019, doi:10.23915/distill.00021 (fields of graphs).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_iter

from lab.lenses.receptive_field import Span, per_axis, windows


@dataclass(frozen=True)
class Reach:
    """What each position sees along one axis, or what the outputs of a layer read; at first itself.

    Attributes:
        first, last: of positions 0 … P − 1, the first and last input; both rise with the position.
        step: position i + P sees what i does, so many inputs further.
    """

    first: tuple[int, ...] = (0,)
    last: tuple[int, ...] = (0,)
    step: int = 1

    @property
    def size(self) -> int:
        """Inputs that a position sees, at most."""
        return max(last - first for first, last in zip(self.first, self.last, strict=True)) + 1

    def span(self, position: int) -> Span:
        """First and last input, also before 0 and behind the end."""
        turns, i = divmod(position, len(self.first))
        return self.first[i] + turns * self.step, self.last[i] + turns * self.step

    def box(self, position: int, n: int) -> Span | None:
        """The same within n inputs; None where only padding is."""
        first, last = self.span(position)
        return (max(first, 0), min(last, n - 1)) if first < n and last >= 0 else None

    def after(self, layer: "Reach") -> "Reach":
        """What the outputs of a layer see, whose reading this is."""
        period = len(self.first)
        turns = period // gcd(period, layer.step)  # of the layer until both repeat
        read = [layer.span(i) for i in range(turns * len(layer.first))]
        return Reach(
            tuple(self.span(first)[0] for first, _ in read),
            tuple(self.span(last)[1] for _, last in read),
            self.step * turns * layer.step // period,
        )


def union(branches: Sequence[Reach | None]) -> Reach | None:
    """The smallest that holds all of these; None where they move at different steps, or one is unknown."""
    known = [branch for branch in branches if branch is not None]
    if len(known) < max(1, len(branches)):
        return None
    period = lcm(*(len(branch.first) for branch in known))
    steps = {branch.step * (period // len(branch.first)) for branch in known}
    if len(steps) > 1:
        return None
    spans = [[branch.span(i) for branch in known] for i in range(period)]
    return Reach(
        tuple(min(first for first, _ in each) for each in spans),
        tuple(max(last for _, last in each) for each in spans),
        steps.pop(),
    )


def reading(layer: Any, axes: int) -> Reach | None:
    """What the outputs of a layer read along the last axis; None where that is not known."""
    if stack := windows(layer, axes):
        window, start = stack[-1], -stack[-1].padding
        return Reach((start,), (start + window.dilation * (window.kernel - 1),), window.stride)
    if isinstance(layer, nn.ConvTranspose1d | nn.ConvTranspose2d):
        settings = (layer.kernel_size, layer.stride, layer.dilation, layer.padding)
        kernel, stride, dilation, padding = (per_axis(each, axes)[-1] for each in settings)
        # input m writes the outputs m·s + d·k − p, so output i is written by m from ⌈(i + p − d(K−1))/s⌉ on
        places = [i + padding for i in range(stride)]
        first = tuple(-((dilation * (kernel - 1) - i) // stride) for i in places)
        return Reach(first, tuple(i // stride for i in places))
    if isinstance(layer, nn.MaxUnpool1d | nn.MaxUnpool2d):
        return repeated(per_axis(layer.stride, axes)[-1])
    if isinstance(layer, nn.Upsample) and layer.mode == "nearest" and layer.scale_factor is not None:
        scale = float(layer.scale_factor[-1] if isinstance(layer.scale_factor, tuple) else layer.scale_factor)
        return repeated(int(scale)) if scale.is_integer() else None
    return None


def repeated(times: int) -> Reach:
    """Of an upsampling that repeats each input so often."""
    return Reach((0,) * times, (0,) * times)


class Followed(Tensor):
    """A tensor on the meta device that knows what its positions see, along the last axis."""

    field: Reach | None

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, Followed):
            read = [x for x in tree_iter((args, kwargs)) if isinstance(x, Followed)]
            seen = [getattr(x, "field", None) for x in read]
            if func is Tensor.__getitem__ and (begin := cropped(args[0], args[1])) is not None:
                result.field = seen[0] and seen[0].after(Reach((begin,), (begin,)))
            else:
                same = all(x.ndim == result.ndim and x.shape[-1] == result.shape[-1] for x in read)
                result.field = union(seen) if same else None
        return result


def cropped(x: Tensor, index: Any) -> int | None:
    """The first position along the last axis that an index keeps, where it keeps those that follow, too."""
    last = index[-1] if isinstance(index, tuple) else None
    whole = isinstance(index, tuple) and (index[0] is Ellipsis or len(index) == x.ndim)
    return last.indices(x.shape[-1])[0] if whole and isinstance(last, slice) and not last.step else None


def leaves(model: nn.Module) -> dict[str, nn.Module]:
    """The layers of a network that hold no others, by name."""
    return {name: layer for name, layer in model.named_modules() if next(layer.children(), None) is None}


@contextmanager
def following(model: nn.Module) -> Iterator[dict[str, list[Reach | None]]]:
    """What the units of each layer see along the last axis, by the layer's name, once the model has run: an
    entry for each time that the layer ran.

    Args:
        model: on the meta device, in evaluation mode.
    """
    layers = leaves(model)
    results: dict[str, list[Reach | None]] = {name: [] for name in layers}

    def started(model: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x: Any = inputs[0].as_subclass(Followed)
        x.field = Reach()
        return (x, *inputs[1:])

    handles = [model.register_forward_pre_hook(started)]
    for name, layer in layers.items():

        def followed(layer: nn.Module, inputs: tuple[Any, ...], output: Any, name: str = name) -> None:
            seen = getattr(inputs[0], "field", None)
            reads = reading(layer, inputs[0].ndim - 2) if seen and inputs[0].ndim > 2 else None
            output.field = seen.after(reads) if seen and reads else None
            results[name].append(output.field)

        handles.append(layer.register_forward_hook(followed))
    try:
        yield results
    finally:
        for handle in handles:
            handle.remove()
