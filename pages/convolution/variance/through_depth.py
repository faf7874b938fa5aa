"""Size of the hidden units through residual blocks at the start: measured, and for infinite width.

Shapes: F draws of weights and data, K blocks, N examples of D units.
"""

from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from lab.seeding import seeded
from modules.convolution.initialization import he
from modules.convolution.residual import Residual, Scale, dense_block
from modules.convolution.variance import Moments, Order, Scheme, moments
from pages.convolution.variance.room import (
    BATCH,
    DRAWS,
    FIXUP,
    HALF,
    LINEAR,
    NEGATIVE,
    NONE,
    NORMAL,
    RELU_FIRST,
    ROUNDS,
    SHARE,
    SKIP_INIT,
    UNITS,
)

EXAMPLES = 256
THEORIES: dict[str, Scheme] = {
    NONE: "none", HALF: "half", SHARE: "depth", BATCH: "batch norm", SKIP_INIT: "skip-init", FIXUP: "fixup",
}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """
    Attributes:
        second, batch: (F, K + 1), mean of h², and variance over the batch, after each block.
        theory: of K + 1 places.
        adds: whether the size grows by sums rather than by factors.
    """

    second: Tensor
    batch: Tensor
    theory: list[Moments]
    adds: bool

    @property
    def expected(self) -> Tensor:
        """E[h²] and batch variance in theory, (2, K + 1)."""
        return torch.tensor([[m.second for m in self.theory], [m.batch for m in self.theory]]).double()

    @property
    def growth(self) -> tuple[Tensor, Tensor]:
        """What each block does to E[h²] and to the batch variance: a factor, or what it adds; measured
        (2, F, K) and in theory (2, K)."""
        measured, theory = torch.stack([self.second, self.batch]), self.expected
        if self.adds:
            return measured.diff(dim=-1), theory.diff(dim=-1)
        return measured[..., 1:] / measured[..., :-1], theory[:, 1:] / theory[:, :-1]


def order_of(order: str) -> Order:
    return "v2" if order == RELU_FIRST else "linear-first"


def stack(scheme: str, order: str, alpha: float, blocks: int, width: int) -> tuple[Residual, nn.Linear]:
    """A block of K, and its linear layer, whose weights are to be drawn for each block."""
    theory = THEORIES[scheme]
    norm: Literal["batch", "none"] = "batch" if theory == "batch norm" else "none"
    scale = "none" if theory == "batch norm" else cast(Scale, theory)
    block = seeded(lambda: dense_block(width, order_of(order), "identity", norm, scale, blocks))
    linear = next(m for m in block.branch if isinstance(m, nn.Linear))
    linear.bias.data.zero_()
    if block.alpha is not None:
        block.alpha.data.fill_(alpha)
    return block.requires_grad_(False), linear


def through_depth(
    scheme: str, order: str, alpha: float, blocks: int, width: int, seed: int
) -> Measured:  # fmt: skip
    """Draws of K blocks with He weights and no biases, on N(0, 1) inputs."""
    block, linear = stack(scheme, order, alpha, blocks, width)
    second, batch = (torch.empty(len(DRAWS), blocks + 1, dtype=torch.float64) for _ in range(2))
    for f, draw in enumerate(DRAWS):
        generator = torch.Generator().manual_seed(1000 * seed + draw)
        h = torch.randn(EXAMPLES, width, generator=generator)
        for k in range(blocks + 1):
            if k:
                he(linear.weight, generator=generator)
                block.start()
                h = block(h)
            second[f, k] = h.double().square().mean()
            batch[f, k] = h.double().var(0, correction=0).mean()
    theory = THEORIES[scheme]
    known = moments(blocks, theory, order_of(order), alpha if theory == "skip-init" else 0.0)
    return Measured(second, batch, known, adds=theory == "batch norm")


# --- Order of operations --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cloud:
    """
    Attributes:
        h: (K + 1, D), the units of one example after each block.
    """

    h: Tensor

    @property
    def below(self) -> Tensor:
        """Share of the units below 0, (K + 1,)."""
        return (self.h < 0).double().mean(1)


def cloud(order: str, sign: str, first: str, seed: int) -> Cloud:
    """One example through blocks h + f·√(1/K): that factor holds their size and changes no sign."""
    block, linear = stack(SHARE, order, 0.0, ROUNDS, UNITS)
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(1, UNITS, generator=generator)
    if sign != NORMAL:
        h = -h.abs() if sign == NEGATIVE else h.abs()
    if first == LINEAR:
        h = h @ torch.randn(UNITS, UNITS, generator=generator) / UNITS**0.5
    rows = [h[0]]
    for _ in range(ROUNDS):
        he(linear.weight, generator=generator)
        h = block(h)
        rows.append(h[0])
    return Cloud(torch.stack(rows).double())
