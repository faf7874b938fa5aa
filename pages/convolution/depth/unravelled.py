"""Residual network as a sum over paths: each goes through a block's branch or past it.

    h_k = h_{k−1} + f_k(h_{k−1})        dy/dx = u (I + J_K) ⋯ (I + J_1) v = Σ_S u ∏_{k∈S} J_k v

A sum over the 2^K sets S of blocks, C(K, k) of them of k blocks: exact at each input, for the derivative. Of
the output itself it holds where the branches are linear. Rows of a Jacobian are outputs, so the last block
stands leftmost; [UDL] equations 11.3 and 11.6 have the order of the transposed ones.

Shapes: K blocks of D units, P = 2^K paths, in the order of their lengths.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.mnist1d import MNIST1D
from lab.errors import UserError
from lab.lenses import stock, typed
from lab.seeding import seeded
from modules.convolution.residual import Residual
from modules.convolution.residual_mlp import ResidualMLP

MOST, WIDTH, BATCH_SIZE, RATE = 5, 50, 100, 0.05
WAYS: tuple[Literal["identity", "none"], ...] = ("identity", "none")


def gains(text: str) -> tuple[float, ...]:
    """Factors a_k of linear blocks."""
    values = typed.numbers(text, 10, MOST)
    if not values:
        raise UserError(f"Write one to {MOST} factors, such as 0.5 -0.2 0.1.")
    return values


def numbers(text: str) -> tuple[int, ...]:
    """Numbers of blocks from 1, each once, rising."""
    values = typed.numbers(text, MOST, 20)
    if any(v != int(v) or v < 1 for v in values):
        raise UserError(f"Write whole numbers of blocks, from 1 to {MOST}, such as 1 3.")
    return tuple(sorted({int(v) for v in values}))


def toggled(deleted: tuple[int, ...], block: int) -> str:
    """What is to be typed to delete a block, or to put it back."""
    return " ".join(str(k) for k in sorted(set(deleted) ^ {block}))


@dataclass(frozen=True)
class Paths:
    """
    Attributes:
        through: (P, K) bool, blocks whose branch a path takes. terms: (P,), what it adds to dy/dx,
            0 of one through a deleted block.
        kept: (P,) bool, through no block that is deleted.
        whole, left: dy/dx by backpropagation, of all blocks and of those that are left.
    """

    through: Tensor
    terms: Tensor
    kept: Tensor
    whole: float
    left: float

    @property
    def lengths(self) -> Tensor:
        """(P,)."""
        return self.through.sum(1)

    @property
    def added(self) -> list[int]:
        """Rows of the kept paths, in their order."""
        result: list[int] = self.kept.nonzero()[:, 0].tolist()
        return result

    @property
    def by_length(self) -> Tensor:
        """(1 + number of kept paths, K + 1), the sum of the first paths, by their length."""
        K = self.through.shape[1]
        rows = self.terms[self.added, None] * F.one_hot(self.lengths[self.added], K + 1)
        return F.pad(rows.cumsum(0), (0, 0, 1, 0))


def terms(jacobians: Sequence[Tensor], u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """The sets of blocks (P, K), by length, and u ∏ J v of each (P,).

    Args:
        jacobians: of the branches (D, D), the first block's first. u, v: (D,).
    """
    K = len(jacobians)
    chosen = [S for length in range(K + 1) for S in combinations(range(K), length)]
    through = torch.zeros(len(chosen), K, dtype=torch.bool)
    values = []
    for row, S in enumerate(chosen):
        through[row, list(S)] = True
        h = v
        for k in S:  # the first block acts first
            h = jacobians[k] @ h
        values.append(u @ h)
    return through, torch.stack(values)


def checked(deleted: tuple[int, ...], K: int) -> tuple[int, ...]:
    """The numbers of blocks to delete, if there are so many.

    Raises:
        UserError: there is no such block.
    """
    if deleted and deleted[-1] > K:
        raise UserError(f"There is no block {deleted[-1]} to delete: the network has {K}.")
    return deleted


def paths(
    blocks: Sequence[nn.Module], first: nn.Module, last: Tensor, x: Tensor, deleted: tuple[int, ...]
) -> Paths:
    """All paths of a network at an input x (D_x,), of the derivative along x.

    Args:
        blocks: residual, without a scale. first: layer of the input, linear. last: u (D,).
        deleted: numbers of blocks, from 1.
    """  # fmt: skip
    checked(deleted, len(blocks))

    def slope(chosen: Sequence[nn.Module]) -> float:
        scale = torch.ones((), dtype=x.dtype, requires_grad=True)
        y = last @ nn.Sequential(*chosen)(first(scale * x[None]))[0]
        return float(torch.autograd.grad(y, scale)[0])

    with torch.no_grad():
        h, v = first(x[None])[0], first(x[None])[0] - first(torch.zeros_like(x[None]))[0]
    jacobians = []
    for k, block in enumerate(blocks, 1):
        assert isinstance(block, Residual)
        if k in deleted:
            jacobians.append(torch.zeros(len(h), len(h), dtype=h.dtype))
            continue
        branch = block.branch
        jacobians.append(torch.autograd.functional.jacobian(lambda z, f=branch: f(z[None])[0], h))
        h = block(h[None])[0].detach()  # what later branches see
    through, values = terms(jacobians, last, v)
    gone = torch.tensor([k + 1 in deleted for k in range(len(blocks))])
    left = [block for k, block in enumerate(blocks, 1) if k not in deleted]
    return Paths(through, values.detach(), ~(through & gone).any(1), slope(blocks), slope(left))


@torch.no_grad()
def linear_blocks(a: Sequence[float]) -> list[nn.Module]:
    """h + a_k h, one unit."""

    def build(factor: float) -> Residual:
        layer = seeded(lambda: nn.Linear(1, 1, bias=False, dtype=torch.float64))
        layer.weight.fill_(factor)
        return Residual(nn.Sequential(layer), nn.Identity())

    return [build(factor) for factor in a]


def linear_paths(a: Sequence[float], deleted: tuple[int, ...]) -> Paths:
    """Paths of linear blocks, y = ∏ (1 + a_k) x, at x = 1."""
    one = torch.ones(1, dtype=torch.float64)
    return paths(linear_blocks(a), nn.Identity(), one, one, deleted)


# --- Trained ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """A residual and a plain network, each (first layer, K blocks, last layer)."""

    residual: nn.Sequential
    plain: nn.Sequential


def fitted(blocks: int, steps: int, seed: int) -> Pair:
    """Two networks of K blocks, trained on the same batches of MNIST-1D by SGD with momentum .9, gradients
    clipped at a norm of 1: without a norm or a scale some seeds would diverge."""
    x, y = stock.examples(MNIST1D, "train")
    nets = []
    for way in WAYS:
        build = partial(ResidualMLP, width=WIDTH, blocks=blocks, norm="none", shortcut=way)
        model = seeded(build, seed)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9)
        generator = torch.Generator().manual_seed(seed)
        for _ in range(steps):
            batch = torch.randint(len(x), (BATCH_SIZE,), generator=generator)
            loss = F.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        layers = nn.Sequential(*list(model.layers)[1:])  # the first one flattens
        nets.append(layers.requires_grad_(False).double())
    return Pair(*nets)


def trained_paths(pair: Pair, deleted: tuple[int, ...]) -> Paths:
    """Paths of the residual network at the first test example, of the logit of its class."""
    x, y = stock.examples(MNIST1D, "test")
    first, *blocks, last = pair.residual
    assert isinstance(last, nn.Linear)
    return paths(blocks, first, last.weight[int(y[0])], x[0].flatten().double(), deleted)


@torch.no_grad()
def errors(net: nn.Sequential, deleted: tuple[int, ...] = ()) -> float:
    """Share of the test set that a network without these blocks gets wrong."""
    x, y = stock.examples(MNIST1D, "test")
    h = x.flatten(1).double()
    for number, layer in enumerate(net):
        if number not in deleted:  # 0 is the first layer
            h = layer(h)
    return float((h.argmax(1) != y).double().mean())


def deletions(pair: Pair, deleted: tuple[int, ...]) -> tuple[list[str], Tensor]:
    """Names of what is deleted, and the errors of residual and plain network without it (2, M): nothing,
    each block alone, and the chosen ones if several."""
    K = len(pair.residual) - 2
    sets: list[tuple[int, ...]] = [(), *((k,) for k in range(1, K + 1))]
    if len(checked(deleted, K)) > 1:
        sets.append(deleted)
    names = ["none", *(f"{'+'.join(map(str, S))}" for S in sets[1:])]
    return names, torch.tensor([[errors(net, S) for S in sets] for net in (pair.residual, pair.plain)])
