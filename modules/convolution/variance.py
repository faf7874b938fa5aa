"""What He initialisation does to the size of h through K residual blocks: two definitions of variance.

Of width → ∞, x ~ N(0, I), weights of variance 2/D, no biases; q = E[h²] over data and weights, m = E[h], c
the product of the same unit for two examples, so that q − c is the variance over a batch, which is what batch
normalisation divides by. A block h ← s (h + λ f) adds the mean, square and product of f:

    q ← s² (q + 2λ m f̄ + λ² f²)     c ← s² (c + 2λ m f̄ + λ² ff′)     m ← s (m + λ f̄)

    ReLU → linear             f̄ = 0          f² = q      ff′ = q κ(c/q)
    linear → ReLU             f̄ = √(q/π)     f² = q      ff′ = q κ(c/q)
    norm → ReLU → linear      f̄ = 0          f² = 1      ff′ = 1/π
    linear → norm → ReLU      f̄ = 1/√(2π)    f² = 1/2    ff′ = 1/(2π)

    κ(r) = (√(1−r²) + (π − arccos r) r)/π

    none, batch norm  s = λ = 1         half    s = √(1/2): q stays 1
    depth             λ = √(1/K): q = (1 + 1/K)^K → e
    skip-init         λ = α: q = (1 + α²)^K          fixup   f = 0

The equations of q are of ReLU → linear. [UDL] §11.3 and figure 11.6 say that "the variance doubles", and with
batch normalisation "grows by one": that is q with ReLU → linear. The batch variance grows by 1.682, 1.711, …
and by 1 − 1/π = .682; the caption's "linear plus ReLU" makes q grow by 2, 2.45, 2.69, … → 2.904.

References: [UDL] §11.3, figures 11.5 and 11.6; Cho & Saul 2009 (κ).
"""

import math
from typing import Literal, NamedTuple

from modules.base import require, require_one_of

Scheme = Literal["none", "half", "depth", "batch norm", "skip-init", "fixup"]
Order = Literal["v2", "linear-first"]


class Moments(NamedTuple):
    """After each block.

    Attributes:
        second: q = E[h²].
        batch: variance over a batch, q − c.
        mean: m = E[h].
    """

    second: float
    batch: float
    mean: float


def kappa(r: float) -> float:
    """E[ReLU(u) ReLU(v)] · 2 of two standard normals of correlation r: 1/π at 0, 1 at 1."""
    r = min(max(r, -1.0), 1.0)
    return (math.sqrt(1 - r * r) + (math.pi - math.acos(r)) * r) / math.pi


def moments(blocks: int, scheme: Scheme = "none", order: Order = "v2", alpha: float = 0.0) -> list[Moments]:
    """q, the batch variance and m after 0, 1, …, K blocks.

    Args:
        order: of "v2" the ReLU stands before the linear layer, see `residual`.
        alpha: of the scheme "skip-init", whose start is 0.
    """
    require_one_of(Scheme, scheme=scheme)
    require_one_of(Order, order=order)
    require(0, blocks=blocks)
    if alpha and scheme != "skip-init":
        raise ValueError(f"alpha is {alpha!r}: only the scheme skip-init has it, so give 0.")
    scale = {"depth": 1 / math.sqrt(max(blocks, 1)), "skip-init": alpha, "fixup": 0.0}.get(scheme, 1.0)
    whole = 0.5 if scheme == "half" else 1.0  # s²
    q, c, m = 1.0, 0.0, 0.0
    results = [Moments(1.0, 1.0, 0.0)]
    for _ in range(blocks):
        before = 1.0 if scheme == "batch norm" else q  # what goes into the branch: of a norm 1, uncorrelated
        square, product = before, before * kappa(0.0 if scheme == "batch norm" else c / q)
        mean = 0.0
        if order == "linear-first":
            if scheme == "batch norm":  # it takes the 2 of He's variance away
                before, square, product = before / 2, square / 2, product / 2
            mean = math.sqrt(before / math.pi)
        crossed = 2 * scale * m * mean
        q, c = whole * (q + crossed + scale**2 * square), whole * (c + crossed + scale**2 * product)
        m = math.sqrt(whole) * (m + scale * mean)
        results.append(Moments(q, q - c, m))
    return results
