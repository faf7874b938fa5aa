"""Runs that were really made: the excess loss of each size, and the line that predicts the largest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.bench import scaling
from modules.transformer.scaling_laws import Line, fit_line
from pages.transformer.scaling_laws.room import OURS, VIEWS

Array = NDArray[np.float64]
FEWEST = 6  # sizes that there must be before they are shown


@dataclass(frozen=True)
class Ours:
    """What `lab bench scaling` has found so far.

    Attributes:
        N, excess: sizes and L − E, (S,), the mean of the seeds.
        first, kept: rows first … kept − 1 are fitted; those before are too narrow for a straight line, those
            behind are predicted.
        line: the fit. curves: budget C -> sizes and L − E, of budgets with three sizes or more.
        seeds: how many. floor: E of the language.
    """

    N: Array
    excess: Array
    first: int
    kept: int
    line: Line
    curves: dict[float, tuple[Array, Array]]
    seeds: int
    floor: float


def views() -> tuple[str, ...]:
    """Views with something to show: our runs once there are enough of them."""
    sizes = scaling.means(scaling.of_group(scaling.kept(), "size"))
    return VIEWS if len(sizes) >= FEWEST else tuple(view for view in VIEWS if view != OURS)


def ours(without: int) -> Ours:
    """The runs that there are, and a line through all sizes but the largest."""
    results = scaling.kept()
    runs = scaling.of_group(results, "size")
    sizes = scaling.means(runs)
    N, y = np.array([n for n, _ in sizes], float), np.array(list(sizes.values()))
    first, kept = int((12 * min(scaling.WIDTHS) ** 2 > N).sum()), len(N) - without
    curves = {}
    for C in scaling.BUDGETS:
        if len(curve := scaling.isoflop(results, C)) >= 3:
            curves[C] = np.array(list(curve), float), np.array(list(curve.values()))
    floor = float(runs[0]["loss"] - runs[0]["excess"])
    line = fit_line(N[first:kept], y[first:kept])
    return Ours(N, y, first, kept, line, curves, len({run["seed"] for run in runs}), floor)
