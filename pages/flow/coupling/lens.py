"""Couplings followed number by number.

    h1' = h1,    h2' = g(h2; φ(h1))          HINT: either half is first mapped by couplings of its own

Shapes: h (D,); L layers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lab.seeding import seeded
from modules.flow.coupling import Coupling, MLPConditioner, halves
from modules.flow.hint import RecursiveCoupling
from modules.flow.layer import FlowLayer
from modules.flow.linear import Permutation
from modules.flow.monotone import Additive, Affine, Monotone
from modules.flow.spline import RationalQuadratic

KINDS = ("additive", "affine", "spline")
HINT = "halves within halves"
TURNS = ("halves in turn", "random order", "never", HINT)
NETS = ("s = tanh h₁, t = h₁²", "random network")
LEAST, MOST = 2, 6  # numbers
REACH = 4.0  # typed numbers, and the spline's bound
Layer = Coupling | RecursiveCoupling


class ByHand(nn.Module):
    """A conditioner to calculate with: t = h1², s = tanh h1; h1 begins anew where h2 is longer."""

    def __init__(self, outputs: int, count: int) -> None:
        super().__init__()
        self.outputs, self.count = outputs, count

    def forward(self, h: Tensor, context: Tensor | None = None) -> Tensor:
        h = h[..., torch.arange(self.outputs) % h.shape[-1]]
        return torch.stack([h.square(), h.tanh()][: self.count], -1)


def monotone(kind: str, by_hand: bool) -> Monotone:
    if kind == "additive":
        return Additive()
    return Affine(None if by_hand else 2.0) if kind == "affine" else RationalQuadratic(5, REACH)


def coupling(kind: str, net: str, features: int, flip: bool, seed: int) -> Coupling:
    """One coupling in double precision; its network's weights are random, not zero as before training."""
    g = monotone(kind, net == NETS[0])
    kept, changed = reversed(halves(features)) if flip else halves(features)
    if net == NETS[0]:
        return Coupling(features, g, ByHand(changed, g.num_params), flip)

    random = seeded(
        lambda: initialise(
            MLPConditioner(kept, changed, g.num_params, (16,)), 0.3 if kind == "spline" else 0.5
        ),
        seed,
    )
    return Coupling(features, g, random, flip).double().eval().requires_grad_(False)


def initialise(result: nn.Module, spread: float) -> nn.Module:
    """The same with weights that do something."""
    for parameter in result.parameters():
        parameter.data.normal_(0, spread)
    return result


def recursive(kind: str, features: int, seed: int) -> RecursiveCoupling:
    """Couplings within couplings in double precision, their networks' weights random."""

    def build() -> RecursiveCoupling:
        recursive_coupling = RecursiveCoupling(features, lambda: monotone(kind, False), (16,))
        initialise(recursive_coupling, 0.3)  # maps follow each other: larger ones would run away
        return recursive_coupling

    return seeded(build, seed).double().eval().requires_grad_(False)


def layers(
    kind: str, net: str, turns: str, features: int, count: int, seed: int
) -> list[tuple[Permutation | None, Layer]]:
    """L couplings, each with what changes the order before it, if anything does."""
    results: list[tuple[Permutation | None, Layer]] = []
    for number in range(count):
        order = Permutation(features, seed=seed + number) if turns in (TURNS[1], HINT) and number else None
        flip, own = turns == TURNS[0] and number % 2 == 1, 100 * number + seed
        layer = recursive(kind, features, own) if turns == HINT else coupling(kind, net, features, flip, own)
        results.append((order, layer))
    return results


@dataclass(frozen=True)
class Look:
    """One layer at work. (D,) unless it says otherwise; NaN where a number is copied.

    Attributes:
        before, after: the numbers. slope: log g′. shift: t, None for splines.
        came_from: where each number stood at the start, from 0. copied: of this layer. changed: so far.
        ladj: of this layer, from g.
        jacobian: of this layer; through: of all so far, each (D, D).
    """

    before: Tensor
    after: Tensor
    slope: Tensor
    shift: Tensor | None
    came_from: list[int]
    copied: Tensor
    changed: Tensor
    ladj: float
    jacobian: Tensor
    through: Tensor

    @property
    def log_det(self) -> float:
        """log |det| of the Jacobian by autograd."""
        return float(torch.linalg.slogdet(self.jacobian).logabsdet)

    @property
    def copied_moves(self) -> float:
        """The largest change of a copied number: 0."""
        return float((self.after - self.before)[self.copied].abs().max())


