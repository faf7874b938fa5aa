"""The Gram matrix of the RBF kernel from random features, with the right exponent and with the printed one.

Shapes: N points; F frames.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from modules.transformer.random_features import draws, rbf_features, rbf_kernel
from pages.transformer.linear_attention.lens import KINDS
from pages.transformer.linear_attention.room import COUNTS


@dataclass(frozen=True)
class Gram:
    """
    Attributes:
        exact: (N, N). found: (F, N, N), of `COUNTS` draws.
        lines: name -> mean error by `COUNTS`; that of the printed exponent without any draws last.
    """

    exact: np.ndarray
    found: np.ndarray
    lines: dict[str, list[float]]


def moons(points: int = 20, size: float = 1.0) -> Tensor:
    """Two half circles, (2 · points, 2), one after the other."""
    turn = torch.linspace(0, torch.pi, points, dtype=torch.float64)
    upper = torch.stack([turn.cos() - 0.5, turn.sin() - 0.25], dim=1)
    return size * torch.cat([upper, -upper])


def gram(kind: str, gamma: float, printed: bool, seed: int) -> Gram:
    """Gram matrix of two moons from random features, and errors with the right and the printed exponent."""
    x = moons()
    exact = rbf_kernel(x, x, gamma)
    printed = printed and kind != "Trigonometric"

    def of(M: int, wrong: bool, which: str) -> Tensor:
        omega = draws(M, 2, torch.Generator().manual_seed(seed), dtype=x.dtype)
        psi = rbf_features(x, omega, gamma, KINDS[which], wrong)
        return psi @ psi.T

    ways = {"positive": ("Positive", False), "trigonometric": ("Trigonometric", False)}
    ways["exponent γ"] = ("Positive", True)
    lines = {
        name: [float((of(M, wrong, which) - exact).abs().mean()) for M in COUNTS]
        for name, (which, wrong) in ways.items()
    }
    norms = x.square().sum(1)
    limit = (gamma * (x @ x.T - norms[:, None] - norms)).exp()
    lines["its limit"] = [float((limit - exact).abs().mean())] * len(COUNTS)
    found = torch.stack([of(M, printed, kind) for M in COUNTS])
    return Gram(exact.numpy(), found.numpy(), lines)


def gram_captions(one: Gram, kind: str) -> list[str]:
    return [
        f"M = {M:,} draws, {kind.lower()} features: the entries err by "
        f"{float(np.abs(one.found[f] - one.exact).mean()):.3f} on average."
        for f, M in enumerate(COUNTS)
    ]


def gram_equations(gamma: float, printed: bool) -> list[str]:
    factor = r"\gamma" if printed else r"2\gamma"
    sign, norms = r"\neq" if printed else "=", r"e^{-\gamma\|x\|^2} e^{-\gamma\|y\|^2}"
    text = rf"e^{{-\gamma\|x-y\|^2}} {sign} {norms} e^{{{factor}\, x\cdot y}}"
    return [rf"{text}, \quad \gamma = {gamma:g}, \; M = {M}" for M in COUNTS]
