"""Noise for samplers: normal numbers, uniform numbers that never reach 1, and the value that one picks.

    u ~ U[0, 1),    x = the first k with F(k) > u,    F(k) = p_0 + … + p_k

A uniform number of double precision rounds to 1.0 in single precision once in 2^25 draws. No distribution
function exceeds it, so the last value would be drawn whatever its probability, 0 included.
"""

import zlib
from collections.abc import Sequence

import torch
from torch import Tensor

Generators = torch.Generator | Sequence[torch.Generator] | None  # of all examples, or one per example


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


def normal_like(x: Tensor, generator: Generators = None) -> Tensor:
    """Numbers of N(0, 1) in the shape of x, its dtype and on its device; drawn as `normal`, or for each
    example of x (B, ...) by a generator of its own."""
    if isinstance(generator, Sequence):
        rows = [torch.randn(x.shape[1:], generator=g, dtype=x.dtype) for g in generator]
        return torch.stack(rows).to(x.device) if rows else x
    return normal(*x.shape, like=x, generator=generator)


def uniform32(shape: tuple[int, ...], generator: Generators = None) -> Tensor:
    """Numbers in [0, 1) of single precision, on the CPU; of a generator per example, these are the last
    size."""
    if isinstance(generator, Sequence):
        rows = [torch.rand(shape[:-1], generator=g) for g in generator]
        return torch.stack(rows, -1) if rows else torch.zeros(shape)
    return torch.rand(shape, generator=generator)


def per_example(x: Tensor, seed: int = 0) -> list[torch.Generator]:
    """A generator for each example of x (B, ...), seeded by what it holds: an evaluation then draws the same
    for it in whatever batch, and on whatever process, it comes."""
    rows = x.detach().cpu().contiguous().numpy()
    return [torch.Generator().manual_seed(zlib.crc32(row.tobytes(), seed)) for row in rows]
