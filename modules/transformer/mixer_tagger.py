"""Tagger of tokens that reads from the left: a stack of state-space mixers, with no position code.

    x ← x + Mixer(RMSNorm x),  L times;   Pr(y_t = k | x_{1:t}) = softmax_k[W RMSNorm(x_t) + b]

A label of token t depends on tokens 1 to t; the order of tokens is in the recurrence.

References: Gu, Dao 2023, arXiv:2312.00752 (its blocks, and selective copying); [LLM] part 4.
"""

from typing import Any, Literal

from torch import Tensor, nn

from modules.base import require
from modules.labels import Labels
from modules.transformer.block import Block, norm_layer
from modules.transformer.mamba import Mamba
from modules.transformer.s4 import S4


class MixerTagger(Labels):
    """Stack of Mamba or S4 mixers with a linear head.

    Args:
        vocab_size: V. num_classes: K.
        mixer: "mamba" or "s4".
        layers: L. width: C. states: N of each channel.
        selective, expand: of Mamba: False is its LTI twin; D / C, 2 by default. S4 has neither.
        delta: least and largest Δ at the start.
        training: optimizer and scheduler, see `Module`.

    Shapes: tokens (B, T) int64 -> logits (B, T, K); labels (B, T), −100 where none is asked for.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> MixerTagger(vocab_size=10, num_classes=8, layers=1, width=4, states=2).num_parameters
        302
    """

    def __init__(
        self,
        vocab_size: int,
        num_classes: int,
        mixer: Literal["mamba", "s4"] = "mamba",
        layers: int = 2,
        width: int = 32,
        states: int = 8,
        selective: bool | None = None,
        expand: int | None = None,
        delta: tuple[float, float] = (1e-3, 1e-1),
        **training: Any,
    ) -> None:
        super().__init__(**training)
        require(1, vocab_size=vocab_size, num_classes=num_classes, layers=layers, width=width)
        if mixer not in ("mamba", "s4"):
            raise ValueError(f"mixer is {mixer!r}: choose mamba or s4.")
        if mixer == "s4" and (selective is not None or expand is not None):
            raise ValueError("S4 has neither selective nor expand: leave them out, or choose mamba.")
        self.embedding = nn.Embedding(vocab_size, width)

        def new() -> nn.Module:
            if mixer == "s4":
                return S4(width, states, delta)
            return Mamba(width, states, expand or 2, selective=selective is not False, delta=delta)

        self.blocks = nn.ModuleList(Block(width, new(), None, normalization="rms") for _ in range(layers))
        self.final_norm = norm_layer("rms", width)
        self.head = nn.Linear(width, num_classes)

    def predict(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Logits (B, T, K) of tokens x (B, T); `padding` (B, T) is True before a row begins."""
        h = self.embedding(x)  # (B, T, C)
        for block in self.blocks:
            h = block(h, causal=True, padding=padding)
        return self.head(self.final_norm(h))
