"""Bounds on memory: of what tensors take, judged before it is taken; and of what a process takes at all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

OBJECT = 1 << 13  # bytes that a tensor and the module around it take besides its numbers


class TooLarge(ValueError):
    """More memory than allowed was asked for; none was taken."""


def available() -> int:
    """Bytes that can be taken without swapping."""
    return psutil.virtual_memory().available


@contextmanager
def limited(most: int) -> Iterator[None]:
    """Inside, the process can take `most` bytes more than it has: what asks for more fails, and is not killed
    by the system, which would say nothing. Only Linux knows such a limit; elsewhere there is none."""
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = [psutil.Process().memory_info().data + most, *(b for b in (before, hard) if b >= 0)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


class Bounded(TorchDispatchMode):
    """Inside, all new tensors together take at most `most` bytes.

    Each operation is first done on the meta device, where tensors have shapes and no numbers; what it
    would take is counted, and only then is it done. What is freed again is not given back.

        with Bounded(2**26):
            model = MADE(event_shape=[784], hidden=[10**9])  # TooLarge, and no byte was taken

    Raises:
        TooLarge: at the first tensor beyond the bound.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most, self.taken = most, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        self.taken += OBJECT + new_bytes(func, args, kwargs)
        if self.taken > self.most:
            raise TooLarge(f"it takes more than the {self.most / 2**20:,.0f} MiB that it may.")
        return func(*args, **kwargs)


def new_bytes(func: Any, args: Any, kwargs: dict[str, Any]) -> int:
    """Bytes of the new tensors that `func` would return; those that share memory with `args` are not new."""
    if func.is_view or func._schema.is_mutable:
        return 0  # the memory is that of what it was given

    args, kwargs = shadow(args), shadow(kwargs)
    kwargs = {name: value for name, value in kwargs.items() if not isinstance(value, torch.Generator)}
    if "device" in kwargs:
        kwargs["device"] = torch.device("meta")
    old = {s._cdata for s in storages((args, kwargs))}
    try:
        result = func(*args, **kwargs)
    except (RuntimeError, NotImplementedError, TypeError):
        return 0  # of a size that depends on the numbers, as of `nonzero`: no larger than the tensors given
    new = {s._cdata: s for s in storages(result)}
    return sum(storage.nbytes() for key, storage in new.items() if key not in old)


# What an operation takes and gives are tensors, numbers, and tuples, lists and dicts of them. Torch's own
# `tree_map`, which knows more, takes longer than most operations.


def shadow(value: Any) -> Any:
    """The same with tensors of the meta device."""
    if isinstance(value, Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, dict):
        return {name: shadow(v) for name, v in value.items()}
    return type(value)(map(shadow, value)) if type(value) in (tuple, list) else value


def storages(value: Any) -> Iterator[torch.UntypedStorage]:
    """The memory of all tensors."""
    if isinstance(value, Tensor):
        yield value.untyped_storage()
    elif isinstance(value, tuple | list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from storages(part)
