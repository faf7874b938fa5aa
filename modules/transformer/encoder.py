"""BERT's encoder: tokens with learned positions and segments, normed, then bidirectional post-norm blocks.

    x⁰_t = LN(e(token_t) + p_t + s(segment_t))        x^l = Block_l(x^{l−1}),  no mask but that of padding

<cls> stands first and <sep> behind each of the texts; what lies behind the first <sep> is segment 1.

Shapes: `B` batch, `T` time, `C` channels.

References: Devlin et al. 2019, arXiv:1810.04805; [UDL] 12.6, [GM] 1.6.4.
"""

import torch
from torch import Tensor, nn

from modules.base import require
from modules.transformer.feedforward import Activation
from modules.transformer.positions import Learned
from modules.transformer.stack import Stack

EPS = 1e-12  # of all norms, as the published weights have it


class Encoder(nn.Module):
    """Encoder of one text or two.

    With the defaults of `feedforward_width` and V tokens it has V·C + length·C + 2·C + 2·C parameters, and
    those of its blocks.

    Args:
        vocab_size: V.
        length: positions that are told apart.
        layers, heads, width: L, H, C.
        feedforward_width: hidden units of the feed-forward layers; None is 4C.
        dropout: of embeddings, attention weights and sublayers, while training.
        separator, padding: the numbers of <sep> and <pad>.
        activation, eps: φ of the feed-forward layers, and ε of all norms.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        vocab_size: int,
        length: int = 64,
        layers: int = 4,
        heads: int = 4,
        width: int = 64,
        feedforward_width: int | None = None,
        dropout: float = 0.0,
        separator: int = 1,
        padding: int = 4,
        activation: Activation = "gelu",
        eps: float = EPS,
    ) -> None:
        super().__init__()
        require(1, vocab_size=vocab_size, length=length, width=width)
        require(0, below=vocab_size, separator=separator, padding=padding)
        self.separator, self.padding = separator, padding
        self.embedding = nn.Embedding(vocab_size, width)
        self.positions = Learned(length, width)
        self.segments = nn.Embedding(2, width)
        require(0, eps=eps)
        self.norm = nn.LayerNorm(width, eps)
        self.stack = Stack(
            layers, heads, width, length, positions="none", norm="post", dropout=dropout,
            feedforward_width=feedforward_width, activation=activation, eps=eps,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return f"separator={self.separator}, padding={self.padding}"

    def second(self, tokens: Tensor) -> Tensor:
        """1 behind the first <sep> of each row, 0 before and at it: (B, T) -> (B, T)."""
        ends = (tokens == self.separator).cumsum(1)
        return ((ends - (tokens == self.separator).long()) > 0).long()

    def embed(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Input of the first block: (B, T) -> (B, T, C); without segments as of `second`."""
        if segments is None:
            segments = self.second(tokens)
        return self.norm(self.positions(self.embedding(tokens)) + self.segments(segments))

    def forward(
        self, tokens: Tensor, segments: Tensor | None = None, padding: Tensor | None = None
    ) -> Tensor:
        """Output embeddings: (B, T) -> (B, T, C).

        Args:
            segments: (B, T), 0 or 1, instead of those of `second`.
            padding: (B, T), True where nobody may look, instead of where the token is <pad>.
        """
        if padding is None:
            padding = tokens == self.padding
        return self.stack(self.embed(tokens, segments), padding=padding)


def require_rows(tokens: Tensor) -> None:
    """
    Raises:
        ValueError: tokens are not (B, T), or there is none in a row.
    """
    if tokens.ndim != 2 or not tokens.shape[1] or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens are {tuple(tokens.shape)} {tokens.dtype}: give (B, T) int64, T at least 1.")
