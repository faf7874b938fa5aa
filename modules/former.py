"""Calls of the former signatures of `sample` and `sample_trace`, accepted for one release with a warning.

model.sample(16, 0.8, seed=3, label=7)                                               # former
model.sample(16, temperature=0.8, generator=torch.Generator().manual_seed(3), y=7)   # now
"""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import torch

Method = TypeVar("Method", bound=Callable[..., Any])


def former(*names: str) -> Callable[[Method], Method]:
    """Let a method be called as before, by position, with `seed=` and with `label=`.

    Args:
        names: of the former positional parameters after `self`, in their order.

    A call that fits the present signature is passed on as it is. `seed` becomes a generator of that seed,
    `label` becomes `y`; both as None are left out.
    """

    def decorate(method: Method) -> Method:
        parameters = list(inspect.signature(method).parameters.values())[1:]
        by_position = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        present = {p.name for p in parameters}

        @functools.wraps(method)
        def call(self: Any, *args: Any, **keywords: Any) -> Any:
            outdated = {"seed", "label"} & keywords.keys() - present
            if len(args) <= by_position and not outdated:
                return method(self, *args, **keywords)
            if len(args) > len(names) or keywords.keys() & set(names[: len(args)]):
                return method(self, *args, **keywords)  # Python's own sentence
            warnings.warn(
                f"{type(self).__name__}.{method.__name__}: give all but n by name, a class as y, and a "
                "generator in place of a seed; the former call works for one more release.",
                DeprecationWarning,
                stacklevel=2,
            )
            keywords |= dict(zip(names, args, strict=False))
            if "label" not in present and (label := keywords.pop("label", None)) is not None:
                keywords["y"] = label
            if "seed" not in present and (seed := keywords.pop("seed", None)) is not None:
                keywords["generator"] = torch.Generator().manual_seed(seed)
            return method(self, **keywords)

        return call  # type: ignore[return-value]

    return decorate
