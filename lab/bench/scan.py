"""Scans of h_t = a_t h_{t−1} + b_t: loop, doubling and chunks, by length T and numbers in a step, W.

The methods are timed in turns, forward and backward as training has them; every pair of T and W is one row:
the loop's median seconds, those of the fastest other method, and the median of the paired ratios. The note
has all three and what `modules.transformer.scan.fastest` chooses, which is what training runs, with its time
over the least.
"""

import itertools
import statistics
from collections.abc import Callable

import torch
from torch import Tensor

from lab.bench import timing
from lab.bench.timing import Row, amount
from modules.transformer.scan import Method, fastest, scan

LENGTHS, WIDTHS = (24, 64, 256, 1_024), (16, 128, 512, 2_048, 8_192, 32_768)
MOST = 2**21  # numbers of a and of b
OTHERS: tuple[Method, ...] = ("doubling", "chunked")


def passes(a: Tensor, b: Tensor, method: Method) -> Callable[[], None]:
    """A scan and its gradient."""

    def call() -> None:
        a.grad = b.grad = None
        scan(a, b, method=method).sum().backward()  # type: ignore[no-untyped-call]

    return call


def times(length: int, width: int, repeats: int) -> dict[Method, list[float]]:
    """Seconds of each method, in turns whose order moves on by one."""
    generator = torch.Generator().manual_seed(0)
    a = torch.rand(1, length, width, generator=generator).requires_grad_()
    b = torch.randn(1, length, width, generator=generator).requires_grad_()
    methods: list[Method] = ["loop", *OTHERS]
    calls = {method: passes(a, b, method) for method in methods}
    for call in calls.values():
        call()
    found: dict[Method, list[float]] = {method: [] for method in methods}
    for repeat in range(repeats):
        at = repeat % len(methods)
        for method in methods[at:] + methods[:at]:
            found[method].append(timing.seconds(calls[method]))
    return found


def row(length: int, width: int, repeats: int) -> Row:
    """All methods at one length and width."""
    found = times(length, width, repeats)
    typical = {method: statistics.median(values) for method, values in found.items()}
    other = min(OTHERS, key=lambda method: typical[method])
    ratio = statistics.median(l / o for l, o in zip(found["loop"], found[other], strict=True))
    chosen = fastest(length, width)
    excess = typical[chosen] / min(typical.values())
    note = ", ".join(f"{method} {amount(value)}" for method, value in typical.items())
    note += f"; training takes {chosen}, {excess:.2f}× the least"
    case = f"T = {length:,}, W = {width:,}: loop / {other}"
    return Row("scan", case, typical["loop"], typical[other], ratio, note=note)


def measure(quick: bool = False) -> list[Row]:
    """Seconds, forward and backward, by length and width; a ratio above 1: the loop is the slower."""
    sizes = [(T, W) for T, W in itertools.product(LENGTHS, WIDTHS) if T * W <= MOST]
    return [row(T, W, 2 if quick else 25) for T, W in (sizes[:2] if quick else sizes)]
