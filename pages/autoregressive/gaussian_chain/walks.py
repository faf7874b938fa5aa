"""Walks: the fair coin's, counted exactly, and that of normal steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.autoregressive.gaussian_chain import walk_distribution
from pages.autoregressive.gaussian_chain.lens import chain, paths

STEPS = 40  # of the longest walk


@dataclass(frozen=True)
class Walk:
    """Draws of the ±1 walk from 0, and the exact distribution of where it is.

    Attributes:
        paths: (draws, steps + 1).
        places: (steps + 1,) that can be reached, -steps, -steps + 2, …, steps.
        distribution, frequencies: (steps + 1,) exact probability and share of the draws at each place.
    """

    paths: Tensor
    places: Tensor
    distribution: Tensor
    frequencies: Tensor

    @property
    def ways(self) -> list[int]:
        """Number of the 2^steps equally likely ways that end at each place."""
        return [round(p * 2 ** (len(self.distribution) - 1)) for p in self.distribution.tolist()]

    @property
    def variance(self) -> float:
        """Mean square of the last place over the draws."""
        return float((self.frequencies * self.places**2).sum())


def gauss_walk(steps: int, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Walks (count, steps + 1) of standard normal steps from 0, and the standard deviation (steps + 1,)."""
    model = chain(1.0, 1.0, steps, stationary=False)
    spread = model.moments()[1].diagonal().sqrt()
    return F.pad(paths(model, count, seed), (1, 0)), F.pad(spread, (1, 0))


def coin_walks(draws: int, seed: int) -> list[Walk]:
    """The same walks of fair steps of -1 or +1 after 1, 2, …, STEPS steps."""
    coins = torch.randint(2, (draws, STEPS), generator=torch.Generator().manual_seed(seed))
    walked = F.pad((2 * coins - 1).cumsum(1), (1, 0))
    results = []
    for steps in range(1, STEPS + 1):
        ups = (walked[:, steps] + steps) // 2
        shares = ups.bincount(minlength=steps + 1).double() / draws
        places = torch.arange(-steps, steps + 1, 2)
        results.append(Walk(walked[:, : steps + 1], places, walk_distribution(steps)[::2], shares))
    return results


def coin_walk(steps: int, draws: int, seed: int) -> Walk:
    """Draw walks of `steps` fair steps of -1 or +1."""
    return coin_walks(draws, seed)[steps - 1]


def on_line(walks: Sequence[Walk], what: str) -> Tensor:
    """ "distribution" or "frequencies" of all walks on the places -STEPS, …, STEPS: (len, 2 STEPS + 1)."""
    line = torch.zeros(len(walks), 2 * STEPS + 1, dtype=torch.float64)
    for row, walk in zip(line, walks, strict=True):
        row[walk.places + STEPS] = getattr(walk, what)
    return line


def walk_equation(walk: Walk) -> str:
    """Ways of ending at each place, and both variances, LaTeX."""
    steps, ways = len(walk.places) - 1, walk.ways
    shown, of = ", ".join(map(str, ways)), str(2**steps)
    if steps > 6:
        shown, of = f"{ways[0]}, {ways[1]}, \\dots, {ways[-1]}", f"2^{{{steps}}}"
    return (
        rf"p = ({shown}) / {of}, \qquad \mathrm{{Var}} = {steps}\;\text{{exactly}},\; "
        rf"{walk.variance:.3f}\;\text{{in the draws}}"
    )
