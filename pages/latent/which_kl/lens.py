"""The Gaussians nearest to a mixture in both directions of the KL: one settles on a mode, one covers all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.latent.elbo import Grid, log_normal
from modules.latent.variational import nearest_gaussian

REACH, CELLS = 16.0, 1601  # of the grid
SEPARATIONS = [round(0.2 * i, 1) for i in range(26)]  # d: modes at −d and d
STARTS = [round(-5 + 0.5 * i, 1) for i in range(21)]
SIDES = {"left": -1.0, "middle": 0.0, "right": 1.0}
OPTIONS = ["less than 0.6", "0.6 to 0.9", "more than 0.9"]
Components = Sequence[tuple[float, float, float]]  # weight, mean, σ


@dataclass(frozen=True)
class Fit:
    """One Gaussian and its two divergences from the target, nats."""

    mean: float
    deviation: float
    reverse: float  # KL(q ‖ p)
    forward: float  # KL(p ‖ q)

    @property
    def name(self) -> str:
        return f"N({round(self.mean, 2) + 0.0:.2f}, {self.deviation:.2f}²)"  # no −0.00


@dataclass(frozen=True)
class Story:
    """Frames of a film: z (Z,), target (F, Z), and a Gaussian of each kind for every frame."""

    z: Tensor
    target: Tensor
    seeking: list[Fit]
    covering: list[Fit]

    def density(self, fits: Sequence[Fit]) -> Tensor:
        """(F, Z)"""
        return torch.stack([log_normal(self.z, f.mean, f.deviation**2).exp() for f in fits])

    def held(self, at: int) -> float:
        """The target's mass within two deviations of the seeking Gaussian."""
        fit, p = self.seeking[at], self.target[at]
        near = (self.z - fit.mean).abs() <= 2 * fit.deviation
        return float(p[near].sum() / p.sum())


def mixture(components: Components) -> Grid:
    """log p on the grid."""
    total = sum(weight for weight, _, _ in components)

    def log_p(z: Tensor) -> Tensor:
        parts = [math.log(w / total) + log_normal(z, m, s**2) for w, m, s in components]
        return torch.stack(parts).logsumexp(0)

    return Grid.of(log_p, -REACH, REACH, CELLS)


def fit(grid: Grid, mean: float, deviation: float, reverse: bool) -> Fit:
    """The nearest Gaussian from this start; where the way down leaves the grid, from the target's moments."""
    m, d, left = nearest_gaussian(grid, mean, deviation, reverse)
    if not (abs(m) < REACH / 2 and d < REACH / 4 and left > -1e-6):
        start, spread, _ = nearest_gaussian(grid, 0.0, 1.0, False)
        m, d, _ = nearest_gaussian(grid, start, spread, reverse)
    log_q = log_normal(grid.z, m, d**2)
    return Fit(m, d, float(grid.gap(log_q)), float(grid.forward_kl(log_q)))


def over_separations(weight: float, width: float, side: str) -> Story:
    """Two modes −d and d, the left one of weight `weight` and σ 1, the right one of σ `width`; q starts on
    a side or between them."""
    grids = [mixture([(weight, -d, 1.0), (1 - weight, d, width)]) for d in SEPARATIONS]
    starts = [
        (SIDES[side] * d, math.sqrt(1 + d**2) if side == "middle" else width if side == "right" else 1.0)
        for d in SEPARATIONS
    ]
    return story(grids, starts)


def over_starts(components: Components) -> Story:
    """One target; q starts at every one of STARTS with σ = 1."""
    return story([mixture(components)] * len(STARTS), [(start, 1.0) for start in STARTS])


def story(grids: Sequence[Grid], starts: Sequence[tuple[float, float]]) -> Story:
    """Both Gaussians of each grid, the seeking one from its start."""
    seeking = [
        fit(grid, mean, deviation, True) for grid, (mean, deviation) in zip(grids, starts, strict=True)
    ]
    covering = {id(grid): fit(grid, 0.0, 1.0, False) for grid in grids}
    shown = slice(CELLS // 4, 3 * CELLS // 4 + 1, 4)  # z from −8 to 8
    target = torch.stack([grid.posterior for grid in grids])[:, shown]
    return Story(grids[0].z[shown], target, seeking, [covering[id(grid)] for grid in grids])


def components_of(values: Sequence[float]) -> tuple[list[tuple[float, float, float]], str]:
    """Typed numbers as triples weight, mean, σ, and a sentence on what cannot be used."""
    triples = [(w, m, s) for w, m, s in zip(values[::3], values[1::3], values[2::3], strict=False)]
    good = [(w, m, s) for w, m, s in triples if w > 0 and s >= 0.2]
    text = ""
    if len(good) < len(triples):
        text = "A component needs a weight above 0 and a σ of 0.2 or more: the others are left out."
    elif len(values) % 3:
        text = "Each component takes three numbers, weight, mean and σ: what is over is left out."
    return good, text


def captions(result: Story) -> list[str]:
    """A sentence for every frame."""
    return [
        f"Seeks: {s.name}, KL(q‖p) {s.reverse:.3f}, KL(p‖q) {s.forward:.3f}. "
        f"Covers: {c.name}, KL(p‖q) {c.forward:.3f}, KL(q‖p) {c.reverse:.3f}."
        for s, c in zip(result.seeking, result.covering, strict=True)
    ]


def equations(result: Story) -> list[str]:
    """The two minima, LaTeX, for every frame."""
    return [
        rf"\min_q\mathrm{{KL}}(q\,\|\,p)={s.reverse:.3f}\qquad\min_q\mathrm{{KL}}(p\,\|\,q)={c.forward:.3f}"
        for s, c in zip(result.seeking, result.covering, strict=True)
    ]
