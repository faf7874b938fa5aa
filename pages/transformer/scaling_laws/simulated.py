"""Runs that are simulated from a known law with noise, the law that is fitted to them, and its bootstrap."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from modules.transformer.scaling_laws import PRESETS, Chinchilla, bootstrap, fit_chinchilla
from pages.transformer.scaling_laws.room import NO_FLOOR, PRINTED

Array = NDArray[np.float64]
SEEDS, RESAMPLES = 20, 40
STARTS = [(0.5, 6.0, 6.0, 0.35, 0.3), (0.0, 3.0, 3.0, 0.1, 0.1)]  # of log E, log A, log B, α, β
TRUTH = PRESETS[PRINTED]
# seven sizes by seven sets of data, as the specification has them
GRID_N, GRID_D = np.logspace(7, 10, 7), np.logspace(8.5, 11.5, 7)


@dataclass(frozen=True)
class Fitted:
    """A fit of simulated runs.

    Attributes:
        law: the fit, E = 0 where the form has none.
        losses: (7 sizes, 7 sets of data), with noise. kept: how many sizes were fitted.
        said: (7, 7), by the fit. low, high: 90 % of the bootstrap, (7, 7).
        number: what is followed over the seeds: E, or where the form has none, the loss of the largest run.
        interval: 90 % of the bootstrap, of this number. over_seeds: (SEEDS,). truth: without noise.
    """

    law: Chinchilla
    losses: Array
    kept: int
    said: Array
    low: Array
    high: Array
    number: float
    interval: tuple[float, float]
    over_seeds: Array
    truth: float


def runs(noise: float, seed: int) -> Array:
    """Losses of the printed law on the grid, with normal noise of their logarithm: (7, 7)."""
    D, N = np.meshgrid(GRID_D, GRID_N)
    # drawn in the order of the specification's oracle, data by data
    normal = np.random.default_rng(seed).standard_normal(49).reshape(7, 7).T
    return np.asarray(TRUTH.loss(N, D) * np.exp(noise / 100 * normal))


@lru_cache(maxsize=64)
def fit(form: str, noise: float, without: int, seed: int) -> Fitted:
    """Fit the smaller sizes, and predict those left out with the bootstrap's interval."""
    kept, floor = 7 - without, (1e-9 if form == NO_FLOOR else None)
    losses = runs(noise, seed)
    D, N = np.meshgrid(GRID_D, GRID_N)
    law = fit_of(losses, kept, floor)
    laws = bootstrap(N[:kept].ravel(), D[:kept].ravel(), losses[:kept].ravel(), RESAMPLES, floor, seed)
    said = np.stack([one.loss(N, D) for one in laws])  # (RESAMPLES, 7, 7)
    low, high = np.quantile(said, [0.05, 0.95], axis=0)

    def number(one: Chinchilla) -> float:
        return one.E if floor is None else float(one.loss(GRID_N[-1], GRID_D[-1]))

    over_seeds = [number(fit_of(runs(noise, other), kept, floor)) for other in range(SEEDS)]
    ends = np.quantile([number(one) for one in laws], [0.05, 0.95])
    return Fitted(law, losses, kept, np.asarray(law.loss(N, D)), low, high, number(law),
                  (float(ends[0]), float(ends[1])), np.array(over_seeds), number(TRUTH))  # fmt: skip


def fit_of(losses: Array, kept: int, floor: float | None) -> Chinchilla:
    """The law of the smaller sizes' losses."""
    D, N = np.meshgrid(GRID_D, GRID_N)
    law = fit_chinchilla(N[:kept].ravel(), D[:kept].ravel(), losses[:kept].ravel(), floor, STARTS)
    return replace(law, E=0.0) if floor is not None else law
