"""Attention: every query asks, every key answers, and the values are mixed by the answers.

    Attention(Q, K, V) = softmax(Q Kᵀ / √D + M) V,   M = 0 where a query may look, −∞ elsewhere

One layer serves all uses: self and cross, causal and bidirectional, with padding, with a cache of
earlier keys and values. A lens can record it (`AttentionRecorder`); when nobody does, torch's fused kernel
runs and no attention weight is ever stored.

Shapes: `B` batch, `H` heads, `T` queries, `S` keys, `D` features of a head, `C` = H·D channels.
Tokens are rows; the softmax is over the last axis.

References:
    Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762.
    [GM] §1.6.4 (Definitions 1.12 to 1.19; the text writes qᵀk for row vectors, which is q kᵀ);
    [UDL] §12.2, §12.3 (tokens as columns: the transpose of what is here).
"""

import copy
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.transformer.positions import Rotary


def attention_mask(
    queries: int,
    keys: int,
    causal: bool = False,
    padding: Tensor | None = None,
    device: torch.device | None = None,
) -> Tensor | None:
    """Mask of attention: True where a query may look at a key (M = 0), False where M = −∞.

    Args:
        queries, keys: T and S. With S > T the queries are the last T of the S positions.
        causal: a query sees its own position and earlier ones.
        padding: (B, S), True at keys nobody may look at.

    Returns:
        (T, S), or (B, 1, T, S) with padding, or None where every pair is allowed.
    """
    allowed = None
    if causal:
        allowed = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
    if padding is not None:
        seen = ~padding[:, None, None, :]  # (B, 1, 1, S)
        allowed = seen.expand(-1, 1, queries, -1) if allowed is None else seen & allowed
    return allowed


def attention_weights(
    q: Tensor, k: Tensor, allowed: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """softmax(Q Kᵀ / √D + M), written out.

    A query that may look nowhere gets weights 0 (not NaN), and finite gradients.

    Args:
        q: (..., T, D). k: (..., S, D).
        allowed: True where a query may look, broadcastable to (..., T, S).
        scale: instead of 1/√D.

    Returns:
        (..., T, S), rows sum to 1.
    """
    scores = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5 if scale is None else scale)
    return masked_softmax(scores, allowed)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """softmax(scores + M): (..., T, S), M = −∞ where `allowed` is False; all 0 in a row where it is nowhere
    True, with finite gradients."""
    if allowed is None:
        return scores.softmax(-1)
    somewhere = allowed.any(-1, keepdim=True)
    scores = scores.masked_fill(~allowed & somewhere, -math.inf)
    return scores.softmax(-1) * somewhere


@dataclass(frozen=True)
class AttentionRecord:
    """Record of one call of an attention layer.

    Attributes:
        weights: (B, H, T, S), exactly those that mixed the values.
        queries, keys, values: (B, H, T or S, D) as they met (rotated, where positions rotate).
        scale: what multiplied q·k.
    """

    weights: Tensor
    queries: Tensor | None = None
    keys: Tensor | None = None
    values: Tensor | None = None
    scale: float = 1.0


@dataclass
class AttentionRecorder:
    """Records attention layers, and may switch heads off.

    Attributes:
        heads: layer -> (H,) or (B, H) factors on the heads' outputs; 0 switches a head off.
        store: keep what the layers used; one entry per call, in order.
    """

    heads: Mapping[nn.Module, Tensor] = field(default_factory=dict)
    store: bool = True
    calls: dict[nn.Module, list[AttentionRecord]] = field(default_factory=dict)

    def record(self, layer: nn.Module, attention_record: AttentionRecord) -> None:
        """Called by a layer at each call."""
        if self.store:
            self.calls.setdefault(layer, []).append(attention_record)


# One variable per thread: a model shared by several viewers is recorded by each of them alone.
_RECORDER: ContextVar[AttentionRecorder | None] = ContextVar("recorder", default=None)


def current_recorder() -> AttentionRecorder | None:
    """Recorder of attention in this thread, if there is one."""
    return _RECORDER.get()


@contextmanager
def record_attention(
    heads: Mapping[nn.Module, Tensor] | None = None, store: bool = True
) -> Iterator[AttentionRecorder]:
    """Within this block every attention layer reports what it used.

    Example:
        >>> layer = Attention(8, heads=2)
        >>> with record_attention() as seen:
        ...     y = layer(torch.randn(1, 5, 8), causal=True)
        >>> seen.calls[layer][0].weights.shape
        torch.Size([1, 2, 5, 5])
    """
    recorder = AttentionRecorder(heads or {}, store)
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


