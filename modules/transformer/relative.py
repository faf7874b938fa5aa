"""Relative positions: what the distance of query and key does to their score.

    bias       S_ij ← S_ij + b_{j−i}                    one learned number per offset and head
    factor     S_ij ← S_ij · w_{j−i}                    the same, multiplied
    key        S_ij ← q_i · (k_j + r_{j−i}) / √D        one learned vector per offset, in the dot product
    ALiBi      S_ij ← S_ij − m_h |i − j|                nothing is learned: m_h = 2^(−8h/H)
    untied     S_ij ← S_ij + (p_i U_q)(p_j U_k)ᵀ / √D   positions with projections of their own

The first four know i − j alone: shifting query and key together changes nothing, so a text may be longer than
any seen in training. There are 2N − 1 offsets of N positions, and as many numbers per head, not N² as π_{a,b}
of [UDL] §12.3.1 may suggest; offsets beyond share the last. S is scaled before anything is added: the scale
of ALiBi's slopes is that of scaled scores.

Shapes: `H` heads, `T` queries, the last T of `S` keys, `D` features of a head. Each module gives what is
*added* to the scaled scores.

References:
    Shaw et al. 2018, arXiv:1803.02155 (key); Raffel et al. 2019, arXiv:1910.10683 (bias); Huang et al. 2020,
    arXiv:2009.13658 (factor); Press et al. 2021, arXiv:2108.12409 (ALiBi); Ke et al. 2020, arXiv:2006.15595
    (untied). [UDL] §12.3.1 and notes, [LLM] part 4.
"""

import torch
from torch import Tensor, nn

from modules.base import require
from modules.transformer.positions import rows


def offsets(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """j − i of queries that are the last T of S positions: (T, S) int64."""
    i = torch.arange(keys - queries, keys, device=device)
    return torch.arange(keys, device=device) - i[:, None]


class ByOffset(nn.Module):
    """Base of tables with a row per offset −(N − 1) … N − 1.

    Args:
        length: N; offsets beyond N − 1 take the last row.
    """

    OWN_START = True  # no model draws its parameters anew

    def __init__(self, length: int, *shape: int, start: float, std: float) -> None:
        super().__init__()
        require(1, length=length)
        self.length = length
        self.table = nn.Parameter(start + std * torch.randn(2 * length - 1, *shape))

    def extra_repr(self) -> str:
        return f"length={self.length}"

    def at(self, q: Tensor, k: Tensor) -> Tensor:
        """Rows of the table for every pair: (T, S, …)."""
        reach = self.length - 1
        return self.table[offsets(q.shape[-2], k.shape[-2], q.device).clamp(-reach, reach) + reach]


class RelativeBias(ByOffset):
    """Learned number per offset and head, added to the score."""

    def __init__(self, heads: int, length: int) -> None:
        super().__init__(length, heads, start=0.0, std=0.02)

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """b_{j−i}: (H, T, S)."""
        return self.at(q, k).permute(2, 0, 1)


class RelativeFactor(ByOffset):
    """Learned number per offset and head, multiplied with the score; all begin near 1."""

    def __init__(self, heads: int, length: int) -> None:
        super().__init__(length, heads, start=1.0, std=0.02)

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """S·w − S: (B, H, T, S)."""
        return q @ k.mT * scale * (self.at(q, k).permute(2, 0, 1) - 1)


class RelativeKey(ByOffset):
    """Learned vector per offset, added to the key inside the dot product; the heads share it."""

    def __init__(self, head_width: int, length: int) -> None:
        super().__init__(length, head_width, start=0.0, std=0.02)

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """q_i·r_{j−i}, scaled: (B, H, T, S)."""
        return torch.einsum("bhtd,tsd->bhts", q, self.at(q, k)) * scale


def slopes(heads: int) -> Tensor:
    """m_h = 2^(−8h/H), h = 1 … H: (H,) in float64."""
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)


class ALiBi(nn.Module):
    """Penalty that grows with the distance, in each head at its own fixed rate.

    Raises:
        ValueError: the number of heads is no power of two: the published slopes are defined for these.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        if heads < 1 or heads & (heads - 1):
            raise ValueError(f"ALiBi has slopes for 1, 2, 4, 8, … heads: {heads} is no power of two.")
        self.heads = heads

    def extra_repr(self) -> str:
        return f"heads={self.heads}"

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """−m_h |i − j|: (H, T, S)."""
        distance = offsets(q.shape[-2], k.shape[-2], q.device).abs()
        return -slopes(self.heads).to(q)[:, None, None] * distance


class UntiedPositions(nn.Module):
    """Scores between positions alone, by projections of their own; all layers share them.

    Args:
        length: N positions; there is none beyond.
        width: C. heads: H.
    """

    def __init__(self, length: int, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.table = nn.Parameter(torch.randn(length, width) * 0.02)
        self.query = nn.Linear(width, width, bias=False)  # U_q
        self.key = nn.Linear(width, width, bias=False)  # U_k

    def extra_repr(self) -> str:
        return f"length={len(self.table)}, heads={self.heads}"

    def forward(self, T: int, S: int, before: Tensor | None = None) -> Tensor:
        """Bias of T queries, the last of S keys: (H, T, S), or (B, H, T, S) with `before`.

        Args:
            before: (B, 1), positions that come before each text's first, as padding on its left.

        Raises:
            ValueError: past the last position.
        """
        if len(self.table) < S:
            raise ValueError(
                f"Position {S - 1} has no vector: this model learned {len(self.table)} positions."
            )
        p = rows(self.table, S, 0 if before is None else -before)  # (S, C) or (B, S, C)
        q, k = (
            t.unflatten(-1, (self.heads, -1)).transpose(-3, -2)
            for t in (self.query(p[..., S - T :, :]), self.key(p))
        )
        return q @ k.mT * q.shape[-1] ** -0.5
