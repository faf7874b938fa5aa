r"""Conditioning of a denoiser on the time t, and perhaps a class y; a residual network of points.

    τ(t) = W_2 SiLU(W_1 [sin tω_0, cos tω_0, sin tω_1, …]) + e_y,     ω_i = 10000^{−2i/E}

τ scales and shifts the features of every residual block. Label K stands for "no class": with it one network
is the conditional and the unconditional one. The last layer starts at zero, so an untrained network predicts
ε̂ = 0 and its loss is 1 per dimension.

Shapes: x (B, D), t (B,) in steps of the chain (of real numbers too), y (B,) int64 -> (B, D).
References: Ho et al. 2020, arXiv:2006.11239; Vaswani et al. 2017 (waves); Perez et al. 2018,
arXiv:1709.07871 (scale and shift); Ho & Salimans 2022, arXiv:2207.12598 (null label). Beyond the texts.
"""

import torch
from torch import Tensor, nn

from modules.base import require
from modules.transformer.positions import sinusoids


class TimeEmbedding(nn.Module):
    """Embedding of t, and of y where there are classes, as one vector (B, width).

    Args:
        width: E, even.
        num_classes: K; 0 where the model knows none. The table has a row more, for "none".
    """

    def __init__(self, width: int, num_classes: int = 0) -> None:
        super().__init__()
        require(2, width=width)
        sinusoids(torch.zeros(1), width)  # refuse an odd width now
        self.width, self.num_classes = width, num_classes
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        self.classes = nn.Embedding(num_classes + 1, width) if num_classes else None

    def extra_repr(self) -> str:
        return f"width={self.width}, num_classes={self.num_classes}"

    def forward(self, t: Tensor, y: Tensor | None = None) -> Tensor:
        waves = sinusoids(t, self.width).to(self.first.weight)
        tau = self.second(nn.functional.silu(self.first(waves)))
        if self.classes is None:
            return tau
        y = torch.full_like(t, self.num_classes, dtype=torch.long) if y is None else y
        return tau + self.classes(y)


class Residual(nn.Module):
    """Residual block h + W_2 SiLU((1 + s) ⊙ W_1 SiLU(h) + b), with s and b from τ."""

    def __init__(self, width: int, embedding: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, width)
        self.modulate = nn.Linear(embedding, 2 * width)

    def forward(self, h: Tensor, tau: Tensor) -> Tensor:
        scale, shift = self.modulate(tau).chunk(2, -1)
        inner = self.inner(nn.functional.silu(h)) * (1 + scale) + shift
        return h + self.outer(nn.functional.silu(inner))


class MLPDenoiser(nn.Module):
    """Denoiser of points: a residual network whose every block is given t.

    Args:
        features: D. width, blocks: of the network. embedding: E.
        num_classes: see `TimeEmbedding`.
        outputs: numbers of its output, where they are not D.
    """

    def __init__(
        self, features: int, width: int = 128, blocks: int = 3, embedding: int = 64, num_classes: int = 0,
        outputs: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        outputs = features if outputs is None else outputs
        require(1, features=features, width=width, blocks=blocks, outputs=outputs)
        self.time = TimeEmbedding(embedding, num_classes)
        self.first = nn.Linear(features, width)
        self.blocks = nn.ModuleList(Residual(width, embedding) for _ in range(blocks))
        self.last = nn.Linear(width, outputs)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: Tensor, t: Tensor, y: Tensor | None = None) -> Tensor:
        tau, h = self.time(t, y), self.first(x)
        for block in self.blocks:
            h = block(h, tau)
        return self.last(nn.functional.silu(h))
