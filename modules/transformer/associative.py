"""Associative memory: a stack of mixers that is shown pairs of a key and a value, and then asked for a key.

    h_t = e_{k_t} + e_{v_t},   h ← h + Mixer_l(LN h),   Pr(v | pairs, key) = softmax[W LN h_T + b]

There is no position and no feed-forward layer: what is recalled went through the mixer. Softmax attention
keeps all pairs, linear attention a sum of D × M numbers in each head, in which keys that are not orthogonal
disturb each other.

Shapes: `B` sequences, `T` tokens, pairs and the question, `C` channels, `K` values.

References: Katharopoulos et al. 2020, arXiv:2006.16236; Schlag, Irie, Schmidhuber 2021, arXiv:2102.11174
(the capacity of linear attention); [LLM] part 4 (linear attention falls behind softmax).
"""

from typing import Any, Literal

from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.labels import Labels
from modules.transformer.attention import Attention
from modules.transformer.block import Block, norm_layer
from modules.transformer.linear_attention import LinearAttention

MixerName = Literal["softmax", "elu", "positive", "hyperbolic"]


class AssociativeMemory(Labels):
    """Causal mixers that recall a value by its key.

    Args:
        vocab_size: different keys, what tokens are made of. num_classes: K, different values.
        mixer: softmax attention, or linear attention by its feature map.
        width: C. heads: H. layers: of the stack.
        count: draws of random features, see `LinearAttention`.
        training: optimizer and scheduler, see `Module`.

    Raises:
        ValueError: an argument is out of range; draws of a mixer that has none.

    Example:
        >>> AssociativeMemory(vocab_size=4, num_classes=3, width=8).num_parameters
        411
    """

    def __init__(
        self,
        vocab_size: int,
        num_classes: int,
        mixer: MixerName = "softmax",
        width: int = 32,
        heads: int = 1,
        layers: int = 1,
        count: int | None = None,
        **training: Any,
    ) -> None:
        require(1, vocab_size=vocab_size, num_classes=num_classes, layers=layers)
        super().__init__(**training)
        require_one_of(MixerName, mixer=mixer)
        if count is not None and mixer in ("softmax", "elu"):
            raise ValueError(f"{mixer} has no draws: leave count out, or choose positive or hyperbolic.")
        self.keys = nn.Embedding(vocab_size, width)
        self.values = nn.Embedding(num_classes + 1, width)  # the last is the blank of the question

        def new() -> nn.Module:
            if mixer == "softmax":
                return Attention(width, heads)
            return LinearAttention(width, heads, features=mixer, count=count)

        self.blocks = nn.ModuleList(Block(width, new(), None) for _ in range(layers))
        self.final_norm = norm_layer("layer", width)
        self.head = nn.Linear(width, num_classes)

    def predict(self, x: Tensor) -> Tensor:
        """Logits (B, K) of the value that belongs to the last key, of tokens x (B, T, 2)."""
        h = self.keys(x[..., 0]) + self.values(x[..., 1])  # (B, T, C)
        for block in self.blocks:
            h = block(h, causal=True)
        return self.head(self.final_norm(h[:, -1]))
