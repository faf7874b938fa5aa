"""Two distributions, one shifted: every divergence between them, and what a small shift changes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from modules.adversarial.divergences import (
    box_divergences,
    gaussian_divergences,
    gaussian_log_density,
)
from pages.adversarial.divergences.room import SHIFTS

Kind = Literal["boxes", "Gaussians"]
STEP = 0.1  # of the question: q moves so much further away
OPTIONS = ["less than 0.001", "0.001 to 0.01", "more than 0.01"]
NAMES = ("KL", "reverse KL", "JS", "W1", "W2²")
INFINITY = r"\infty"
DRAWN = tuple(round(-4 + 0.05 * i, 2) for i in range(161))  # shifts along the curves, past the film's
REACH = DRAWN[-1]  # of the picture of both distributions


@dataclass(frozen=True)
class Story:
    """p at 0, q at each of SHIFTS (F of them).

    Attributes:
        x: (X,). p: (X,). q: (F, X), densities.
        values: name -> (F,). slopes: name -> (F,), d/d|a| to the outside; NaN where it is not finite.
        jump: (F,), what JS gains when q moves STEP further away.
    """

    x: Tensor
    p: Tensor
    q: Tensor
    values: dict[str, Tensor]
    slopes: dict[str, Tensor]
    jump: Tensor


def divergences(kind: Kind, shift: Tensor, sd: float, sd2: float) -> dict[str, Tensor]:
    """All measures of p against q shifted by `shift`, of its shape; the widths are those of Gaussians."""
    return box_divergences(shift) if kind == "boxes" else gaussian_divergences(shift, sd, sd2)


def density(kind: Kind, x: Tensor, shift: Tensor, sd: float) -> Tensor:
    """Density of the box [a, a + 1] or of N(a, sd²)."""
    if kind == "boxes":
        return ((x >= shift) & (x < shift + 1)).double()
    return gaussian_log_density(x, shift, torch.tensor(sd).double()).exp()


def story(kind: Kind, sd: float, sd2: float) -> Story:
    """Both distributions and all measures at every shift."""
    a = torch.tensor(SHIFTS, dtype=torch.float64)
    x = torch.linspace(-REACH, REACH, 641, dtype=torch.float64)
    values = divergences(kind, a, sd, sd2)
    further = divergences(kind, a + STEP * torch.where(a < 0, -1.0, 1.0), sd, sd2)
    return Story(
        x,
        density(kind, x, torch.zeros(()), sd),
        density(kind, x, a[:, None], sd2),
        values,
        slopes(kind, a, sd, sd2),
        further["JS"] - values["JS"],
    )


def slopes(kind: Kind, a: Tensor, sd: float, sd2: float, step: float = 1e-4) -> dict[str, Tensor]:
    """Slope of each measure when q moves away from p: differences on the side away from 0."""
    out = torch.where(a < 0, -1.0, 1.0)
    near, far = (divergences(kind, a + out * s, sd, sd2) for s in (step, 2 * step))
    results = {name: (far[name] - near[name]) / step for name in NAMES}
    return {name: v.where(v.isfinite(), math.nan) for name, v in results.items()}


def curves(kind: Kind, sd: float, sd2: float, show: str) -> dict[str, Tensor]:
    """Every measure, or its slope, at each of DRAWN."""
    a = torch.tensor(DRAWN, dtype=torch.float64)
    return divergences(kind, a, sd, sd2) if show == "value" else slopes(kind, a, sd, sd2)


def printed_w2(sd: float, sd2: float, shifts: Sequence[float] = SHIFTS) -> Tensor:
    """W₂² at every shift as [UDL] 15.21 prints it, with −2√(σ₁σ₂) for −2σ₁σ₂."""
    a = torch.tensor(shifts, dtype=torch.float64)
    return a.square() + sd**2 + sd2**2 - 2 * math.sqrt(sd * sd2)


def spelled(value: float, infinity: str = "∞") -> str:
    """A number, or the sign of infinity."""
    return infinity if math.isinf(value) else f"{round(value, 3) + 0.0:.3f}"  # no −0.000


def equations(result: Story) -> list[str]:
    """All measures at every shift, LaTeX."""
    names = (r"\mathrm{KL}(p\|q)", r"\mathrm{KL}(q\|p)", r"D_{\mathrm{JS}}", "W_1", "W_2^2")
    rows = [[float(result.values[name][i]) for name in NAMES] for i in range(len(SHIFTS))]
    return [
        r",\quad ".join(f"{tex}={spelled(v, INFINITY)}" for tex, v in zip(names, row, strict=True))
        for row in rows
    ]


def captions(result: Story) -> list[str]:
    """Caption of what a generator feels that may only move q, at every shift."""
    return [
        f"With respect to the shift the derivative of JS is {spelled(float(js))}, that of W₁ "
        f"{spelled(float(w))}."
        for js, w in zip(result.slopes["JS"], result.slopes["W1"], strict=True)
    ]


def option(gain: float) -> str:
    """The one of OPTIONS that a gain of JS is."""
    return OPTIONS[(gain >= 0.001) + (gain > 0.01)]
