"""Feed-forward layers: each token thinks alone.

    dense   W₂ φ(W₁ x + b₁) + b₂                φ = GELU, its tanh approximation, ReLU or SiLU
    gated   W₂ (φ(W₁ x) ⊙ W₃ x)                 φ = SiLU: SwiGLU; without biases in the original

A gated layer has three matrices: with hidden = 8C/3 it is as large as a dense one with hidden = 4C. [LLM]
writes W₁x for columns and ·W₂ for rows in one formula; here tokens are rows throughout.

Read as a memory: row i of W₁ is a pattern that is looked for in a token, column i of W₂ what is added where
it is found.

References: Shazeer 2020, arXiv:2002.05202 (gated); Geva et al. 2020, arXiv:2012.14913 (memory); [GM] §1.6.4,
[UDL] §12.4, [LLM] eq. 1.30 and part 4.
"""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require_one_of

Activation = Literal["gelu", "gelu-tanh", "relu", "silu"]


def activate(name: Activation, h: Tensor) -> Tensor:
    """φ(h); "gelu-tanh" is the approximation that GPT-2 was trained with."""
    if name == "gelu":
        return F.gelu(h)
    if name == "gelu-tanh":
        return F.gelu(h, approximate="tanh")
    return F.relu(h) if name == "relu" else F.silu(h)


def require_activation(name: str) -> None:
    """
    Raises:
        ValueError: it is none of the four.
    """
    require_one_of(Activation, activation=name)


class FeedForward(nn.Module):
    """W₂ φ(W₁ x + b₁) + b₂, the same for every token: (B, T, C) -> (B, T, C)."""

    def __init__(self, width: int, hidden: int, activation: Activation = "gelu", bias: bool = True) -> None:
        super().__init__()
        require_activation(activation)
        self.activation = activation
        self.up = nn.Linear(width, hidden, bias=bias)
        self.down = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(activate(self.activation, self.up(x)))  # (B, T, hidden) between


class GatedFeedForward(nn.Module):
    """W₂ (φ(W₁ x) ⊙ W₃ x), the same for every token: (B, T, C) -> (B, T, C)."""

    def __init__(self, width: int, hidden: int, activation: Activation = "silu", bias: bool = False) -> None:
        super().__init__()
        require_activation(activation)
        self.activation = activation
        self.up = nn.Linear(width, hidden, bias=bias)  # W₃
        self.gate = nn.Linear(width, hidden, bias=bias)  # W₁
        self.down = nn.Linear(hidden, width, bias=bias)  # W₂

    def forward(self, x: Tensor) -> Tensor:
        return self.down(activate(self.activation, self.gate(x)) * self.up(x))
