"""The transformer block: tokens talk (attention), then each thinks alone (feed-forward).

    pre-norm    x ← x + Attention(LN x),   x ← x + FFN(LN x)       (GPT-2 and later)
    post-norm   x ← LN(x + Attention(x)),  x ← LN(x + FFN(x))      (the original, BERT)
    FFN(x) = W₂ φ(W₁ x + b₁) + b₂ for each token

LN normalises each token over its own C features with the biased variance; [UDL] §12.4 speaks of
statistics over the sequence, which would mix tokens.

References: Vaswani et al. 2017, arXiv:1706.03762; Xiong et al. 2020, arXiv:2002.04745 (where the norm
goes); [GM] §1.6.4, [UDL] eq. 12.13, [LLM] eq. 1.30, 1.31.
"""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from modules.transformer.attention import Attention, KVCache
from modules.transformer.positions import Rotary


class FeedForward(nn.Module):
    """W₂ φ(W₁ x + b₁) + b₂, the same for every token: (B, T, C) -> (B, T, C)."""

    def __init__(
        self, width: int, hidden: int, activation: Literal["gelu", "relu"] = "gelu", bias: bool = True
    ) -> None:
        super().__init__()
        if activation not in ("gelu", "relu"):
            raise ValueError(f"activation is {activation!r}: choose gelu or relu.")
        self.activation = activation
        self.up = nn.Linear(width, hidden, bias=bias)
        self.down = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        h = self.up(x)  # (B, T, hidden)
        return self.down(F.gelu(h) if self.activation == "gelu" else F.relu(h))


class Block(nn.Module):
    """Transformer block.

    4(C² + C) + 2·C·hidden + hidden + C + 4C parameters with biases.

    Args:
        width: C. heads: H. hidden: width of the feed-forward layer, 4C by default.
        norm: "pre" or "post".
        activation: "gelu" or "relu".
        bias: in every linear layer and norm.
        dropout: of attention weights and of both sublayers' outputs, while training.
        rotary: for the attention's queries and keys.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        hidden: int | None = None,
        norm: Literal["pre", "post"] = "pre",
        activation: Literal["gelu", "relu"] = "gelu",
        bias: bool = True,
        dropout: float = 0.0,
        rotary: Rotary | None = None,
    ) -> None:
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f"norm is {norm!r}: choose pre or post.")
        self.norm, self.dropout = norm, dropout
        self.attention = Attention(width, heads, bias=bias, rotary=rotary, dropout=dropout)
        self.feedforward = FeedForward(width, hidden or 4 * width, activation, bias)
        self.attention_norm = nn.LayerNorm(width, bias=bias)
        self.feedforward_norm = nn.LayerNorm(width, bias=bias)

    def extra_repr(self) -> str:
        return f"norm={self.norm}, dropout={self.dropout}"

    def forward(
        self, x: Tensor, causal: bool = False, padding: Tensor | None = None, cache: KVCache | None = None
    ) -> Tensor:
        """(B, T, C) -> (B, T, C); arguments as in `Attention`."""
        if self.norm == "pre":
            x = x + self.drop(self.attention(self.attention_norm(x), None, causal, padding, cache))
            return x + self.drop(self.feedforward(self.feedforward_norm(x)))
        x = self.attention_norm(x + self.drop(self.attention(x, None, causal, padding, cache)))
        return self.feedforward_norm(x + self.drop(self.feedforward(x)))

    def drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training) if self.dropout else x
