"""Attention: every query asks, every key answers, and the values are mixed by the answers.

    Attention(Q, K, V) = softmax(Q Kᵀ / √D + M) V,   M = 0 where a query may look, −∞ elsewhere

One layer serves all uses: self and cross, causal and bidirectional, under any mask, with an added bias, with
a cache of earlier keys and values, with fewer heads of keys and values than of queries. A lens can record it
(`recorder`); when nobody does, torch's fused kernel runs and no attention weight is ever stored.

Shapes: `B` batch, `H` heads, `G` heads of keys and values, `T` queries, `S` keys, `D` features of a query and
of a key in each head, `E` of a value, `C` channels. Tokens are rows; the softmax is over the last axis.

References:
    Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762.
    Shazeer 2019, arXiv:1911.02150 (multi-query: G = 1); Ainslie et al. 2023, arXiv:2305.13245 (grouped).
    [GM] §1.6.4 (Definitions 1.12 to 1.19; the text writes qᵀk for row vectors, which is q kᵀ);
    [UDL] §12.2, §12.3 (tokens as columns: the transpose of what is here).
"""

import copy
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.transformer.heads import Heads, SourceKeys
from modules.transformer.positions import Rotary
from modules.transformer.recorder import AttentionRecord, current_recorder


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
    q: Tensor,
    k: Tensor,
    allowed: Tensor | None = None,
    scale: float | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """softmax(Q Kᵀ / √D + bias + M), written out.

    A query that may look nowhere gets weights 0 (not NaN), and finite gradients.

    Args:
        q: (..., T, D). k: (..., S, D).
        allowed: True where a query may look, broadcastable to (..., T, S).
        scale: instead of 1/√D.
        bias: added after scaling, broadcastable to (..., T, S).

    Returns:
        (..., T, S), rows sum to 1.
    """
    scores = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    return masked_softmax(scores, allowed)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """softmax(scores + M): (..., T, S), M = −∞ where `allowed` is False; all 0 in a row where it is nowhere
    True, with finite gradients."""
    if allowed is None:
        return scores.softmax(-1)
    somewhere = allowed.any(-1, keepdim=True)
    scores = scores.masked_fill(~allowed & somewhere, -math.inf)
    return scores.softmax(-1) * somewhere


