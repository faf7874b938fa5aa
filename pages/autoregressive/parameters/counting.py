"""Multiplications, seen as they happen."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

aten = torch.ops.aten


class Multiplications(TorchDispatchMode):
    """Counts multiplications of real numbers, in matrix products, convolutions and entry by entry.

    `zeros`: of `count`, those by a weight that is 0, as masked ones are.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = self.zeros = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        packet = func._overloadpacket
        if packet in flop_registry:  # which counts a multiplication and an addition each
            products = flop_registry[packet](*args, **kwargs, out_val=out) // 2
            self.count += products
            if packet in (aten.mm, aten.addmm):
                left, right = args[-2:]
                self.zeros += len(left) * int((right == 0).sum())
            elif packet is aten.bmm:  # of einsum: weights on either side
                left, right = args
                self.zeros += left.shape[1] * int((right == 0).sum()) + right.shape[2] * int(
                    (left == 0).sum()
                )
            elif packet is aten.convolution:
                self.zeros += products * int((args[1] == 0).sum()) // args[1].numel()
        elif packet in (aten.mv, aten.dot):
            self.count += args[0].numel()
        elif packet is aten.addmv:
            self.count += args[1].numel()
        elif packet is aten.addmm_:  # in place, and not in the registry
            self.count += args[1].numel() * args[2].shape[-1]
        elif packet in (aten.mul, aten.mul_, aten.addcmul_):
            self.count += out.numel() if out.is_floating_point() else 0
        return out


@torch.no_grad()
def draw_weights(model: nn.Module, seed: int = 0) -> None:
    """Standard normal weights, none of them 0."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.normal_(generator=generator)


@torch.no_grad()
def both_counts(run: Callable[[int], Any], low: int = 1, high: int = 3) -> tuple[int, int]:
    """Counts of `run(B)` for one example more: all, and those with weights that no mask has set to 0. What
    is done once for a batch, such as masking, is left out."""
    counts = []
    for batch in (low, high):
        with Multiplications() as seen:
            run(batch)
        counts.append((seen.count, seen.count - seen.zeros))
    (all_low, live_low), (all_high, live_high) = counts
    return (all_high - all_low) // (high - low), (live_high - live_low) // (high - low)


def multiplications(run: Callable[[int], Any], low: int = 1, high: int = 3, live: bool = False) -> int:
    """The first of `both_counts`, or the second, without masked weights."""
    return both_counts(run, low, high)[live]
