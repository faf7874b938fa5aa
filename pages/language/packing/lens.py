"""The latent lens for directions: how near orthogonal random ones are, and those of a construction."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.language import packing


@dataclass(frozen=True)
class Cosines:
    """All pairs of M random directions in R^n.

    Attributes:
        edges: (K + 1,), counts: (K,), a histogram of the cosines.
        expected: (K,), counts by the exact distribution.
        violations: pairs beyond the bound. probability: of one pair by the exact distribution.
        pairs: M(M − 1)/2.
    """

    edges: Tensor
    counts: Tensor
    expected: Tensor
    violations: int
    probability: float
    pairs: int


def cosines(n: int, vectors: int, epsilon: float, seed: int = 0, bins: int = 61) -> Cosines:
    """Draw M directions in R^n and count the pairs with |cos| > ε."""
    result = packing.random_cosines(n, vectors, seed).double()
    reach = max(1.3 * epsilon, 4.5 / math.sqrt(n))
    edges = torch.linspace(-reach, reach, bins + 1, dtype=torch.float64)
    counts = torch.histogram(result, edges).hist
    tails = torch.tensor([packing.violation(n, min(1.0, abs(float(e)))) / 2 for e in edges])
    below = torch.where(edges < 0, tails, 1 - tails).double()  # P(cos ≤ edge)
    return Cosines(
        edges, counts, below.diff() * len(result), int((result.abs() > epsilon).sum()),
        packing.violation(n, epsilon), len(result),
    )  # fmt: skip


def room(probability: float) -> int:
    """The most random directions with less than one expected violation: M(M − 1)/2 · p < 1."""
    if probability <= 0:
        return 10**9
    return math.ceil((1 + math.sqrt(1 + 8 / probability)) / 2) - 1


@dataclass(frozen=True)
class Construction:
    """The inner products of the explicit family in R^1024.

    Attributes:
        values: absolute inner products, ascending. counts: (β ≠ 0, α) pairs with each.
        vectors: how many there are. angle: the smallest, in degrees.
    """

    values: list[float]
    counts: list[int]
    vectors: int
    angle: float


def construction() -> Construction:
    """Check every pair of 2^20 directions by 1,023 Walsh-Hadamard transforms."""
    values, counts = packing.spectra(10).abs().unique(return_counts=True)
    cosines = (values / 1024).tolist()
    return Construction(cosines, counts.tolist(), 2**20, math.degrees(math.acos(cosines[-1])))
