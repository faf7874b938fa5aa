"""Targets of a sequence of numbers, and the least error of what a network cannot know.

    x_1 … x_T ~ N(0, 1)      mean  y_i = Σ_j x_j / T        first    y_i = x_1
                             sort  y_i = the i-th smallest  reverse  y_i = x_{T+1−i}

Least mean squared error over all positions, by what ŷ_i may depend on, T ≥ 2:

                        mean         first      sort       reverse, T even   reverse, T odd
    x_i                 (T − 1)/T²   1 − 1/T²   1 − 1/T²   1                 1 − 1/T²
    x_i and i           (T − 1)/T²   1 − 1/T    a number   1                 1 − 1/T
    x_i and the set     0            1 − 1/T    1 − 1/T    1 − 1/(T − 1)     1 − 1/T
    x and i             0            0          0          0                 0
    x and distances     0            1/2        a number   0                 0

A token-wise map has x_i alone: of the mean it can say x_i/T. A map without positions is equivariant to
permutations, it has x_i and the set of all: of first and sort it can say the mean of the set. A map that
knows only how far apart tokens are is equivariant to reversal, f(x reversed) = f(x) reversed: the best of
these is ½ (y(x) + y(x reversed) reversed), of first (x_1 + x_T)/2.

Shapes: `B` sequences, `T` positions; x and y (B, T, 1).

References: Yun et al. 2019, arXiv:1912.10077 (universal with positions); [LLM] part 4.
"""

import math
from functools import lru_cache
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules.base import Drawn, within

Target = Literal["mean", "first", "sort", "reverse"]


class SequenceTargets(Drawn):
    """Numbers and a target of the same length.

    Args:
        target: see above. length: T.
        batch_size, seed, num_train, num_val, num_test: see `datamodules.algorithmic.Copying`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, target: Target = "mean", length: int = 4, batch_size: int = 128, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 2_000,
    ) -> None:  # fmt: skip
        if target not in get_args(Target):
            raise ValueError(f"target is {target!r}: it must be mean, first, sort or reverse.")
        within(2, 1_000, length=length)
        super().__init__(batch_size, seed, 2 * length, num_train, num_val, num_test)
        self.target, self.length = target, length

    def of(self, x: Tensor) -> Tensor:
        """Target of x (B, T, 1)."""
        if self.target == "mean":
            return x.mean(1, keepdim=True).expand_as(x)
        if self.target == "first":
            return x[:, :1].expand_as(x)
        return x.sort(1).values if self.target == "sort" else x.flip(1)

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        x = torch.randn(count, self.length, 1, generator=torch.Generator().manual_seed(seed))
        return x, self.of(x)

    def floor(self, attention: bool, positions: bool, mirrored: bool = False) -> float:
        """Least mean squared error of a network with or without a look at other tokens and at its place.

        Args:
            mirrored: positions are distances alone, as of ALiBi without a mask.
        """
        T = self.length
        if attention:
            if mirrored and self.target in ("first", "sort"):
                return 0.5 if self.target == "first" else mirrored_sort(T)
            if positions or self.target == "mean":
                return 0.0
            return 1 - 1 / (T - 1) if self.target == "reverse" and T % 2 == 0 else 1 - 1 / T
        if self.target == "mean":
            return (T - 1) / T**2
        if self.target == "reverse" and T % 2 == 0:
            return 1.0
        if not positions:
            return 1 - 1 / T**2
        return placed_sort(T) if self.target == "sort" else 1 - 1 / T

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (self.length, 1), "num_features": 1}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "SequenceTargets",
            "target": self.target,
            "length": self.length,
            "splits": self.counts,
            "seed": self.seed,
        }


@lru_cache(maxsize=64)
def mirrored_sort(T: int) -> float:
    """Least error for sort of a map that knows distances: E mean_i (y_i − y_{T+1−i})²/4, of a fixed sample
    whose standard error is below 0.002."""
    y = SequenceTargets("sort", T).draw(200_000 // T, 0)[1]
    return float(((y - y.flip(1)) ** 2).mean() / 4)


def placed_sort(T: int) -> float:
    """Least error for sort of a map that knows x_i and i: 1 − (1/T) Σ_i E m_i(x)², m_i(x) = E[y_i | x_i = x].

    The i-th smallest of x and T − 1 others is above t if fewer than i of them all are at most t; m_i is the
    integral of that probability over t > 0, less that of its complement over t < 0.
    """
    x = torch.linspace(-7, 7, 701, dtype=torch.float64)  # also the values of t
    step, phi = float(x[1] - x[0]), torch.special.ndtr(x)
    density = torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    counts = torch.stack(
        [float(math.comb(T - 1, j)) * phi**j * (1 - phi) ** (T - 1 - j) for j in range(T)]
    )  # (T, t): others at most t
    own = (x[:, None] <= x).double()  # (x, t)
    total = 0.0
    for i in range(1, T + 1):
        fewer = counts[: i - 1].sum(0), counts[:i].sum(0)  # of the others, where x counts and where not
        above = own * fewer[0] + (1 - own) * fewer[1]  # (x, t)
        m = ((above - (x < 0).double()) * step).sum(1)  # (x,)
        total += float((m**2 * density * step).sum())
    return 1 - total / T
