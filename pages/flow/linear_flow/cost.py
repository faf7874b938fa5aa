"""Cost of the inverse of a linear flow: a dense inverse, or two triangular solves.

dense Ω⁻¹ x: O(D³),    L y = Pᵀx, then (U + D) h = y: O(D²)
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from modules.flow.linear import substitute

SIZES = (64, 128, 256, 512, 1024, 2048)


def timings(
    sizes: tuple[int, ...] = SIZES, seconds: float = 0.15
) -> Iterator[tuple[float, dict[str, list[float]]]]:
    """Milliseconds of a dense inverse and of two triangular solves of one vector: the shortest of all calls
    that fit into so many seconds, of two at least."""
    rows: dict[str, list[float]] = {"D": [], "dense inverse": [], "two triangles": []}
    cost = [float(n) ** 3 for n in sizes]
    for done, n in enumerate(sizes, start=1):
        generator = torch.Generator().manual_seed(n)
        entries = torch.randn(n, n, generator=generator) / n
        lower = torch.eye(n) + entries.tril(-1)
        upper = torch.eye(n) + entries.triu(1)
        dense, x = lower @ upper, torch.randn(1, n, generator=generator)
        ways = {
            "dense inverse": partial(torch.linalg.inv, dense),
            "two triangles": partial(two_solves, lower, upper, x),
        }
        rows["D"].append(n)
        for name, way in ways.items():
            rows[name].append(shortest(way, seconds))
        yield sum(cost[:done]) / sum(cost), {name: list(values) for name, values in rows.items()}


def two_solves(lower: Tensor, upper: Tensor, x: Tensor) -> Tensor:
    return substitute(upper, substitute(lower, x, upper=False), upper=True)


def shortest(way: Callable[[], Tensor], seconds: float) -> float:
    """Milliseconds of the shortest call."""
    results: list[float] = []
    end = time.perf_counter() + seconds
    while len(results) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        way()
        results.append(1000 * (time.perf_counter() - start))
    return min(results)


def exponent(sizes: list[float], values: list[float], last: int = 3) -> float:
    """The slope of log value over log size, from the largest sizes."""
    x, y = (torch.tensor(v[-last:], dtype=torch.float64).log() for v in (sizes, values))
    x = x - x.mean()
    return float((x * y).sum() / (x * x).sum())
