"""Heads of a mixer: what projects tokens to queries, keys and values of H heads, and joins what they mixed.

    q = x W_Q,   k = s W_K,   v = s W_V   (rows, each with its bias),   s = x or another source
    y = [head_1, …, head_H] W_O           joined on features

Shapes: `B` batch, `H` heads, `G` heads of keys and values, `T` queries, `S` keys, `D` features of a query and
of a key in each head, `E` of a value, `C` channels.

References: as of `modules.transformer.attention`.
"""

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.transformer.recorder import switched


class SourceKeys(NamedTuple):
    """Keys (B, G, S, D) and values (B, G, S, E) of a source, computed once for all steps of a decoder."""

    keys: Tensor
    values: Tensor

    def select(self, rows: Tensor) -> "SourceKeys":
        """Keys and values of these rows (B',) of the batch."""
        return SourceKeys(self.keys[rows], self.values[rows])


class Heads(nn.Module):
    """Base of mixers that have heads: projections of C channels to them and back.

    4(C² + C) parameters for every number of heads (4C² without biases), unless widths or heads of keys and
    values are given.

    Args:
        width: C. heads: H, a divisor of C unless `head_width` is given. bias: of all projections.
        kv_heads: G, a divisor of H. head_width, value_width: D and E; None is C/H, and D.
        source_width: channels of a source that is not as wide as C.

    Raises:
        ValueError: heads that divide neither the width nor one another.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        bias: bool = True,
        kv_heads: int | None = None,
        head_width: int | None = None,
        value_width: int | None = None,
        source_width: int | None = None,
    ) -> None:
        super().__init__()
        require(1, width=width, heads=heads)
        if head_width is None and width % heads:
            raise ValueError(
                f"width {width} cannot be shared by {heads} heads: choose a multiple of {heads}."
            )
        D = width // heads if head_width is None else head_width
        E = D if value_width is None else value_width
        G = heads if kv_heads is None else kv_heads
        if G < 1 or heads % G:
            raise ValueError(f"{G} heads of keys and values cannot serve {heads} heads: choose a divisor.")
        self.width, self.heads = width, heads
        self.kv_heads, self.head_width, self.value_width = G, D, E
        self.sizes = (heads * D, G * D, G * E)  # of all queries, keys and values of a token
        self.source_width = source_width
        if source_width is None:
            self.qkv = nn.Linear(width, sum(self.sizes), bias=bias)  # W_Q, W_K, W_V below each other
        else:
            self.query = nn.Linear(width, heads * D, bias=bias)
            self.key_value = nn.Linear(source_width, G * (D + E), bias=bias)
        self.proj = nn.Linear(heads * E, width, bias=bias)  # W_O

    def extra_repr(self) -> str:
        groups = "" if self.kv_heads == self.heads else f", kv_heads={self.kv_heads}"
        return f"width={self.width}, heads={self.heads}{groups}"

    def split(
        self, x: Tensor, source: Tensor | SourceKeys | None = None, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, T, D), keys (B, G, S, D) and values (B, G, S, E) of all heads."""
        if source is None:
            if self.source_width is not None:
                raise ValueError("This layer attends to a source of its own width: give one.")
            q, k, v = self.qkv(x).split(self.sizes, dim=2)  # (B, T, H·D), (B, T, G·D), (B, T, G·E)
            if positions is not None:  # projections are linear: Wx + Wp, without a second bias
                n = sum(self.sizes[:2])
                at = F.linear(positions, self.qkv.weight[:n])
                q, k = q + at[..., : self.sizes[0]], k + at[..., self.sizes[0] :]
            G = self.kv_heads
            return self.by_heads(q, self.heads), self.by_heads(k, G), self.by_heads(v, G)
        if self.source_width is None:
            n, b = self.sizes[0], self.qkv.bias
            q = F.linear(x, self.qkv.weight[:n], None if b is None else b[:n])
        else:
            q = self.query(x)
        keys = source if isinstance(source, SourceKeys) else self.source_keys(source)
        return self.by_heads(q, self.heads), *keys

    def source_keys(self, source: Tensor) -> SourceKeys:
        """Keys and values of a source (B, S, C or source_width), for every step of a decoder."""
        if self.source_width is None:
            n, b = self.sizes[0], self.qkv.bias
            both = F.linear(source, self.qkv.weight[n:], None if b is None else b[n:])
        else:
            both = self.key_value(source)
        k, v = both.split(self.sizes[1:], dim=2)
        return SourceKeys(self.by_heads(k, self.kv_heads), self.by_heads(v, self.kv_heads))

    @staticmethod
    def by_heads(t: Tensor, heads: int) -> Tensor:
        """(B, T, heads·D) -> (B, heads, T, D)."""
        return t.unflatten(2, (heads, -1)).transpose(1, 2)

    def join(self, y: Tensor) -> Tensor:
        """Heads joined on features, and projected: (B, H, T, E) -> (B, T, C); without those that a recorder
        has switched off."""
        return self.proj(switched(self, y).transpose(1, 2).flatten(2))

    def by_head(self, weights: Tensor, values: Tensor) -> Tensor:
        """What each head adds, W_O applied and its bias left out.

        Args:
            weights: (B, H, T, S), of attention. values: (B, H, S, E), repeated where heads share them.

        Returns:
            (B, H, T, C); their sum over heads and the bias are the layer's output.
        """
        own = self.proj.weight.unflatten(1, (self.heads, -1)).transpose(0, 1)  # (H, C, E)
        return weights @ values @ own.mT  # (B, H, T, E) @ (H, E, C)
