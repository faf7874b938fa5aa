"""Norms of a vector and of a batch, gradients by layer as the bench keeps them, Jacobians of residual layers.

    LN(x) = γ (x − μ)/√(σ² + ε) + β,   RMSNorm(x) = γ x/√(mean x² + ε),   dy/dx = (1 + w)^L = Σ_k C(L,k) w^k

Shapes: N rows, d features; F frames.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from lab.bench import norms as bench
from lab.errors import UserError
from lab.seeding import seeded
from modules.transformer.block import Block, norm_layer
from pages.transformer.norms.room import (
    ADDED,
    BATCHED,
    DEPTHS,
    FACTORS,
    FEEDFORWARD,
    LAYER,
    QUERY,
    RMS,
    RUNNING,
)

OPTIONS = ["the same", "other than before"]
FIELDS = {QUERY: "query", FEEDFORWARD: "feedforward"}


def read_numbers(text: str) -> tuple[float, ...]:
    """Up to 12 numbers of a text.

    Raises:
        UserError: a word is no number, there are more than 12, or one is beyond ±1,000.
    """
    numbers = []
    for word in [word for word in re.split(r"[\s,;]+", text.strip().replace("−", "-")) if word]:
        try:
            numbers.append(float(word))
        except ValueError:
            raise UserError(f"“{word}” is no number: write some such as 1 2 3.") from None
    if len(numbers) > 12 or not all(abs(number) <= 1000 for number in numbers):
        raise UserError("Write at most 12 numbers between −1,000 and 1,000.")
    return tuple(numbers)


def read_vector(text: str) -> tuple[float, ...]:
    """A vector of two numbers or more.

    Raises:
        UserError: it has fewer.
    """
    numbers = read_numbers(text)
    if len(numbers) < 2:
        raise UserError("A norm needs two features or more: write some such as 1 2 3.")
    return numbers


def read_claim(text: str) -> tuple[float, ...]:
    """A vector, or nothing."""
    return read_numbers(text)


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


# --- Gradients by layer ---------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def runs() -> list[bench.Run]:
    return bench.kept()


def gradients(part: str) -> dict[str, list[np.ndarray]]:
    """Placement -> of each depth the geometric mean over seeds of the gradient's norm by layer, (L,); of
    ReZero there is none."""
    field = FIELDS.get(part, "value")
    found: dict[str, list[np.ndarray]] = {}
    for placement in bench.PLACEMENTS[:3]:
        found[placement] = [
            np.exp(np.mean([np.log(getattr(run, field)) for run in runs()
                            if (run.placement, run.depth) == (placement, depth)], axis=0))
            for depth in DEPTHS
        ]  # fmt: skip
    return found


def gradient_captions(part: str) -> list[str]:
    by = gradients(part)
    return [
        f"L = {depth}, first to last layer: "
        + "; ".join(f"{name} {values[f][0]:.2g} to {values[f][-1]:.2g}" for name, values in by.items())
        + ". ReZero: 0 in all."
        for f, depth in enumerate(DEPTHS)
    ]


def gradient_equations(part: str) -> list[str]:
    by = gradients(part)
    return [
        rf"L={depth}:\quad \nabla_{{\text{{first}}}} / \nabla_{{\text{{last}}}} = "
        + r",\ ".join(rf"{values[f][0] / values[f][-1]:.3g}\ \text{{{name}}}" for name, values in by.items())
        for f, depth in enumerate(DEPTHS)
    ]


# --- Residual Jacobian ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Jacobian:
    """
    Attributes:
        slopes: dy/dx at each of `FACTORS`, by autograd through the blocks, (F,).
        terms: (F, L + 1), what the paths through k of the L sublayers give together.
    """

    slopes: np.ndarray
    terms: np.ndarray


def jacobian(layers: int) -> Jacobian:
    """Blocks without norms whose only sublayer is F(x) = w x."""
    slopes = []
    for w in FACTORS:
        linear = seeded(lambda: nn.Linear(1, 1, bias=False)).double()
        nn.init.constant_(linear.weight, w)
        x = torch.ones(1, 1, 1, dtype=torch.float64, requires_grad=True)
        y: Tensor = x
        for _ in range(layers):
            y = Block(1, None, linear, norm="none")(y)
        slopes.append(torch.autograd.grad(y.sum(), x)[0].item())
    terms = [[math.comb(layers, k) * w**k for k in range(layers + 1)] for w in FACTORS]
    return Jacobian(np.array(slopes), np.array(terms))


def jacobian_captions(one: Jacobian) -> list[str]:
    return [
        f"F(x) = {w:g} x: the identity gives 1, the other paths {slope - 1:+.4g}; the gradient is "
        f"{'gone' if abs(slope) < 1e-9 else f'multiplied by {slope:.4g}'}."
        for w, slope in zip(FACTORS, one.slopes, strict=True)
    ]


def jacobian_equations(one: Jacobian) -> list[str]:
    L = one.terms.shape[1] - 1
    return [
        rf"\frac{{\partial y}}{{\partial x}} = (1 + w)^{{L}} = (1 {w:+g})^{{{L}}} = {slope:.4g}"
        for w, slope in zip(FACTORS, one.slopes, strict=True)
    ]
