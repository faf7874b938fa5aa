"""Receptive fields in networks that are no chain: skips, dense blocks, ways down and up.

    with following(model) as fields:
        model(torch.empty(1, *shape, device="meta"))

What runs through it carries its field: a layer widens it, and where
branches join (sum, concatenation) the field is their union,

    [min o, max (o + r − 1)]        of branches with one jump j

Behind layers that are no window (upsampling, dense), and where branches move at different steps, there is
none.

References: [UDL] §10.2.6, §11.5; Araujo et al. 2019, doi:10.23915/distill.00021 (fields of graphs).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_iter

from lab.lenses.receptive_field import Field, windows


class Followed(Tensor):
    """A tensor on the meta device that knows what one of its positions sees, along the last axis."""

    field: Field | None

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, Followed):
            read = [x for x in tree_iter((args, kwargs)) if isinstance(x, Followed)]
            same = all(x.ndim == result.ndim and x.shape[-1] == result.shape[-1] for x in read)
            result.field = union([getattr(x, "field", None) for x in read]) if same else None
        return result


def union(fields: Sequence[Field | None]) -> Field | None:
    """The smallest field that holds all of these; None where their jumps differ, or one is unknown."""
    known = [field for field in fields if field is not None]
    if len(known) < max(1, len(fields)) or len({field.jump for field in known}) > 1:
        return None
    start = min(field.start for field in known)
    return Field(max(field.start + field.size for field in known) - start, known[0].jump, start)


def leaves(model: nn.Module) -> dict[str, nn.Module]:
    """The layers of a network that hold no others, by name."""
    return {name: layer for name, layer in model.named_modules() if next(layer.children(), None) is None}


@contextmanager
def following(model: nn.Module) -> Iterator[dict[str, Field | None]]:
    """What one unit of each layer sees along the last axis, by the layer's name, once the model has run.

    Args:
        model: on the meta device, in evaluation mode.
    """
    results: dict[str, Field | None] = {}

    def started(model: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x: Any = inputs[0].as_subclass(Followed)
        x.field = Field()
        return (x, *inputs[1:])

    handles = [model.register_forward_pre_hook(started)]
    for name, layer in leaves(model).items():

        def followed(layer: nn.Module, inputs: tuple[Any, ...], output: Any, name: str = name) -> None:
            field = getattr(inputs[0], "field", None)
            stack = windows(layer, inputs[0].ndim - 2) if inputs[0].ndim > 2 else None
            output.field = results[name] = field.after(stack[-1]) if field and stack else None

        handles.append(layer.register_forward_hook(followed))
    try:
        yield results
    finally:
        for handle in handles:
            handle.remove()
