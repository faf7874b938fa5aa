"""Synthesizer: attention weights without queries and keys.

    random   A = softmax(R + M)                      R (H, N, N): one table for all texts, trained
    fixed    the same, as it was drawn at the start
    dense    A_i = softmax(W₂ ReLU(W₁ x_i) + M)      H rows of N logits from the token itself

What is mixed are values, as in attention: A V, heads joined on features, then W_O. The weights know places,
not contents; a text may have N tokens at most.

Shapes: `B` batch, `H` heads, `T` queries, `S` keys, `D` features of a head, `C` channels, `N` the length.

References: Tay et al. 2020, arXiv:2005.00743; [UDL] notes of chapter 12.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require_one_of
from modules.transformer.attention import KVCache, attention_mask, masked_softmax
from modules.transformer.recorder import AttentionRecord, current_recorder, switched

Kind = Literal["random", "fixed", "dense"]


class Synthesizer(nn.Module):
    """Mixer of a block that a lens can record.

    Args:
        width: C. heads: H. length: N.
        kind: where the logits come from.
        bias: of all projections.
        dropout: of the weights, while training.

    Raises:
        ValueError: an unknown kind, or heads that do not divide the width.
    """

    OWN_START = True  # no model draws its parameters anew

    def __init__(
        self,
        width: int,
        heads: int,
        length: int,
        kind: Kind = "random",
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_one_of(Kind, kind=kind)
        if width % heads:
            raise ValueError(
                f"width {width} cannot be shared by {heads} heads: choose a multiple of {heads}."
            )
        self.heads, self.length, self.kind, self.dropout = heads, length, kind, dropout
        if kind == "dense":
            self.up = nn.Linear(width, width, bias=bias)
            self.down = nn.Linear(width, heads * length, bias=bias)
        else:
            table = torch.randn(heads, length, length)
            if kind == "random":
                self.logits = nn.Parameter(table)
            else:
                self.register_buffer("logits", table)
        self.value = nn.Linear(width, width, bias=bias)
        self.proj = nn.Linear(width, width, bias=bias)

    def extra_repr(self) -> str:
        return f"heads={self.heads}, length={self.length}, kind={self.kind}"

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Mix tokens; arguments as in `Attention`.

        Raises:
            ValueError: there is a source, or the text is longer than N.
        """
        if source is not None:
            raise ValueError("A synthesizer has no keys: it cannot attend to a source.")
        v = self.value(x).unflatten(2, (self.heads, -1)).transpose(1, 2)  # (B, H, T, D)
        T = x.shape[1]
        if cache is not None:
            v, _ = cache.append(v, v[..., :0])
        S = v.shape[2]
        if self.length < S:
            raise ValueError(f"Place {S - 1} has no logits: this synthesizer has {self.length} places.")
        if self.kind == "dense":
            logits = self.down(F.relu(self.up(x))).unflatten(2, (self.heads, self.length))  # (B, T, H, N)
            scores = logits.transpose(1, 2)[..., :S]
        else:
            scores = self.logits[:, S - T : S, :S].expand(len(x), -1, -1, -1)
        weights = masked_softmax(scores, attention_mask(T, S, causal, padding, x.device))
        weights = F.dropout(weights, self.dropout, self.training)
        y = weights @ v
        recorder = current_recorder()
        if recorder is not None:
            recorder.record(self, AttentionRecord(weights, values=v))
        return self.proj(switched(self, y).transpose(1, 2).flatten(2))

    def new_cache(self, batch: int, size: int, device: torch.device, dtype: torch.dtype) -> KVCache:
        """Memory of the values of up to `size` tokens."""
        return KVCache(batch, self.heads, size, self.proj.in_features // self.heads, device, dtype, 0)
