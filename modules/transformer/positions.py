"""Positions: attention alone does not see order, so each token is told where it stands.

    sinusoidal  p_t = (sin tω₀, cos tω₀, sin tω₁, cos tω₁, …),  ω_i = base^(−2i/C),  x_t ← x_t + p_t
    learned     p_t is a trained row of a table,                                      x_t ← x_t + p_t
    rotary      pair i of queries and keys is turned by the angle tθ_i, θ_i = base^(−2i/D): q_m·k_n
                then depends on m − n alone. Values are not turned (a text's formula turns them too).

Positions count from 0. `T` time, `C` channels, `D` features of a head.

References:
    Vaswani et al. 2017, arXiv:1706.03762 (sinusoidal, learned); Su et al. 2021, arXiv:2104.09864 (rotary).
    [UDL] §12.3.1, [GM] §1.6.4, [LLM] part 4 (eq. 1.24, 1.25), [BB] §3.
"""

from typing import Literal

import torch
from torch import Tensor, nn


def angles(positions: Tensor, width: int, base: float = 10000.0) -> Tensor:
    """t·base^(−2i/width) in float64: positions (T,) -> (T, width/2), radians.

    Raises:
        ValueError: for an odd width, which has a feature without a partner.
    """
    if width % 2:
        raise ValueError(f"width {width} is odd: sines and cosines, and rotations, need pairs of features.")
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float64, device=positions.device) / width)
    return positions.to(torch.float64)[:, None] * rates


def sinusoids(positions: Tensor, width: int, base: float = 10000.0) -> Tensor:
    """Sine and cosine of each angle, interleaved: (T,) -> (T, width) in float64. ‖p_t‖² = width/2."""
    turn = angles(positions, width, base)
    return torch.stack([turn.sin(), turn.cos()], dim=-1).flatten(1)


def rows(table: Tensor, T: int, offset: int | Tensor) -> Tensor:
    """T rows of a table of positions from `offset` on: (T, C); of offsets (B, 1) ≤ 0 each text's own,
    (B, T, C), with position 0 wherever it has not begun."""
    if isinstance(offset, int):
        return table[offset : offset + T]
    return table[(offset + torch.arange(T, device=offset.device)).clamp(min=0)]


class Learned(nn.Module):
    """Trained vector per position. There is none past the table's length, and that is an error."""

    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(length, width) * 0.02)

    def extra_repr(self) -> str:
        return f"length={self.table.shape[0]}, width={self.table.shape[1]}"

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, C) at positions offset, offset + 1, …; `offset` as in `rows`.

        Raises:
            ValueError: past the last learned position.
        """
        end = x.shape[1] + (offset if isinstance(offset, int) else 0)
        if end > len(self.table):
            raise ValueError(
                f"Position {end - 1} has no vector: this model learned {len(self.table)} positions."
            )
        return x + rows(self.table, x.shape[1], offset)


class Sinusoidal(nn.Module):
    """Fixed waves, one frequency per pair of channels; defined at every position."""

    def __init__(self, width: int, base: float = 10000.0) -> None:
        super().__init__()
        angles(torch.zeros(1), width)  # refuse an odd width now rather than at the first call
        self.width, self.base = width, base
        self._table = torch.empty(0, width)  # no buffer: made again at full precision for any dtype

    def extra_repr(self) -> str:
        return f"width={self.width}, base={self.base:g}"

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, C) at positions offset, offset + 1, …; `offset` as in `rows`."""
        end, table = x.shape[1] + (offset if isinstance(offset, int) else 0), self._table
        if len(table) < end or table.dtype != x.dtype or table.device != x.device:
            with torch.inference_mode(False):  # what an evaluation made must serve training too
                self._table = table = sinusoids(torch.arange(end), self.width, self.base).to(x)
        return x + rows(table, x.shape[1], offset)


class Rotary(nn.Module):
    """Turns pair i of features by the angle position·θ_i, counter-clockwise.

    Args:
        width: D, features of a head.
        layout: which features are a pair: "adjacent" (0, 1), (2, 3), … or "half" (0, D/2), (1, D/2 + 1), …
            They differ by a fixed permutation of the features.
        base: of the rates θ_i.
    """

    def __init__(
        self, width: int, layout: Literal["adjacent", "half"] = "half", base: float = 10000.0
    ) -> None:
        super().__init__()
        angles(torch.zeros(1), width)
        if layout not in ("adjacent", "half"):
            raise ValueError(f"layout is {layout!r}: choose adjacent or half.")
        self.width, self.layout, self.base = width, layout, base
        self._tables = (torch.empty(0, width // 2), torch.empty(0, width // 2))

    def extra_repr(self) -> str:
        return f"width={self.width}, layout={self.layout}, base={self.base:g}"

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (..., T, D) at positions offset, offset + 1, …; lengths are kept."""
        end = offset + x.shape[-2]
        cos, sin = self._tables
        if len(cos) < end or cos.dtype != x.dtype or cos.device != x.device:
            with torch.inference_mode(False):  # as above
                turn = angles(torch.arange(end), self.width, self.base)
                self._tables = cos, sin = turn.cos().to(x), turn.sin().to(x)
        cos, sin = cos[offset:end], sin[offset:end]  # (T, D/2)
        if self.layout == "half":
            a, b = x.chunk(2, dim=-1)
            return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
