"""Noise for samplers: normal numbers, uniform numbers that never reach 1, and the value that one picks.

    u ~ U[0, 1),    x = the first k with F(k) > u,    F(k) = p_0 + … + p_k

A uniform number of double precision rounds to 1.0 in single precision once in 2^25 draws. No distribution
function exceeds it, so the last value would be drawn whatever its probability, 0 included.
"""

import torch
from torch import Tensor


def normal(
    *shape: int, like: Tensor, generator: torch.Generator | None = None, dtype: torch.dtype | None = None
) -> Tensor:
    """Numbers of N(0, 1) in the dtype and on the device of `like`; drawn on the generator's own device, so
    that a seed means the same everywhere.

    Args:
        dtype: the precision in which they are drawn, where it is not that of `like`.
    """
    device = like.device if generator is None else generator.device
    return torch.randn(*shape, generator=generator, dtype=dtype or like.dtype, device=device).to(like)


def uniform(*shape: int, like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Numbers in [0, 1), never 1, in the dtype and on the device of `like`; drawn in double precision on
    the generator's own device, so that a seed means the same everywhere."""
    u = torch.rand(*shape, generator=generator, dtype=torch.float64).to(like)
    return u.clamp_(max=1 - torch.finfo(u.dtype).eps / 2)  # the number before 1


def bernoulli(p: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """1 with probability p, else 0, of the shape of p; drawn on the generator's own device, so that a seed
    means the same everywhere."""
    return torch.bernoulli(p if generator is None else p.to(generator.device), generator=generator).to(p)


def pick(p: Tensor, u: Tensor) -> Tensor:
    """The value at which the distribution function passes u: p (..., K), u (...) in [0, 1) -> (...) int64.

    Never a value of probability 0, also where rounding leaves the sum of all p below u: what comes after
    the sum is reached adds nothing to it.
    """
    below = p.cumsum(-1)
    return ((u[..., None] >= below) & (below < below[..., -1:])).sum(-1)