def column(values: list[float]) -> Tensor:
    """h (D,) in double precision."""
    return torch.tensor(values, dtype=torch.float64)


def looks(h: Tensor, stack: list[tuple[Permutation | None, Layer]]) -> Iterator[Look]:
    """Each layer at work on the numbers h."""
    through = torch.eye(len(h), dtype=h.dtype)
    came_from, changed = torch.arange(len(h)), torch.zeros(len(h), dtype=torch.bool)
    for order, layer in stack:
        if order is not None:
            h, through = h[order.order], through[order.order]
            came_from, changed = came_from[order.order], changed[order.order]
        after, ladj = layer.generate(h)
        own = jacobian(layer, h)
        through = own @ through
        copied, slope, shift = parts(layer, h, own)
        changed = changed | ~copied
        yield Look(h, after, slope, shift, came_from.tolist(), copied, changed, float(ladj), own, through)
        h = after


def parts(layer: Layer, h: Tensor, own: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """Mask of the copied numbers, log g′ and t, each (D,), NaN where copied; a chain of g has no one t.

    Args:
        own: the layer's Jacobian at h.
    """
    if isinstance(layer, RecursiveCoupling):
        copied = torch.arange(len(h)) == 0
        return copied, own.diagonal().log().masked_fill(copied, math.nan), None
    kept, rest = layer.split(h)
    theta = layer.conditioner(kept)
    slope = layer.monotone.generate(rest, theta)[1]
    nothing = torch.full_like(kept, math.nan)
    shift = layer.merge(nothing, theta[..., 0]) if layer.monotone.num_params <= 2 else None
    copied = layer.merge(torch.ones_like(kept), torch.zeros_like(rest)).bool()
    return copied, layer.merge(nothing, slope), shift


def jacobian(layer: FlowLayer, h: Tensor) -> Tensor:
    """∂h′_i/∂h_j by autograd, (D, D): as many copies of h as rows, one backward pass."""
    with torch.enable_grad():
        copies = h.expand(len(h), -1).clone().requires_grad_()
        (result,) = torch.autograd.grad(layer.generate(copies)[0], copies, torch.eye(len(h), dtype=h.dtype))
    return result


def round_trip(h: Tensor, stack: list[tuple[Permutation | None, Layer]]) -> float:
    """The largest error of the way there and back."""
    path = [layer for pair in stack for layer in pair if layer is not None]
    x = h
    for layer in path:
        x = layer.generate(x)[0]
    for layer in reversed(path):
        x = layer.normalize(x)[0]
    return float((x - h).abs().max())


def rows(results: list[Look]) -> dict[str, Tensor]:
    """Rows of the table: name -> (L, D)."""
    result = {"h": torch.stack([look.before for look in results])}
    result["s = log g′"] = torch.stack([look.slope for look in results])
    shifts = [look.shift for look in results if look.shift is not None]
    if shifts:
        result["t"] = torch.stack(shifts)
    return result | {"h′": torch.stack([look.after for look in results])}


def places(count: int = 81) -> Tensor:
    """Places at which the maps g are drawn, (P,)."""
    return torch.linspace(-REACH - 1, REACH + 1, count, dtype=torch.float64)


def maps(results: list[Look], stack: list[Layer]) -> tuple[Tensor, Tensor]:
    """The maps g of the changed numbers, (L, K, P), and their points, (L, K, 2); NaN where a layer changes
    fewer than K."""
    at = places()
    most = max(int((~look.copied).sum()) for look in results)
    values = at.new_full((len(results), most, len(at)), math.nan)
    points = at.new_full((len(results), most, 2), math.nan)
    for number, (look, layer) in enumerate(zip(results, stack, strict=True)):
        moved = (~look.copied).nonzero()[:, 0]  # each in turn takes every place, the others stay
        varied = look.before.expand(len(moved), len(at), -1).clone()
        varied[torch.arange(len(moved)), :, moved] = at
        result = layer.generate(varied)[0]
        values[number, : len(moved)] = result[torch.arange(len(moved)), :, moved]
        points[number, : len(moved)] = torch.stack([look.before[moved], look.after[moved]], -1)
    return values, points
