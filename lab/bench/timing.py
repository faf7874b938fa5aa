"""Fair timing of two sides, and the row that a bench reports."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

NAN = math.nan
clock = time.perf_counter  # `lab bench --busy` counts this process's own CPU time instead


@dataclass(frozen=True)
class Row:
    """One measured case.

    Attributes:
        bench, case: what was measured.
        ours, peer: median seconds of each side; NaN where there is no such side.
        ratio: median of the paired ratios, as the target states it.
        target: e.g. "≤ 1.05" or "≥ 3" of the ratio; with a unit of `ours`, "≤ 2 s"; of its percentile,
            "95 % ≤ 0.25 s"; several with commas between; "" without.
        note: one remark, such as how to install a missing peer.
        p95: 95th percentile of `ours`, where that is what counts.
        unit: of `ours`: "s", or what else was counted.
    """

    bench: str
    case: str
    ours: float
    peer: float = NAN
    ratio: float = NAN
    target: str = ""
    note: str = ""
    p95: float = NAN
    unit: str = "s"

    @property
    def met(self) -> bool | None:
        """Check whether all targets are met; None without a target or a number."""
        if not self.target:
            return None
        results = []
        for part in self.target.split(", "):
            sign, limit, *unit = part.removeprefix("95 % ").split()
            value = self.p95 if part.startswith("95 % ") else self.ours if unit else self.ratio
            if math.isnan(value):
                return None
            results.append(value <= float(limit) if sign == "≤" else value >= float(limit))
        return all(results)


@dataclass(frozen=True)
class Pairs:
    """Seconds of both sides, pair by pair."""

    first: list[float]
    second: list[float]

    @property
    def ratio(self) -> float:
        """Median of first / second."""
        return statistics.median(a / b for a, b in zip(self.first, self.second, strict=True))


def interleaved(
    first: Callable[[], Any], second: Callable[[], Any], repeats: int, warmup: int = 2, calls: int = 1
) -> Pairs:
    """Time both sides in turns, A B then B A, `calls` calls a turn; seconds are of one call."""
    if repeats < 1 or calls < 1:
        raise ValueError("repeats and calls must be at least 1.")
    for _ in range(warmup):
        first()
        second()
    times: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()  # a collection would hit one side at random
    try:
        for repeat in range(repeats):
            for side in (0, 1) if repeat % 2 == 0 else (1, 0):
                times[side].append(seconds((first, second)[side], calls))
    finally:
        if enabled:
            gc.enable()
    return Pairs(*times)


def seconds(call: Callable[[], Any], calls: int = 1) -> float:
    """Mean seconds of one call."""
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def use_cpu_time() -> None:
    """On a busy machine: count the CPU time of this process, on one thread, not the time on the wall.

    The dashboard's times stay on the wall: a user feels those.
    """
    import torch

    global clock
    clock = time.process_time
    torch.set_num_threads(1)


def paired_row(bench: str, case: str, pairs: Pairs, target: str = "", note: str = "") -> Row:
    """A row whose ratio is ours / peer, `pairs.first` being ours."""
    return Row(
        bench,
        case,
        statistics.median(pairs.first),
        statistics.median(pairs.second),
        pairs.ratio,
        target,
        note,
    )


def percentile(values: list[float], share: float) -> float:
    """The value below which that share (0 to 1) lies, linear between neighbours."""
    if not values:
        return NAN
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Standard deviation of a number over seeds, in words."""
    if len(values) < 2:
        return "one seed"
    return f"± {statistics.stdev(values):.{digits}f} over {len(values)} seeds"


def amount(value: float, unit: str = "s") -> str:
    """`1.23 s`, `4.5 ms`, `58.3 /s` or `–`."""
    if math.isnan(value):
        return "–"
    if unit == "s" and value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"