class KVCache:
    """Keys and values of the tokens seen so far, in memory allocated once.

    A new token costs one query, one key, one value and `length` dot products per head; nothing is
    computed twice.

    Args:
        batch, heads, size, width: B, G, the most tokens that fit, D.
        value_width: E; None is D.
    """

    def __init__(
        self,
        batch: int,
        heads: int,
        size: int,
        width: int,
        device: torch.device,
        dtype: torch.dtype,
        value_width: int | None = None,
    ) -> None:
        self.keys = torch.empty(batch, heads, size, width, device=device, dtype=dtype)
        self.values = self.keys.new_empty(batch, heads, size, width if value_width is None else value_width)
        self.length = 0

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add keys (B, G, T, D) and values; returns views of all so far, (B, G, length, D or E)."""
        end = self.length + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"The cache holds {self.keys.shape[2]} tokens; {end} were given.")
        self.keys[:, :, self.length : end] = k
        self.values[:, :, self.length : end] = v
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.keys.nbytes + self.values.nbytes

    def select(self, rows: Tensor) -> "KVCache":
        """A cache of its own for these rows (B',) of the batch; a row may be taken more than once."""
        other, end = copy.copy(self), self.length
        other.keys = self.keys.new_empty(len(rows), *self.keys.shape[1:])
        other.values = self.values.new_empty(len(rows), *self.values.shape[1:])
        other.keys[:, :, :end], other.values[:, :, :end] = (
            self.keys[rows, :, :end],
            self.values[rows, :, :end],
        )
        return other


class Attention(Heads):
    """Multi-head attention: H projections to D = C/H features, mixed, joined on features, then W_O.

    4(C² + C) parameters for every number of heads (4C² without biases), unless widths or heads of keys and
    values are given.

    Args:
        width: C, of the input and of the output.
        heads: H, a divisor of C unless `head_width` is given.
        bias: of all projections.
        scaled: divide scores by √D; False is the unscaled score of [BB].
        rotary: rotates queries and keys by their positions (never values).
        dropout: of attention weights while training.
        kv_heads: G, a divisor of H; each serves H/G heads of queries. None is H.
        head_width, value_width: D and E; None is C/H, and D.
        source_width: channels of a source that is not as wide as C: such a layer attends to a source alone.
        relative: what adds to the scores by the distance of query and key (`modules.transformer.relative`).

    Raises:
        ValueError: heads that divide neither the width nor one another.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        bias: bool = True,
        scaled: bool = True,
        rotary: Rotary | None = None,
        dropout: float = 0.0,
        kv_heads: int | None = None,
        head_width: int | None = None,
        value_width: int | None = None,
        source_width: int | None = None,
        relative: nn.Module | None = None,
    ) -> None:
        super().__init__(width, heads, bias, kv_heads, head_width, value_width, source_width)
        self.dropout, self.scale = dropout, self.head_width**-0.5 if scaled else 1.0
        self.rotary, self.relative = rotary, relative

    def forward(
        self,
        x: Tensor,
        source: Tensor | SourceKeys | None = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: KVCache | None = None,
        allowed: Tensor | None = None,
        bias: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """Attend from `x` to `source`, or to `x` itself.

        Args:
            x: (B, T, C), the queries' tokens.
            source: (B, S, C) or (B, S, source_width), the keys' and values' tokens, or what `source_keys`
                made of them; None is self-attention.
            causal: query t sees keys up to t.
            padding: (B, S), True at keys nobody may look at.
            cache: earlier keys and values of self-attention; `x` are the tokens after them.
            allowed: True where a query may look at a key, broadcastable to (B, H, T, S); on top of `causal`
                and `padding`.
            bias: added to the scaled scores, broadcastable to (B, H, T, S).
            positions: (T, C) or (B, T, C), added to what queries and keys are made of, not values.

        Returns:
            (B, T, C).
        """
        # (B, H, T, D), (B, G, S, D), (B, G, S, E)
        q, k, v = self.split(x, source, positions)
        if self.rotary is not None:
            offset = cache.length if cache is not None else 0
            q, k = self.rotary(q, offset), self.rotary(k, offset)
        if cache is not None:
            k, v = cache.append(k, v)
        if self.kv_heads < self.heads:  # each head of keys and values serves its neighbours
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        if self.relative is not None:
            by_distance = self.relative(q, k, self.scale)  # (H, T, S) or (B, H, T, S)
            bias = by_distance if bias is None else bias + by_distance
        T, S = q.shape[2], k.shape[2]
        dropout = self.dropout if self.training else 0.0

        recorder = current_recorder()
        causal = causal and T > 1  # a single new token sees all that came before
        plain = padding is None and allowed is None and bias is None
        if recorder is None and plain and (T == S or not causal):
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=causal, scale=self.scale)
            return self.join(y)

        mask = attention_mask(T, S, causal, padding, x.device)
        if allowed is not None:
            mask = allowed if mask is None else mask & allowed
        if recorder is None:
            if bias is not None:  # one tensor for both; a row without any key is masked by the kernel
                mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
            y = F.scaled_dot_product_attention(q, k, v, mask, dropout, scale=self.scale)
        else:
            weights = F.dropout(attention_weights(q, k, mask, self.scale, bias), dropout)
            recorder.record(self, AttentionRecord(weights, q, k, v, self.scale, bias))
            y = weights @ v  # (B, H, T, E)
        return self.join(y)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, dropout={self.dropout}"

    def new_cache(self, batch: int, size: int, device: torch.device, dtype: torch.dtype) -> KVCache:
        """Empty cache of `batch` texts of up to `size` tokens."""
        return KVCache(batch, self.kv_heads, size, self.head_width, device, dtype, self.value_width)
