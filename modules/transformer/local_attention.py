"""Local attention: every token looks at the same few offsets from itself, layer upon layer further.

    y_t = Σ_o softmax_o(q_t·k_{t+o}/√D) v_{t+o},   o in {−r, …, r}·dilation,   causal: {−r, …, 0}·dilation

L layers reach L·r·dilation tokens, and with a dilation only every dilation-th of them.

Shapes: `B` batch, `H` heads, `T` tokens, `D` features of a head, `C` = H·D.

References: [UDL] 12.9, figure 12.15 c to f; Beltagy et al. 2020, arXiv:2004.05150.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from modules.base import require
from modules.transformer.attention import attention_mask, attention_weights
from modules.transformer.heads import Heads
from modules.transformer.recorder import AttentionRecord, current_recorder
from modules.transformer.sparse import offset_attention, window


@dataclass
class LocalCache:
    """Keys and values of the last r·dilation tokens, (B, H, at most so many, D), of all `length` read."""

    keys: Tensor
    values: Tensor
    length: int = 0

    @property
    def nbytes(self) -> int:
        """Memory in bytes: that of a window."""
        return self.keys.nbytes + self.values.nbytes

    def select(self, rows: Tensor) -> "LocalCache":
        """A cache of its own for these rows (B',) of the batch."""
        return LocalCache(self.keys[rows], self.values[rows], self.length)


class LocalAttention(Heads):
    """Attention of each token to a window around it, or behind it, a mixer of tokens.

    Args:
        width: C. heads: H. bias: of all projections.
        radius: r, taps on each side. dilation: tokens from one tap to the next.

    Raises:
        ValueError: a radius below 0, a dilation below 1.
    """

    def __init__(self, width: int, heads: int, radius: int = 4, dilation: int = 1, bias: bool = True) -> None:
        super().__init__(width, heads, bias)
        require(0, radius=radius)
        require(1, dilation=dilation)
        self.radius, self.dilation = radius, dilation

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, radius={self.radius}, dilation={self.dilation}"

    def taps(self, causal: bool) -> list[int]:
        """Offsets, in their order."""
        return [o * self.dilation for o in range(-self.radius, 1 if causal else self.radius + 1)]

    def new_cache(
        self, batch: int, size: int = 0, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> LocalCache:
        """Cache of texts of any length, so `size` asks nothing of it."""
        none = torch.empty(batch, self.heads, 0, self.width // self.heads, device=device, dtype=dtype)
        return LocalCache(none, none)

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: LocalCache | None = None,
    ) -> Tensor:
        """Mix x (B, T, C): (B, T, C).

        Args:
            causal: token t sees its window up to t.
            padding: (B, S), True at tokens nobody may look at; with a cache its tokens come first.
            cache: what earlier tokens left; `x` are those after them, and it is brought up to date.

        Raises:
            ValueError: another source, in which no token has a place near it; a cache that is not causal.
        """
        if source is not None:
            raise ValueError("A token has no neighbours in another source: take attention to all of it.")
        if cache is not None and not causal:
            raise ValueError("Earlier tokens would have to look at later ones: a cache is causal.")
        q, k, v = self.split(x)
        if cache is not None:
            k, v = torch.cat([cache.keys, k], dim=2), torch.cat([cache.values, v], dim=2)
            last = max(0, k.shape[2] - self.radius * self.dilation)
            cache.keys, cache.values = k[:, :, last:], v[:, :, last:]
            cache.length += x.shape[1]
        if padding is not None:
            padding = padding[:, padding.shape[1] - k.shape[2] :]
        recorder = current_recorder()
        if recorder is not None and cache is None:
            pattern = window(x.shape[1], self.radius, self.dilation).to(x.device)
            allowed = attention_mask(x.shape[1], x.shape[1], causal, padding, x.device)
            allowed = pattern if allowed is None else pattern & allowed
            weights = attention_weights(q, k, allowed)
            recorder.record(self, AttentionRecord(weights, q, k, v, q.shape[-1] ** -0.5))
        return self.join(offset_attention(q, k, v, self.taps(causal), padding))
