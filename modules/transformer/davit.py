"""Dual attention vision transformer: patches attend to patches, then channels to channels.

    spatial    y = softmax(Q Kᵀ / √D) V          N×N: tokens are patches, features are channels
    channel    yᵀ = softmax(Qᵀ K / √N) Vᵀ        d×d: tokens are channels, features are patches

A score of two channels is a sum over all N patches, so that 1/√N keeps its size for pictures of any size, as
1/√D does for scores of patches. (The published code divides by the root of the channels of a group.) A
channel's row of weights is the same for all patches: each layer of this kind sees the whole picture, with
parameters that do not depend on N, and does not know where a patch lies. Scores of patches cost N² d
multiply-adds, scores of channels d² N: twice as much for the d = 512 and N = 256 of problem 12.9.

Here patches attend to all patches and channels to all channels of a head, one head by default; the paper
takes windows and groups of channels.

Shapes: x (B, C, H, W), `N` patches, `H` heads or groups, `D` channels of each, logits (B, K).

References: Ding et al. 2022, arXiv:2204.03645; [UDL] 12.10.3, problem 12.9.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from torch import Tensor, nn

from modules.base import require
from modules.transformer.attention import Attention, attention_weights
from modules.transformer.block import Block
from modules.transformer.feedforward import FeedForward
from modules.transformer.heads import Heads
from modules.transformer.positions import Learned
from modules.transformer.recorder import AttentionRecord, current_recorder
from modules.transformer.vit import PatchClassifier


def score_multiply_adds(patches: int, channels: int) -> tuple[int, int]:
    """Multiply-adds of all scores, of patches and of channels: N² d and d² N. Values cost the same again."""
    return patches**2 * channels, channels**2 * patches


class ChannelAttention(Heads):
    """Attention among channels, a mixer of features over all tokens: 4(C² + C) parameters.

    Args:
        width: C. heads: groups of channels that attend to one another. bias: of all projections.
    """

    def forward(
        self, x: Tensor, source: None = None, causal: bool = False, padding: None = None, cache: None = None
    ) -> Tensor:
        """Mix channels of x (B, T, C) by what all its tokens say: (B, T, C).

        Raises:
            ValueError: a source, a causal mask, padding or a cache: a score is a sum over all tokens.
        """
        if causal or not (source is padding is cache is None):
            raise ValueError("A score of two channels is a sum over all tokens: give these and nothing else.")
        q, k, v = (t.mT for t in self.split(x))  # (B, H, D, T): channels are rows
        scale = x.shape[1] ** -0.5
        weights = attention_weights(q, k, scale=scale)  # (B, H, D, D)
        recorder = current_recorder()
        if recorder is not None:
            recorder.record(self, AttentionRecord(weights, q, k, v, scale))
        return self.join((weights @ v).mT)


class DaViT(PatchClassifier):
    """Classifier of pictures by attention among patches and among channels in turn.

    Args:
        image_shape: (C, H, W).
        num_classes: K.
        patch: P, pixels of a side; it divides H and W.
        layers: blocks; the first attends among patches, the second among channels, and so on.
        heads: of attention among patches.
        groups: of channels that attend to one another; 1 is all to all, a matrix d×d.
        width: d.
        dropout: of attention weights among patches and of sublayers, while training.

    Raises:
        ValueError: an argument is out of range, or patches do not tile the picture.

    Example:
        >>> DaViT((1, 8, 8), patch=2, layers=2, width=16)(torch.zeros(3, 1, 8, 8)).shape
        torch.Size([3, 10])
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        num_classes: int = 10,
        patch: int = 4,
        layers: int = 4,
        heads: int = 4,
        groups: int = 1,
        width: int = 64,
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        super().__init__(image_shape, patch, width, **training)
        require(1, num_classes=num_classes, layers=layers, heads=heads, groups=groups)
        require(0, below=1, dropout=dropout)
        self.positions = Learned(self.grid[0] * self.grid[1], width)
        self.blocks = nn.ModuleList(
            Block(
                width,
                ChannelAttention(width, groups) if l % 2 else Attention(width, heads, dropout=dropout),
                FeedForward(width, 4 * width),
                dropout=dropout,
            )
            for l in range(layers)
        )
        self.final_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, num_classes)
        self.draw_weights()

    def features(self, x: Tensor) -> Tensor:
        """Mean of all patches behind the last norm: (B, C, H, W) -> (B, d)."""
        x = self.positions(self.patches(x))
        for block in cast(Iterable[Block], self.blocks):
            x = block(x)
        return self.final_norm(x).mean(1)