class KVCache:
    """Keys and values of the tokens seen so far, in memory allocated once.

    A new token costs one query, one key, one value and `length` dot products per head; nothing is
    computed twice.

    Args:
        batch, heads, size, width: B, H, the most tokens that fit, D.
    """

    def __init__(
        self, batch: int, heads: int, size: int, width: int, device: torch.device, dtype: torch.dtype
    ) -> None:
        self.keys = torch.empty(batch, heads, size, width, device=device, dtype=dtype)
        self.values = torch.empty_like(self.keys)
        self.length = 0

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add (B, H, T, D) keys and values; returns views of all so far, (B, H, length, D)."""
        end = self.length + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"The cache holds {self.keys.shape[2]} tokens; {end} were given.")
        self.keys[:, :, self.length : end] = k
        self.values[:, :, self.length : end] = v
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def select(self, rows: Tensor) -> "KVCache":
        """A cache of its own for these rows (B',) of the batch; a row may be taken more than once."""
        other, end = copy.copy(self), self.length
        other.keys = self.keys.new_empty(len(rows), *self.keys.shape[1:])
        other.values = torch.empty_like(other.keys)
        other.keys[:, :, :end], other.values[:, :, :end] = (
            self.keys[rows, :, :end],
            self.values[rows, :, :end],
        )
        return other


class Attention(nn.Module):
    """Multi-head attention: H projections to D = C/H features, mixed, joined on features, then W_O.

    4(C² + C) parameters for every number of heads (4C² without biases).

    Args:
        width: C, of the input, of the source and of the output.
        heads: H, a divisor of C.
        bias: of all projections.
        scaled: divide scores by √D; False is the unscaled score of [BB].
        rotary: rotates queries and keys by their positions (never values).
        dropout: of attention weights while training.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        bias: bool = True,
        scaled: bool = True,
        rotary: Rotary | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(
                f"width {width} cannot be shared by {heads} heads: choose a multiple of {heads}."
            )
        self.width, self.heads, self.dropout = width, heads, dropout
        self.scale = (width // heads) ** -0.5 if scaled else 1.0
        self.qkv = nn.Linear(width, 3 * width, bias=bias)  # W_Q, W_K, W_V below each other
        self.proj = nn.Linear(width, width, bias=bias)  # W_O
        self.rotary = rotary

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Attend from `x` to `source`, or to `x` itself.

        Args:
            x: (B, T, C), the queries' tokens.
            source: (B, S, C), the keys' and values' tokens; None is self-attention.
            causal: query t sees keys up to t.
            padding: (B, S), True at keys nobody may look at.
            cache: earlier keys and values of self-attention; `x` are the tokens after them.

        Returns:
            (B, T, C).
        """
        q, k, v = self.split(x, source)  # (B, H, T, D), (B, H, S, D), (B, H, S, D)
        if self.rotary is not None:
            offset = cache.length if cache is not None else 0
            q, k = self.rotary(q, offset), self.rotary(k, offset)
        if cache is not None:
            k, v = cache.append(k, v)
        T, S = q.shape[2], k.shape[2]
        dropout = self.dropout if self.training else 0.0

        recorder = current_recorder()
        if recorder is None:
            causal = causal and T > 1  # a single new token sees all that came before
            if padding is None and (T == S or not causal):
                y = F.scaled_dot_product_attention(
                    q, k, v, dropout_p=dropout, is_causal=causal, scale=self.scale
                )
            else:
                allowed = attention_mask(T, S, causal, padding, x.device)
                y = F.scaled_dot_product_attention(q, k, v, allowed, dropout, scale=self.scale)
        else:
            allowed = attention_mask(T, S, causal, padding, x.device)
            weights = F.dropout(attention_weights(q, k, allowed, self.scale), dropout)
            recorder.record(self, AttentionRecord(weights, q, k, v, self.scale))
            y = weights @ v  # (B, H, T, D)
            if self in recorder.heads:
                y = y * recorder.heads[self].to(y)[..., None, None]  # (H, 1, 1) or (B, H, 1, 1)
        return self.proj(y.transpose(1, 2).flatten(2))  # heads join on features: (B, T, C)

    def extra_repr(self) -> str:
        return f"width={self.width}, heads={self.heads}, dropout={self.dropout}"

    def split(self, x: Tensor, source: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of all heads, (B, H, T or S, D) each."""
        if source is None:
            q, k, v = self.qkv(x).chunk(3, dim=2)  # (B, T, C) each
        else:
            W, b = self.qkv.weight, self.qkv.bias
            C = self.width
            q = F.linear(x, W[:C], None if b is None else b[:C])
            k, v = F.linear(source, W[C:], None if b is None else b[C:]).chunk(2, dim=2)
        H, D = self.heads, self.width // self.heads
        q, k, v = (t.unflatten(2, (H, D)).transpose(1, 2) for t in (q, k, v))
        return q, k, v
