"""Numbers as links spell them, and the ranges they may come from."""

import math
from collections.abc import Callable
from typing import Any


def parse(raw: str) -> float | None:
    """The number a text spells, or None."""
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def in_range(low: float, high: float, whole: bool) -> Callable[[Any], bool]:
    """True if a value is a number from `low` to `high`."""

    def fits(value: Any) -> bool:
        return value is not None and low <= value <= high and (not whole or value == int(value))

    return fits


def near(value: float, low: float, high: float, step: float) -> list[Any]:
    """The next values of a slider of these arguments: one step up, and one down."""
    whole = all(isinstance(v, int) for v in (value, low, high, step))
    moved = (value + step, value - step) if whole else (round(value + step, 10), round(value - step, 10))
    return [v for v in moved if low <= v <= high]
