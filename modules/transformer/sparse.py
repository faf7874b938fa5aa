"""Sparse interactions: which query looks at which key, how many pairs that are, how far layers of it reach.

A pattern is a matrix (N, N) of booleans, True at (i, j) where token i looks at token j. They are joined by
`|` and restricted by `&`. After L layers token i has heard of token j where (A^L)_ij > 0.

    window     |i − j| ≤ r, a convolution of 2r + 1 taps; causal: i − j in 0 … r
    dilated    the same with i − j a multiple of the dilation: one dilation alone never leaves its residue
    selected   every s-th token looks at all, and all look at it (before themselves, where it is causal)
    hub        the first g tokens are global: they look at all, and all look at them
    blocks     tokens of the same block of s
    random     each token looks at so many others, drawn

Attention over a pattern costs one dot product a pair (`sparse_attention`), over the same offsets of all
tokens one a tap and token (`offset_attention`), in blocks s a token (`block_attention`); none makes N × N
numbers.

Shapes: `B` batch, `H` heads, `N` tokens, `D` features, `P` pairs.

References: [UDL] 12.9, figure 12.15, and notes of chapter 12; Child et al. 2019, arXiv:1904.10509 (strided);
Beltagy et al. 2020, arXiv:2004.05150 (dilated windows); Zaheer et al. 2020, arXiv:2007.14062 (random).
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require
from modules.transformer.attention import masked_softmax


def offsets(N: int) -> Tensor:
    """i − j of all pairs, (N, N)."""
    places = torch.arange(N)
    return places[:, None] - places


def full(N: int) -> Tensor:
    """Every token looks at every token."""
    require(1, N=N)
    return torch.ones(N, N, dtype=torch.bool)


def causal(N: int) -> Tensor:
    """Token i looks at itself and at those before it."""
    return full(N).tril()


def prefix(N: int, length: int) -> Tensor:
    """A prefix that is seen as a whole, and causal tokens behind it."""
    require(0, N + 1, length=length)
    return causal(N) | (torch.arange(N) < length)


def window(N: int, radius: int, dilation: int = 1) -> Tensor:
    """Token i looks at i + d·dilation, |d| ≤ radius."""
    require(1, N=N, dilation=dilation)
    require(0, radius=radius)
    apart = offsets(N).abs()
    return (apart <= radius * dilation) & (apart % dilation == 0)


def selected(N: int, every: int) -> Tensor:
    """Each `every`-th token, from the first on, looks at all, and all look at it."""
    require(1, N=N, every=every)
    chosen = torch.arange(N) % every == 0
    return chosen[:, None] | chosen


def hub(N: int, count: int) -> Tensor:
    """The first `count` tokens look at all, and all look at them."""
    require(1, N=N)
    require(0, count=count)
    first = torch.arange(N) < count
    return first[:, None] | first


def strided(N: int, stride: int) -> Tensor:
    """Token i looks at i + d·stride for every d: a column of a picture of that width."""
    require(1, N=N, stride=stride)
    return offsets(N) % stride == 0


def blocks(N: int, size: int) -> Tensor:
    """Token i looks at those of its own block of `size`; the last block may be shorter."""
    require(1, N=N, size=size)
    block = torch.arange(N) // size
    return block[:, None] == block


def random(N: int, count: int, generator: torch.Generator | None = None) -> Tensor:
    """Each token looks at `count` different tokens, drawn."""
    require(1, N=N)
    require(0, N + 1, count=count)
    order = torch.rand(N, N, generator=generator).argsort(1)
    return order < count  # of a random permutation, `count` entries are below it


# --- Reach ------------------------------------------------------------------------------------------


def reach(pattern: Tensor, layers: int) -> Tensor:
    """What is heard of after 0 … `layers` layers: (N, N) -> (layers + 1, N, N)."""
    heard = [torch.eye(len(pattern), dtype=torch.bool)]
    for _ in range(layers):
        heard.append((heard[-1].float() @ pattern.float()) > 0)
    return torch.stack(heard)


def depth(pattern: Tensor) -> int:
    """Layers until another one adds nothing to what is heard of.

    Counted for tokens that look at themselves, whose reach only grows.

    Raises:
        ValueError: a token does not look at itself.
    """
    if not bool(pattern.diagonal().all()):
        raise ValueError("A token that does not look at itself forgets: give a pattern with its diagonal.")
    heard = torch.eye(len(pattern), dtype=torch.bool)
    for layers in range(len(pattern) + 1):
        after = (heard.float() @ pattern.float()) > 0
        if torch.equal(after, heard):
            return layers
        heard = after
    return len(pattern)  # pragma: no cover  # a path without repetition has fewer steps than tokens


# --- Attention over a pattern ---------------------------------------------------------------------------


def sparse_attention(q: Tensor, k: Tensor, v: Tensor, pattern: Tensor, scale: float | None = None) -> Tensor:
    """softmax(q kᵀ/√D) v over the pairs of a pattern alone: P dot products of D, P sums of D.

    Args:
        q: (..., T, D). k, v: (..., S, D). pattern: (T, S). scale: instead of 1/√D.

    Returns:
        (..., T, D); 0 where a token looks nowhere.
    """
    rows, columns = pattern.nonzero(as_tuple=True)  # (P,) each
    lead, T = q.shape[:-1], q.shape[-2]
    scores = (q[..., rows, :] * k[..., columns, :]).sum(-1) * (
        q.shape[-1] ** -0.5 if scale is None else scale
    )
    at = rows.expand_as(scores)
    most = scores.new_zeros(lead).scatter_reduce(-1, at, scores.detach(), "amax", include_self=False)
    raised = (scores - most[..., rows]).exp()  # (..., P)
    weight = raised.new_zeros(lead).index_add(-1, rows, raised)
    total = v.new_zeros(*lead[:-1], T, v.shape[-1]).index_add(
        -2, rows, raised[..., None] * v[..., columns, :]
    )
    return total / torch.where(weight > 0, weight, torch.ones_like(weight))[..., None]


def offset_attention(
    q: Tensor, k: Tensor, v: Tensor, taps: Sequence[int], padding: Tensor | None = None
) -> Tensor:
    """Attention of the last T of S tokens to those at the same offsets of each: T·K dot products of K taps.

    Args:
        q: (B, H, T, D). k, v: (B, H, S, D), S ≥ T. taps: offsets, 0 the token itself, −1 the one before.
        padding: (B, S), True at tokens nobody may look at.

    Returns:
        (B, H, T, D); 0 where a token looks nowhere.
    """
    T, S = q.shape[2], k.shape[2]
    before, behind = max(0, -min(taps)), max(0, *taps)
    seen = k.new_ones(k.shape[0], S, dtype=torch.bool) if padding is None else ~padding
    wide = F.pad(seen, (before, behind))[:, None]  # (B, 1, before + S + behind)
    k, v = (F.pad(t, (0, 0, before, behind)) for t in (k, v))

    def at(t: Tensor, tap: int) -> Tensor:
        return t.narrow(2, before + S - T + tap, T)

    scores = torch.stack([(q * at(k, tap)).sum(-1) for tap in taps], dim=-1) * q.shape[-1] ** -0.5
    allowed = torch.stack([at(wide, tap) for tap in taps], dim=-1)  # (B, 1, T, K)
    weights = masked_softmax(scores, allowed)  # (B, H, T, K)
    y = torch.zeros_like(q)
    for number, tap in enumerate(taps):
        y = y + weights[..., number, None] * at(v, tap)
    return y


def block_attention(
    q: Tensor, k: Tensor, v: Tensor, size: int, causal: bool = False, padding: Tensor | None = None
) -> Tensor:
    """Attention within blocks of `size` tokens: N·size dot products.

    Args:
        q, k, v: (B, H, N, D); the last block may be shorter. padding: (B, N), True at tokens to be ignored.

    Returns:
        (B, H, N, D); 0 where a token looks nowhere.
    """
    B, _, N, D = q.shape
    rest = -N % size
    seen = q.new_ones(B, N, dtype=torch.bool) if padding is None else ~padding
    allowed = F.pad(seen, (0, rest)).unflatten(1, (-1, size))[:, None, :, None]  # (B, 1, blocks, 1, size)
    if causal:
        allowed = allowed & torch.ones(size, size, dtype=torch.bool, device=q.device).tril()
    q, k, v = (F.pad(t, (0, 0, 0, rest)).unflatten(2, (-1, size)) for t in (q, k, v))
    weights = masked_softmax(q @ k.mT * D**-0.5, allowed)  # (B, H, blocks, size, size)
    return (weights @ v).flatten(2, 3)[:, :, :N]
