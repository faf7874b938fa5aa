"""Blocks whose branches are drawn or gated: stochastic depth, Shake-shake, highway.

    stochastic depth   h + b f(h), b = 1 with probability p_l = 1 − (l/L)(1 − p_L);   at test h + p_l f(h)
    Shake-shake        h + α f(h) + (1−α) g(h), α uniform for each example;  the backward pass draws another;
                       at test α = ½
    highway            T ⊙ f(h) + (1 − T) ⊙ h,    T = σ(gate(h))

The probability falls with the index l of the block and is constant in time ([UDL] says of RandomDrop that it
decreases during training). Of linear blocks the mean over all 2^L masks is Π (I + p_l J_l), as at the test.

References: [UDL] notes of chapter 11; Huang et al. 2016, arXiv:1603.09382 (stochastic depth); Gastaldi 2017,
arXiv:1705.07485 (Shake-shake); Srivastava et al. 2015, arXiv:1505.00387 (highway).
"""

import torch
from torch import Tensor, nn

from modules.base import require


def survival(blocks: int, last: float = 0.5) -> list[float]:
    """p_l of blocks 1, …, L, falling linearly to `last`."""
    require(1, blocks=blocks)
    require(0, below=1 + 1e-12, last=last)
    return [1 - (block / blocks) * (1 - last) for block in range(1, blocks + 1)]


class StochasticDepth(nn.Module):
    """Residual block that is left out of a training step with probability 1 − `keep`."""

    def __init__(self, branch: nn.Module, keep: float) -> None:
        super().__init__()
        require(0, below=1 + 1e-12, keep=keep)
        self.branch, self.keep = branch, keep

    def extra_repr(self) -> str:
        return f"keep={self.keep}"

    def forward(self, h: Tensor) -> Tensor:
        if not self.training:
            return h + self.keep * self.branch(h)
        return h + self.branch(h) if float(torch.rand(())) < self.keep else h


class ShakeShake(nn.Module):
    """Two branches in shares that are drawn for each example, once forwards and once backwards."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, h: Tensor) -> Tensor:
        f, g = self.first(h), self.second(h)
        if not self.training:
            return h + (f + g) / 2
        alpha, beta = torch.rand(2, len(h), *[1] * (f.ndim - 1), dtype=h.dtype, device=h.device)
        seen = beta * f + (1 - beta) * g  # what the backward pass goes through
        return h + seen + (alpha * f + (1 - alpha) * g - seen).detach()


class Highway(nn.Module):
    """Each value is carried or transformed, as a gate says.

    Args:
        branch: f, which keeps the shape.
        gate: whose sigmoid is T; a bias below 0 starts near the identity.
    """

    def __init__(self, branch: nn.Module, gate: nn.Module) -> None:
        super().__init__()
        self.branch, self.gate = branch, gate

    def forward(self, h: Tensor) -> Tensor:
        transform = self.gate(h).sigmoid()
        return transform * self.branch(h) + (1 - transform) * h
