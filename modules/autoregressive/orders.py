"""Orders of n variables: in which one the chain rule visits them.

An order is a permutation (n,) of 0..n-1; rank(j), 1..n, is the position of variable j in it.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

Order = Literal["raster", "reversed", "random"] | Sequence[int]


def resolve_order(order: Order | str | Tensor, n: int, seed: int = 0) -> Tensor:
    """Variables in the order they are visited, (n,) int64.

    Raises:
        ValueError: `order` is no permutation of 0..n-1 and no known name.
    """
    if isinstance(order, str):
        if order == "raster":
            return torch.arange(n)
        if order == "reversed":
            return torch.arange(n).flip(0)
        if order == "random":
            return torch.randperm(n, generator=torch.Generator().manual_seed(seed))
        raise ValueError(f"order {order!r} is unknown: use raster, reversed, random or a permutation.")
    visited = torch.as_tensor(order, dtype=torch.int64, device="cpu")
    if visited.shape != (n,) or not torch.equal(visited.sort().values, torch.arange(n)):
        raise ValueError(f"order must be a permutation of 0..{n - 1}, each variable once.")
    return visited


def ranks(order: Tensor) -> Tensor:
    """Position of each variable in `order`, rank(j) in 1..n: the inverse permutation plus one."""
    rank = torch.empty_like(order)
    rank[order] = torch.arange(1, len(order) + 1, device=order.device)
    return rank


def observed_first(observed: Tensor, order: Tensor) -> Tensor:
    """Move the observed variables to the front of `order`; both parts keep their order.

    Args:
        observed: (n,) bool.
    """
    result = observed.reshape(-1).cpu()[order]
    return torch.cat([order[result], order[~result]])


def named(order: Tensor) -> str:
    """Name of an order, or its first variables."""
    raster = torch.arange(len(order), device=order.device)
    for name, other in (("raster", raster), ("reversed", raster.flip(0))):
        if torch.equal(order, other):
            return name
    return f"[{', '.join(map(str, order[:6].tolist()))}{', …' * (len(order) > 6)}]"
