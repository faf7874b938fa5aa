"""What He initialisation does to the size of h through K residual blocks: two definitions of variance.

Of width → ∞, x ~ N(0, I), weights of variance 2/D, no biases; q = E[h²] over data and weights, c the
product of the same unit for two examples, so that q − c is the variance over a batch, which is what
batch normalisation divides by:

    ReLU → linear     q ← 2q        c ← c + q κ(c/q)     κ(r) = (√(1−r²) + (π − arccos r) r)/π
    linear → ReLU     q ← 2q + 2m√(q/π)    m ← m + √(q/π)                  m = E[h]
    half              both divided by 2 after each block: q stays 1
    depth             the branch times 1/K: q = (1 + 1/K)^K → e
    batch norm first  q ← q + 1,  the batch variance grows by 1 − 1/π

[UDL] §11.3 and figure 11.6 say that "the variance doubles", and with batch normalisation "grows by one": that
is q with ReLU → linear. The batch variance grows by 1.682, 1.711, … and .682; the caption's "linear plus
ReLU" makes q grow by 2, 2.45, 2.69, … → 2.904.

References: [UDL] §11.3, figures 11.5 and 11.6; Cho & Saul 2009 (κ).
"""

import math
from typing import Literal, NamedTuple

from modules.base import require, require_one_of

Scheme = Literal["none", "half", "depth", "batch norm", "linear-first"]


class Moments(NamedTuple):
    """After each block.

    Attributes:
        second: q = E[h²].
        batch: variance over a batch; NaN of "linear-first", where it has no closed form here.
    """

    second: float
    batch: float


def kappa(r: float) -> float:
    """E[ReLU(u) ReLU(v)] · 2 of two standard normals of correlation r: 1/π at 0, 1 at 1."""
    r = min(max(r, -1.0), 1.0)
    return (math.sqrt(1 - r * r) + (math.pi - math.acos(r)) * r) / math.pi


def moments(blocks: int, scheme: Scheme = "none") -> list[Moments]:
    """q and the batch variance after 0, 1, …, K blocks."""
    require_one_of(Scheme, scheme=scheme)
    require(0, blocks=blocks)
    q, c, mean = 1.0, 0.0, 0.0
    results = [Moments(1.0, math.nan if scheme == "linear-first" else 1.0)]
    for _ in range(blocks):
        if scheme == "linear-first":
            q, mean = 2 * q + 2 * mean * math.sqrt(q / math.pi), mean + math.sqrt(q / math.pi)
            results.append(Moments(q, math.nan))
            continue
        if scheme == "batch norm":
            q, c = q + 1, c + 1 / math.pi
        else:
            share = 1 / blocks if scheme == "depth" else 1.0
            q, c = q + share * q, c + share * q * kappa(c / q)
            if scheme == "half":
                q, c = q / 2, c / 2
        results.append(Moments(q, q - c))
    return results
