"""Couplings followed number by number.

    h1' = h1,    h2' = g(h2; φ(h1))

Shapes: h (D,); L layers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lab.seeding import seeded
from modules.flow.coupling import MLP, Coupling, halves
from modules.flow.layer import FlowLayer
from modules.flow.linear import Permutation
from modules.flow.monotone import Additive, Affine, Monotone
from modules.flow.spline import RationalQuadratic

KINDS = ("additive", "affine", "spline")
TURNS = ("halves in turn", "random order", "never")
NETS = ("s = tanh h₁, t = h₁²", "random network")
LEAST, MOST = 2, 6  # numbers
REACH = 4.0  # typed numbers, and the spline's bound


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
        return Coupling(features, g, ByHand(changed, g.count), flip)

    def initialise() -> MLP:
        made = MLP(kept, changed, g.count, (16,))
        for parameter in made.parameters():
            parameter.data.normal_(0, 0.3 if kind == "spline" else 0.5)
        return made

    return Coupling(features, g, seeded(initialise, seed), flip).double().eval().requires_grad_(False)


def layers(
    kind: str, net: str, turns: str, features: int, count: int, seed: int
) -> list[tuple[Permutation | None, Coupling]]:
    """L couplings, each with what changes the order before it, if anything does."""
    made: list[tuple[Permutation | None, Coupling]] = []
    for number in range(count):
        order = Permutation(features, seed=seed + number) if turns == TURNS[1] and number else None
        flip = turns == TURNS[0] and number % 2 == 1
        made.append((order, coupling(kind, net, features, flip, 100 * number + seed)))
    return made


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


def looks(h: Tensor, stack: list[tuple[Permutation | None, Coupling]]) -> Iterator[Look]:
    """Each layer at work on the numbers h."""
    through = torch.eye(len(h), dtype=h.dtype)
    came_from, changed = torch.arange(len(h)), torch.zeros(len(h), dtype=torch.bool)
    for order, layer in stack:
        if order is not None:
            h, through = h[order.order], through[order.order]
            came_from, changed = came_from[order.order], changed[order.order]
        kept, rest = layer.apart(h)
        theta = layer.conditioner(kept)
        slope = layer.monotone.generate(rest, theta)[1]
        shift = theta[..., 0] if layer.monotone.count <= 2 else None
        nothing = torch.full_like(kept, math.nan)
        after, ladj = layer.generate(h)
        copied = layer.together(torch.ones_like(kept), torch.zeros_like(rest)).bool()
        changed = changed | ~copied
        own = jacobian(layer, h)
        through = own @ through
        yield Look(
            h, after, layer.together(nothing, slope),
            None if shift is None else layer.together(nothing, shift), came_from.tolist(), copied, changed,
            float(ladj), own, through,
        )  # fmt: skip
        h = after


def jacobian(layer: FlowLayer, h: Tensor) -> Tensor:
    """∂h′_i/∂h_j by autograd, (D, D): as many copies of h as rows, one backward pass."""
    with torch.enable_grad():
        copies = h.expand(len(h), -1).clone().requires_grad_()
        (found,) = torch.autograd.grad(layer.generate(copies)[0], copies, torch.eye(len(h), dtype=h.dtype))
    return found


def round_trip(h: Tensor, stack: list[tuple[Permutation | None, Coupling]]) -> float:
    """The largest error of the way there and back."""
    path = [layer for pair in stack for layer in pair if layer is not None]
    x = h
    for layer in path:
        x = layer.generate(x)[0]
    for layer in reversed(path):
        x = layer.normalize(x)[0]
    return float((x - h).abs().max())


def rows(found: list[Look]) -> dict[str, Tensor]:
    """What the table has, row by row: name -> (L, D)."""
    made = {"h": torch.stack([look.before for look in found])}
    made["s = log g′"] = torch.stack([look.slope for look in found])
    shifts = [look.shift for look in found if look.shift is not None]
    if shifts:
        made["t"] = torch.stack(shifts)
    return made | {"h′": torch.stack([look.after for look in found])}


def places(count: int = 81) -> Tensor:
    """Where the maps g are drawn, (P,)."""
    return torch.linspace(-REACH - 1, REACH + 1, count, dtype=torch.float64)


def maps(found: list[Look], stack: list[Coupling]) -> tuple[Tensor, Tensor]:
    """The maps g of the changed numbers, (L, K, P), and their points, (L, K, 2); NaN where a layer changes
    fewer than K."""
    at = places()
    most = max(int((~look.copied).sum()) for look in found)
    values = at.new_full((len(found), most, len(at)), math.nan)
    points = at.new_full((len(found), most, 2), math.nan)
    for number, (look, layer) in enumerate(zip(found, stack, strict=True)):
        kept, rest = layer.apart(look.before)
        theta = layer.conditioner(kept)[:, None].expand(-1, len(at), -1)
        values[number, : len(rest)] = layer.monotone.generate(at.expand(len(rest), -1), theta)[0]
        points[number, : len(rest)] = torch.stack([rest, layer.apart(look.after)[1]], -1)
    return values, points


# --- Words ----------------------------------------------------------------------------------------


def named(which: Tensor) -> str:
    """The positions that a mask names, from 1."""
    return ", ".join(str(i + 1) for i in which.nonzero()[:, 0].tolist()) or "none"


def captions(found: list[Look]) -> list[str]:
    said, total = [], 0.0
    for number, look in enumerate(found, start=1):
        total += look.ladj
        waits = "every input has been changed by now"
        if not look.changed.all():
            left = sorted(look.came_from[i] + 1 for i in (~look.changed).nonzero()[:, 0].tolist())
            waits = f"no layer has changed input {', '.join(map(str, left))}"
        said.append(
            f"Layer {number} copies {named(look.copied)} and changes {named(~look.copied)}. "
            f"ladj {signed(look.ladj)}, in all {signed(total)}; {waits}."
        )
    return said


def signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def equations(found: list[Look], kind: str) -> list[str]:
    """The first changed number of each layer."""
    made = []
    for look in found:
        at = int((~look.copied).nonzero()[0])
        h, after, slope = (float(v[at]) for v in (look.before, look.after, look.slope))
        if look.shift is None:
            how = rf"g({h:.3f};\ \varphi(h_1))"
        elif kind == "affine":
            how = rf"{h:.3f} \cdot e^{{{slope:.3f}}} + ({float(look.shift[at]):.3f})"
        else:
            how = rf"{h:.3f} + ({float(look.shift[at]):.3f})"
        made.append(rf"h'_{{{at + 1}}} = {how} = {after:.3f}")
    return made
