"""Gradients by layer, as the bench keeps them, and Jacobians of residual layers.

    dy/dx = (1 + w)^L = Σ_k C(L, k) w^k        of L layers y = x + w x

Shapes: L layers; F frames.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from lab.bench import norms as bench
from lab.seeding import seeded
from modules.transformer.block import Block
from pages.transformer.norms.room import DEPTHS, FACTORS, FEEDFORWARD, QUERY

FIELDS = {QUERY: "query", FEEDFORWARD: "feedforward"}

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
