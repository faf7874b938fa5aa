"""Attention to fewer positions than there are tokens: keys and values are projected, or convolved, over them.

    Linformer          softmax(q (E k)ᵀ/√D) F v,  E, F (R, N) trained: R positions for N tokens
    memory-compressed  keys and values are convolved with stride s: ⌈N/s⌉ positions

Both cost T·R dot products. Each position stands for several tokens, early ones and late ones: neither can be
causal, and neither has a state to which a token could be added.

Shapes: `B` batch, `H` heads, `T` queries, `S` tokens of the source, `R` positions, `D` features of a head.

References: Wang et al. 2020, arXiv:2006.04768 (Linformer); Liu et al. 2018, arXiv:1801.10198
(memory-compressed); [UDL] notes of chapter 12.
"""

from typing import Never

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.transformer.attention import masked_softmax
from modules.transformer.heads import Heads
from modules.transformer.recorder import AttentionRecord, current_recorder


class Compressed(Heads):
    """Base of mixers that look at fewer positions: a subclass compresses keys and values."""

    def compress(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, H, S, D), 0 at padding -> (B, H, R, D)."""
        raise NotImplementedError

    def absent(self, padding: Tensor) -> Tensor | None:
        """Positions (B, R) that stand for padding (B, S) alone; None where there are none such."""
        return None

    def new_cache(self, *sizes: object) -> Never:
        """
        Raises:
            ValueError: always.
        """
        raise ValueError(f"{type(self).__name__} mixes the whole length: it cannot go on token by token.")

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: object = None,
    ) -> Tensor:
        """Mix x (B, T, C) with the source (B, S, C), or with itself: (B, T, C).

        Args:
            padding: (B, S), True at tokens that count nothing.

        Raises:
            ValueError: a causal mask, or a cache.
        """
        if causal or cache is not None:
            raise ValueError(
                f"{type(self).__name__} mixes the whole length before it attends: it cannot be causal."
            )
        q, k, v = self.split(x, source)
        if padding is not None:
            k, v = (t.masked_fill(padding[:, None, :, None], 0.0) for t in (k, v))
        k, v = self.compress(k, v)
        absent = None if padding is None else self.absent(padding)
        allowed = None if absent is None else ~absent[:, None, None]
        weights = masked_softmax(q @ k.mT * q.shape[-1] ** -0.5, allowed)  # (B, H, T, R)
        recorder = current_recorder()
        if recorder is not None:
            recorder.record(self, AttentionRecord(weights, q, k, v, q.shape[-1] ** -0.5))
        return self.join(weights @ v)


class Linformer(Compressed):
    """Attention to R mixtures of the tokens, the same for all heads and texts.

    A text of fewer than N tokens uses the first columns of E and F.

    Args:
        width: C. heads: H. bias: of the projections of channels.
        length: N, the most tokens. rank: R.

    Raises:
        ValueError: a number below 1; R above N; more than N tokens.
    """

    def __init__(self, width: int, heads: int, length: int, rank: int, bias: bool = True) -> None:
        super().__init__(width, heads, bias)
        require(1, length=length, rank=rank)
        if rank > length:
            raise ValueError(f"rank {rank} of {length} tokens compresses nothing: take at most {length}.")
        self.length, self.rank = length, rank
        # sums of N tokens keep the variance of one
        self.E = nn.Parameter(torch.randn(rank, length) * length**-0.5)
        self.F = nn.Parameter(torch.randn(rank, length) * length**-0.5)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, length={self.length}, rank={self.rank}"

    def compress(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        S = k.shape[2]
        if self.length < S:
            raise ValueError(f"{S} tokens were given: this Linformer projects at most {self.length}.")
        return self.E[:, :S] @ k, self.F[:, :S] @ v


class MemoryCompressed(Compressed):
    """Attention to a convolution of keys and values, with a kernel as long as its stride.

    Args:
        width: C. heads: H. bias: of all projections and of the convolution.
        stride: s. It begins as the mean of s tokens; the last position may stand for fewer.

    Raises:
        ValueError: a stride below 1.
    """

    def __init__(self, width: int, heads: int, stride: int, bias: bool = True) -> None:
        super().__init__(width, heads, bias)
        require(1, stride=stride)
        self.stride, D = stride, width // heads
        self.conv_k, self.conv_v = (nn.Conv1d(D, D, stride, stride, bias=bias) for _ in range(2))
        with torch.no_grad():
            for conv in (self.conv_k, self.conv_v):
                conv.weight.copy_(torch.eye(D)[..., None].expand_as(conv.weight) / stride)
                if conv.bias is not None:
                    conv.bias.zero_()

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, stride={self.stride}"

    def compress(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        B, _, S, _ = k.shape
        if not S:
            return k, v
        rest = -S % self.stride

        def along(conv: nn.Conv1d, t: Tensor) -> Tensor:
            t = F.pad(t, (0, 0, 0, rest)).flatten(0, 1).mT  # (B, H, S, D) -> (B H, D, S)
            return conv(t).mT.unflatten(0, (B, -1))  # (B H, D, R) -> (B, H, R, D)

        return along(self.conv_k, k), along(self.conv_v, v)

    def absent(self, padding: Tensor) -> Tensor:
        rest = -padding.shape[1] % self.stride
        return F.pad(padding, (0, rest), value=True).unflatten(1, (-1, self.stride)).all(2)
