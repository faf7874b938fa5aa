"""Norms of a vector and of a batch.

    LN(x) = γ (x − μ)/√(σ² + ε) + β,   RMSNorm(x) = γ x/√(mean x² + ε)

Shapes: N rows, d features; F frames.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from lab.errors import UserError
from lab.lenses import typed
from modules.transformer.block import norm_layer
from pages.transformer.norms.room import ADDED, BATCHED, LAYER, RMS, RUNNING

OPTIONS = ["the same", "other than before"]


def read_vector(text: str) -> tuple[float, ...]:
    """A vector of two numbers or more.

    Raises:
        UserError: it has fewer.
    """
    numbers = typed.numbers(text, 1000, 12)
    if len(numbers) < 2:
        raise UserError("A norm needs two features or more: write some such as 1 2 3.")
    return numbers


def read_claim(text: str) -> tuple[float, ...]:
    """A vector, or nothing."""
    return typed.numbers(text, 1000, 12)


def read_rows(text: str) -> tuple[tuple[float, ...], ...]:
    """Rows of equally many numbers.

    Raises:
        UserError: they differ, or there are more than 8.
    """
    rows = tuple(read_vector(part) for part in text.split("/"))
    if len(rows) > 8 or len({len(row) for row in rows}) > 1:
        raise UserError("Write up to 8 rows of equally many numbers, with / between.")
    return rows


def adjusted(norm: nn.Module, gain: float, shift: float) -> nn.Module:
    """A norm in float64 with these γ and β; RMSNorm has no β."""
    norm = norm.double()
    with torch.no_grad():
        for name, value in (("weight", gain), ("bias", shift)):
            if getattr(norm, name, None) is not None:
                getattr(norm, name).fill_(value)
    return norm


@dataclass(frozen=True)
class Vector:
    """
    Attributes:
        x, layer, rms: (d,), a vector and its norms. claimed: (d,) or empty, what is said to be `layer`.
        mean, variance, root: μ, σ² with 1/d, and √mean x².
    """

    x: np.ndarray
    layer: np.ndarray
    rms: np.ndarray
    claimed: np.ndarray
    mean: float
    variance: float
    root: float

    def verdict(self) -> str:
        """What mean and variance say of the claimed vector."""
        if not len(self.claimed):
            return f"μ = {self.mean:.4g}, σ² = {self.variance:.6g}, root mean square {self.root:.6g}."
        mean, variance = float(self.claimed.mean()), float(self.claimed.var())
        right = abs(mean) < 0.02 and abs(variance - 1) < 0.02
        return f"Claimed: mean {mean:.3f}, variance {variance:.3f}: {'' if right else 'not '}normalised."


@torch.no_grad()
def vector(x: Sequence[float], claimed: Sequence[float], gain: float, shift: float, power: int) -> Vector:
    """Both norms of one vector.

    Raises:
        UserError: the claimed vector has another length.
    """
    if claimed and len(claimed) != len(x):
        raise UserError(f"The claimed vector has {len(claimed)} numbers and x {len(x)}: give equally many.")
    t = torch.tensor(list(x), dtype=torch.float64)
    layer, rms = (
        adjusted(norm_layer(kind, len(x), 10.0**power), gain, shift)(t) for kind in ("layer", "rms")
    )
    return Vector(
        t.numpy(), layer.numpy(), rms.numpy(), np.array(claimed, float), float(t.mean()),
        float(t.var(correction=0)), float(t.square().mean().sqrt()),
    )  # fmt: skip


def vector_equation(one: Vector, power: int) -> str:
    """Of the second feature, LaTeX."""
    return (
        rf"\mathrm{{LN}}(x)_2 = \gamma\,\frac{{{one.x[1]:g} {-one.mean:+.4g}}}"
        rf"{{\sqrt{{{one.variance:.6g} + 10^{{{power}}}}}}} + \beta = {one.layer[1]:.4f},\qquad"
        rf" \frac{{\gamma\,x_2}}{{\mathrm{{RMS}}}} = {one.rms[1]:.4f}"
    )


@dataclass(frozen=True)
class Change:
    """Outputs as something is added to the first feature of the last row, frame by frame.

    Attributes:
        outputs, apart: (F, N, d), and |how far they are from the first frame|.
    """

    outputs: np.ndarray
    apart: np.ndarray


def batch_norm(d: int, eps: float) -> nn.BatchNorm1d:
    """torch's, with running averages of 64 rows of N(1, 2²)."""
    norm = nn.BatchNorm1d(d, eps, momentum=None).double()
    rows = torch.randn(64, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 + 1
    norm(rows)
    return norm


@torch.no_grad()
def change(rows: Sequence[Sequence[float]], kind: str, gain: float, shift: float, power: int) -> Change:
    """Outputs of a norm at each of `ADDED`.

    Raises:
        UserError: BatchNorm's batch statistics of one row.
    """
    x = torch.tensor([list(row) for row in rows], dtype=torch.float64)
    if kind == BATCHED and len(x) == 1:
        raise UserError("One row has no batch statistics: add a row, or take running averages (evaluation).")
    eps, d = 10.0**power, x.shape[1]
    norm: nn.Module
    if kind in (LAYER, RMS):
        norm = norm_layer("layer" if kind == LAYER else "rms", d, eps)
    else:
        norm = batch_norm(d, eps)
    norm = adjusted(norm, gain, shift).train(kind != RUNNING)
    outputs = []
    for amount in ADDED:
        changed = x.clone()
        changed[-1, 0] += amount
        outputs.append(norm(changed))
    y = torch.stack(outputs)
    return Change(y.numpy(), (y - y[0]).abs().numpy())


def reached(one: Change, frame: int) -> list[int]:
    """Rows whose output has changed, from 1."""
    return [int(row) + 1 for row in np.flatnonzero(one.apart[frame].max(1) > 1e-12)]


def change_captions(one: Change) -> list[str]:
    texts, n = [], len(one.apart[0])
    for f, amount in enumerate(ADDED):
        rows = ", ".join(map(str, reached(one, f))) or "none"
        texts.append(f"x₁ of row {n} plus {amount:g}: outputs have changed in row(s) {rows} of {n}.")
    return texts


def change_equations(one: Change) -> list[str]:
    return [
        r"\Delta:\quad " + r",\ ".join(rf"\text{{row {i + 1}}}\ {v:.3f}" for i, v in enumerate(apart.max(1)))
        for apart in one.apart
    ]
